// Compiles a strict project against the packed package's declarations, with skipLibCheck off, every kind of module
// resolution, and also a TypeScript before 5.7, in which typed arrays have no type parameter.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { everyNth, kAll } from '../fixtures/short.ts'
import { kRoot, packedRoot } from './packed.ts'

const run = promisify(execFile)
const work = mkdtempSync(join(packedRoot(), 'types-'))
writeFileSync(join(work, 'package.json'), '{ "type": "module" }')
after(() => rmSync(work, { recursive: true, force: true }))

// Uses the main functions of every entry point.
writeFileSync(
  join(work, 'use.ts'),
  `import { open, quantize, GgufError, type GgufFile, type Tokenizer } from 'ggufscope'
import { load, schemaToGrammar, type LoadedModel, type Model, type Piece, type SpeechModel } from 'ggufscope/engine'
import { GgufBuilder } from 'ggufscope/edit'
import * as store from 'ggufscope/store'
import { open as openPath, NodeFileSource } from 'ggufscope/node'

export async function use(): Promise<void> {
  const file: GgufFile = await open('x', { signal: AbortSignal.timeout(5), assets: { 'inspect.wasm': new Uint8Array(4) } })
  const rows: Float32Array = await file.dequantize('t', { rows: [0, 1] })
  const tokenizer: Tokenizer = await file.loadTokenizer()
  const ids: number[] = tokenizer.encode('a')
  const blocks: Uint8Array = await quantize('Q8_0', rows)
  const model: Model = await load(file.name ?? 'x', { threads: 1 })
  for await (const piece of model.generate(ids)) use2(piece)
  const speech: SpeechModel = await load<SpeechModel>('whisper', { threads: 1 })
  await speech.transcribe(new Float32Array(1), { language: 'en' })
  const either = await load<LoadedModel>('x')
  if ('transcribe' in either) await either.transcribe(new Float32Array(1))
  else for await (const piece of either.chat([])) use2(piece)
  // @ts-expect-error: a text model does not transcribe
  await model.transcribe(new Float32Array(1))
  // @ts-expect-error: nor has it a spectrogram
  await model.logMel(new Float32Array(1))
  // @ts-expect-error: a speech model does not generate
  speech.generate('x')
  // @ts-expect-error: it may be a text model
  await either.transcribe(new Float32Array(1))
  // @ts-expect-error: only speech models take audio
  await model.evaluate([1], { audio: new Float32Array(1) })
  await openPath(new NodeFileSource('x'))
  new GgufBuilder().set('general.name', blocks.length)
  schemaToGrammar({ type: 'object' })
  void [store, GgufError]
  // @ts-expect-error: no such option
  await open('x', { nothing: 1 })
  // @ts-expect-error: no such place
  await open('x', { assets: { 'nothing.wasm': 'x' } })
}
function use2(piece: Piece): string {
  return piece.text
}
`,
)

const kCompilers = {
  'TypeScript 7': join(kRoot, 'node_modules/typescript-7/bin/tsc'),
  'TypeScript 6': join(kRoot, 'node_modules/typescript/bin/tsc'),
  'TypeScript 5.6': join(kRoot, 'node_modules/@arethetypeswrong/core/node_modules/typescript/bin/tsc'),
}
const kStrict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
}
const kResolutions = [
  { module: 'esnext', moduleResolution: 'bundler' },
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
] as const

describe('declarations', { concurrency: 2 }, () => {
  for (const [i, [compiler, tsc]] of everyNth([...Object.entries(kCompilers).entries()], 2))
    for (const resolution of kAll ? kResolutions : [kResolutions[i]!])
      test(`${compiler}, ${resolution.moduleResolution}`, async () => {
        const own = join(work, `${compiler.replaceAll(/\W/g, '')}-${resolution.moduleResolution}`)
        mkdirSync(own)
        const config = { compilerOptions: { ...kStrict, ...resolution }, files: ['../use.ts'] }
        writeFileSync(join(own, 'tsconfig.json'), JSON.stringify(config))
        const { stdout } = await run(process.execPath, [tsc, '-p', own]).catch(
          (error: { stdout: string }) => error,
        )
        assert.equal(stdout, '')
      })
})
