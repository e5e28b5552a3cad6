// Speech out: the samples of a model that speaks, against llama.cpp's, as a stream, with a voice, and through an abort.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine, stories } from './engine.ts'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'
import { kVectors } from './vectors.ts'

const { open } = await loadNodePackage()
const folder = join(kVectors, 'new/speech/pockettts')
const skip = skipWithout(folder)
const outputs = mkdtempSync(join(tmpdir(), 'speak-'))
after(() => rmSync(outputs, { recursive: true }))

function floats(name: string): Float32Array {
  const bytes = readFileSync(join(folder, name))
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
const bytesOf = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(folder, name)))

async function speaking<T>(use: (model: Engine.Model) => Promise<T>): Promise<T> {
  using projector = await open(bytesOf('mmproj.gguf'))
  const options = { projector, precision: 'exact', cacheType: 'f32' } as const
  using model = await engine.load<Engine.Model>(bytesOf('text.gguf'), options)
  return await use(model)
}

interface Meta {
  readonly tolerance: { readonly pcm: number; readonly pcm_rms: number }
}
const text = (): string =>
  (JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as { text: string }).text

async function samplesOf(
  parts: AsyncIterable<Engine.SpokenPart>,
): Promise<{ samples: number[]; parts: number }> {
  const samples: number[] = []
  let count = 0
  for await (const part of parts) {
    assert.equal(part.sampleRate, 24_000)
    samples.push(...part.samples)
    count++
  }
  return { samples, parts: count }
}

test('the samples are those of llama.cpp, and come in parts', { skip }, async () => {
  const { tolerance } = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')) as Meta
  const expected = floats('pcm.f32')
  await speaking(async (model) => {
    assert.ok(model.info.abilities.includes('speak'))
    const { samples, parts } = await samplesOf(model.speak(text(), { temperature: 0 }))
    assert.ok(parts > 1)
    const length = Math.min(samples.length, expected.length)
    assert.ok(length >= 12 * 1920, `${samples.length} samples instead of ${expected.length}`)
    // Small differences of frames add up when the model runs freely.
    for (let i = 0; i < length; i++)
      assert.ok(
        Math.abs(samples[i]! - expected[i]!) <= 2 * tolerance.pcm,
        `sample ${i}: ${samples[i]} instead of ${expected[i]}`,
      )
    // A text after a text, and a seed, give the same again.
    const options = { temperature: 0.5, seed: 7 }
    const first = await samplesOf(model.speak(text(), options))
    assert.deepEqual(await samplesOf(model.speak(text(), options)), first)
    assert.notDeepEqual(
      (await samplesOf(model.speak(text(), { ...options, seed: 8 }))).samples,
      first.samples,
    )
  })
})

test('a recording gives its voice, and the next text has the own one again', { skip }, async () => {
  const voice = { samples: floats('speaker.f32'), sampleRate: 24_000 }
  await speaking(async (model) => {
    const own = await samplesOf(model.speak(text(), { temperature: 0 }))
    const other = await samplesOf(model.speak(text(), { temperature: 0, voice }))
    assert.notDeepEqual(other.samples.slice(0, 1920), own.samples.slice(0, 1920))
    assert.deepEqual((await samplesOf(model.speak(text(), { temperature: 0 }))).samples, own.samples)
  })
})

test('a speech ends where its reader leaves or aborts, and other calls go on', { skip }, async () => {
  await speaking(async (model) => {
    for await (const _ of model.speak(text(), { temperature: 0 })) break
    const control = new AbortController()
    const aborted = async () => {
      for await (const _ of model.speak(text(), { signal: control.signal }))
        control.abort(new Error('enough'))
    }
    await assert.rejects(aborted(), /enough/)
    assert.ok((await samplesOf(model.speak(text(), { temperature: 0 }))).samples.length > 0)
    await assert.rejects(samplesOf(model.speak('')), { code: 'invalid-argument' })
    await assert.rejects(samplesOf(model.speak(text(), { language: 'Klingon' })), {
      code: 'invalid-argument',
    })
    assert.throws(() => model.speak(text(), { temperature: -1 }), { code: 'invalid-argument' })
  })
})

test('the command writes a WAV file', { skip }, async () => {
  const output = join(outputs, 'speech.wav')
  const paths = [join(folder, 'text.gguf'), text(), '--mmproj', join(folder, 'mmproj.gguf')]
  const ran = await runCli(['speak', ...paths, '--temperature', '0', '--output', output])
  assert.equal(ran.status, 0, ran.err)
  const { samples, sampleRate } = engine.decodeWav(new Uint8Array(readFileSync(output)))
  assert.equal(sampleRate, 24_000)
  assert.ok(samples.length >= 12 * 1920)
  const again = await runCli(['speak', ...paths, '--output', output])
  assert.equal(again.status, 1)
  assert.match(again.err, /is there already/)
})

test('models without a voice refuse to speak', async () => {
  using model = await engine.load<Engine.Model>(stories.slice(), { threads: 1 })
  await assert.rejects(samplesOf(model.speak('Hi')), { code: 'unsupported' })
  await assert.rejects(engine.createSpeech(model, { input: 'Hi' }), { code: 'unsupported' })
  await assert.rejects(engine.createSpeech(model, { input: 'Hi', response_format: 'mp3' as 'wav' }), {
    code: 'invalid-argument',
  })
})

test('samples are written as WAV, and read as they were', () => {
  const samples = Float32Array.from([0, 0.5, -0.5, 1, -1, 2])
  const read = engine.decodeWav(engine.toWav(samples, 24_000))
  assert.equal(read.sampleRate, 24_000)
  const expected = [0, 0.5, -0.5, 1, -1, 1]
  read.samples.forEach((sample, i) =>
    assert.ok(Math.abs(sample - expected[i]!) < 1e-4, `sample ${i}: ${sample}`),
  )
})
