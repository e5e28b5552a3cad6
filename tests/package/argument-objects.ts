// The objects whose functions wrong-arguments.test.ts calls: a file, a model, a tokenizer and others.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { SpeechModel } from 'ggufscope/engine'
import { smallModel } from '../fixtures/models.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { kRoot, loadHub, loadNodePackage, packedFile } from './packed.ts'
import { smallDecider } from './small-decider.ts'

// Files that a wrong path creates, and cached ones, belong to the test.
export const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
process.chdir(folder)
process.env['XDG_CACHE_HOME'] = folder
after(() => rmSync(folder, { recursive: true }))

export const all = await loadNodePackage()
export const hub = await loadHub()
export const ai = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof import('ggufscope/ai')
export const { open, load, GgufError, GgufBuilder } = all

export const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
export const file = await open(kModel)
export const other = await open(writeGguf(smallModel()))
export const index = new all.VectorIndex(4)
export const model = await load(kModel, { threads: 1, contextLength: 64 })
export const decider = await load(await smallDecider(open), { threads: 1 })
export const speech = await load<SpeechModel>(join(kRoot, 'tests/fixtures/commands.gguf'), { threads: 1 })
after(() => {
  model.close()
  decider.close()
  speech.close()
  file.close()
  other.close()
})
export const name = file.tensors[0]!.name
export const tokenizer = await file.loadTokenizer()
export const tokens = file.metadata.get('tokenizer.ggml.tokens') as Extract<
  ReturnType<typeof file.metadata.get>,
  object
>
export const refuse = { fetch: async () => new Response('no', { status: 404 }) }
export const messages = [{ role: 'user', content: 'Hi' }]
export const builder = () => new GgufBuilder().set('general.architecture', 'x')
export const edited = await file.edit()
export const written = await builder().build()
export const format = all.detectChatFormat({ template: '' })
export const sound = new Float32Array(16)
export const audited = await all.audit(other, { load: false })
export const transcript = { segments: [] }
export const finding = { level: 'note', code: 'x', message: 'x', offset: 0, shard: 0 } as const
