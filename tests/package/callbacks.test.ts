// A callback that throws rejects its call with that error, and the program goes on. Every callback of the public API is
// in the table.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { startServer } from '../server/server.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { engine, kStories, stories } from './engine.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { smallBert } from './small-bert.ts'
import { smallDecider } from './small-decider.ts'

const folder = mkdtempSync(join(tmpdir(), 'callbacks-'))
process.env['XDG_CACHE_HOME'] = folder
const { open, commitToHub, compare, download } = await loadNodePackage()
const server = await startServer()
server.add('/f.gguf', stories)
server.add('/a/b/resolve/main/f.gguf', stories)
const uncaught: unknown[] = []
process.on('uncaughtException', (error) => uncaught.push(error))
process.on('unhandledRejection', (error) => uncaught.push(error))
after(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const fixture = (name: string) => new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures', name)))
const drain = async (pieces: AsyncIterable<unknown>) => {
  for await (const _ of pieces);
}
const model = await engine.load(stories, { threads: 1 })
const heard = await engine.load<Engine.SpeechModel>(fixture('commands.gguf'), { threads: 1 })
const ranker = await engine.load(await smallBert(4), { threads: 1 })
const decider = await engine.load<Engine.Model>(await smallDecider(open), { threads: 1 })
const made = madeProjector('janus_pro')
const seeing = await engine.load(made.model, { projector: made.projector, threads: 1 })
const audible = madeProjector('lfm2a')
const listening = await engine.load(await withTemplate(open, audible.model), {
  projector: audible.projector,
  threads: 1,
})
const speaker = await engine.load<Engine.Model>(fixture('golden/kokoro/model.gguf'), { threads: 1 })
const file = await open(kStories)
after(() => [speaker, model, heard, ranker, decider, seeing, listening, file].forEach((one) => one.close()))

type Thrower = () => never
const messages = [{ role: 'user', content: 'hello' }]
let shade = 0
/** Another picture each time: those that are encoded already need no progress. */
const picture = () => {
  const data = new Uint8Array(3 * 40 * 40).fill((shade += 16))
  return { type: 'image', image: { width: 40, height: 40, data } } as const
}
/** The file says that it has more samples, which is a warning. */
const cutSound = fixture('commands.wav').slice(0, 20_000)
const soundMessages = [{ role: 'user', content: [{ type: 'audio', audio: cutSound }] }]
const short = { maxTokens: 2 }
const kCalls: Readonly<Record<string, readonly [name: string, call: (fail: Thrower) => Promise<unknown>]>> = {
  'open()': ['onProgress', (onProgress) => open(`${server.url}/f.gguf`, { onProgress })],
  'open(), keys': ['onKeys', (onKeys) => open(`${server.url}/f.gguf`, { onKeys })],
  'stats()': ['onProgress', (onProgress) => file.stats('blk.0.attn_q.weight', { onProgress })],
  'lintData()': ['onProgress', (onProgress) => file.lintData({ onProgress })],
  'countStream()': [
    'onProgress',
    (onProgress) => file.tokenizer().countStream(new Blob(['a b']), { onProgress }),
  ],
  'compare()': ['onProgress', (onProgress) => compare(file, file, { onProgress })],
  'build()': ['onProgress', async (onProgress) => (await (await file.edit()).build()).bytes({ onProgress })],
  'commitToHub()': [
    'onProgress',
    (onProgress) =>
      commitToHub(`${server.url}/a/b/resolve/main/f.gguf`, (file) => file.edit(), {
        server: server.url,
        onProgress,
      }),
  ],
  'download()': ['onProgress', (onProgress) => download(`${server.url}/f.gguf`, { onProgress })],
  'load()': ['onProgress', (onProgress) => engine.load(stories, { threads: 1, onProgress })],
  'load(), cache': [
    'onCache',
    async (onCache) => {
      const address = `${server.url}/f.gguf`
      ;(await engine.load(address, { threads: 1, cache: true })).close()
      return await engine.load(address, { threads: 1, cache: true, onCache })
    },
  ],
  'generate()': ['onDone', (onDone) => drain(model.generate('a', { ...short, onDone }))],
  'chat()': ['onDone', (onDone) => drain(model.chat(messages, { ...short, onDone }))],
  'embed()': ['onDone', (onDone) => model.embed('a', { onDone })],
  'embedAll()': ['onProgress', (onProgress) => engine.embedAll(model, ['a'], { onProgress })],
  'trace()': ['onProgress', (onProgress) => model.trace('a', { onProgress })],
  'rerank()': ['onDone', (onDone) => ranker.rerank('bees', ['honey'], { onDone })],
  'decide()': [
    'onDone',
    (onDone) => decider.decide({ state: 'a', type: 'noul', instructions: 'b' }, { onDone }),
  ],
  'encodeChat()': ['onWarning', (onWarning) => listening.encodeChat(soundMessages, { onWarning })],
  'encodeMedia()': ['onProgress', (onProgress) => seeing.encodeMedia(picture(), { onProgress })],
  'speak()': ['phonemize', (phonemize) => drain(speaker.speak('a', { phonemize }))],
  'createSpeech()': ['phonemize', (phonemize) => engine.createSpeech(speaker, { input: 'a' }, { phonemize })],
  'transcribe()': ['onProgress', (onProgress) => heard.transcribe(fixture('commands.wav'), { onProgress })],
  'transcribe(), segments': [
    'onSegment',
    (onSegment) => heard.transcribe(fixture('commands.wav'), { onSegment }),
  ],
}

for (const [call, [name, run]] of Object.entries(kCalls)) {
  const error = new Error(`of ${name}`)
  test(`${call} rejects with the error of ${name}`, async () => {
    await assert.rejects(
      run(() => {
        throw error
      }),
      (reason) => reason === error,
    )
    assert.deepEqual(uncaught, [])
  })
  test(`${call} rejects with the error of an async ${name}`, async () => {
    const reject = async () => {
      await Promise.resolve()
      throw error
    }
    await assert.rejects(run(reject as unknown as Thrower), (reason) => reason === error)
    assert.deepEqual(uncaught, [])
  })
}

test('the models go on after callbacks that threw', async () => {
  let text = ''
  for await (const piece of model.generate('Once', short)) text += piece.text
  assert.ok(text.length > 0)
  assert.ok((await heard.transcribe(fixture('commands.wav'))).text.length > 0)
  assert.ok((await seeing.encodeMedia(made.media[0]!)).tokens.length > 0)
})

test('the table has every callback that the declarations name', () => {
  const internal = /^(cli|sparse|gpu)\/|engine\/(client|engine)|sources\//
  const declared = new Set<string>()
  const dist = packedFile('wasm/dist')
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.d.ts') || internal.test(path)) continue
    for (const [, name] of readFileSync(join(dist, path), 'utf8').matchAll(/\b(on[A-Z]\w+)\?: ?\(/g))
      declared.add(name!)
  }
  assert.ok(declared.size > 3)
  // onDevice is called when a device is lost: gpu-cases.ts.
  // onRetry is an option between the package's own files: open() reports retries by onProgress.
  const known = new Set(['onDevice', 'onRetry', ...Object.values(kCalls).map(([name]) => name)])
  assert.deepEqual(
    [...declared].filter((name) => !known.has(name)),
    [],
  )
})
