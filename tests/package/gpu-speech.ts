// Whisper models on a GPU, in Node. gpu.test.ts runs this file in a process in which WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { kAll, kLong } from '../fixtures/short.ts'
import { engine } from './engine.ts'
import { askWorker, kOptions, kSoftware, withoutTimes, withWorker } from './gpu-loading.ts'
import { kRoot } from './packed.ts'
import { runCli } from './run-cli.ts'

const { load, decodeWav } = engine
const kModel = join(kRoot, 'tests/fixtures/commands.gguf')
const kSound = join(kRoot, 'tests/fixtures/commands.wav')
const bytes = new Uint8Array(readFileSync(kModel))
const sound = decodeWav(new Uint8Array(readFileSync(kSound)))
// The first sentence: a token takes a third of a second of software.
const kFirst: Engine.TranscribeOptions = { language: 'en', duration: 2 }

const loaded = (options: Engine.LoadOptions): Promise<Engine.SpeechModel> =>
  load<Engine.SpeechModel>(bytes, options)
const onCpu = await loaded({ ...kOptions, device: 'cpu', threads: 1 })
after(() => onCpu.close())

/** What two engines must agree on; probabilities differ in their last digits. */
const factsOf = ({ text, language, segments }: Engine.Transcription) => ({
  text,
  language,
  segments: segments.map(({ start, end, text, tokens, words }) => ({
    start,
    end,
    text,
    tokens: tokens.map(({ id }) => id),
    words: words?.map(({ word, start, end }) => [word, start, end]),
  })),
})

function difference(got: Float32Array, want: Float32Array): number {
  assert.equal(got.length, want.length)
  return got.reduce((most, value, i) => Math.max(most, Math.abs(value - want[i]!)), 0)
}

// One model for these tests: software compiles its kernels for ten seconds.
const shared = await loaded(withWorker())
after(() => shared.close())

test('a Whisper model transcribes on the GPU as on the CPU, also after transcriptions that were aborted', async () => {
  assert.equal(shared.info.device, 'gpu')
  assert.equal(shared.info.deviceReason, 'Requested.')
  assert.ok(shared.info.memory.weights > bytes.length / 2)
  // Before anything was computed, and between two tokens.
  for (const progress of [false, true]) {
    const stop = new AbortController()
    const aborted = shared.transcribe(sound, {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    })
    if (!progress) stop.abort()
    await assert.rejects(aborted, { name: 'AbortError' })
  }
  const choices: Engine.TranscribeOptions[] = [{ ...kFirst, words: true }]
  if (kAll)
    choices.push({}, { words: true }, { ...kFirst, beamSize: 3, timestamps: false, audioContext: 200 })
  for (const options of choices) {
    const before = (await askWorker()).now.calls['submit'] ?? 0
    const progress: number[] = []
    const onProgress = (done: number): number => progress.push(done)
    const heard = await shared.transcribe(sound, { ...options, onProgress })
    assert.deepEqual(factsOf(heard), factsOf(await onCpu.transcribe(sound, options)))
    assert.notEqual(heard.text, '')
    assert.equal(progress.at(-1), 1)
    // A submit for each layer, and for each token.
    const tokens = heard.segments.reduce((sum, segment) => sum + segment.tokens.length, 0)
    assert.ok((await askWorker()).now.calls['submit']! - before > tokens, 'passes')
  }
  assert.equal(shared.info.device, 'gpu')
})

test('its encoder and decoder give what those of the CPU give, and the profile has both', async () => {
  assert.deepEqual(await shared.profile(), [])
  assert.ok(difference(await shared.encode(sound), await onCpu.encode(sound)) < 1e-4)
  // More tokens than a pass returns logits of.
  const ids = Array.from({ length: 90 }, (_, i) => i)
  for (const tokens of [ids, [5]])
    assert.ok(difference(await shared.evaluate(tokens), await onCpu.evaluate(tokens)) < 2e-3)
  await assert.rejects(shared.evaluate([1 << 30]), { code: 'out-of-range' })
  assert.equal(difference(await shared.logMel(sound), await onCpu.logMel(sound)), 0)
  const rows = await shared.profile()
  for (const operation of ['products', 'attention', 'norm', 'other'] as const)
    assert.ok(
      rows.some((row) => row.operation === operation && row.calls > 0),
      operation,
    )
  // The CPU's convolutions are products of three frames, of 80 mels at first.
  const shapes = rows.map(({ shape }) => shape.join())
  for (const shape of ['240,128', '384,128']) assert.ok(shapes.includes(shape), shapes.join(' '))
})

test('the CPU goes on where the device was lost', { skip: kLong }, async () => {
  // Two windows.
  const options = { language: 'en', duration: 7 }
  const want = await onCpu.transcribe(sound, options)
  const counted = await loaded(withWorker('&worker=counted'))
  const readBacks = async (): Promise<number> => (await askWorker({ worker: 'counted' })).reads.length
  let first: Promise<number> | undefined
  const onSegment = (): void => void (first ??= readBacks())
  assert.deepEqual(factsOf(await counted.transcribe(sound, { ...options, onSegment })), factsOf(want))
  const inFirst = await first!
  const length = await readBacks()
  counted.close()
  assert.ok(0 < inFirst && inFirst < length, `${inFirst} of ${length} read-backs`)
  // At once, in the first window, in a later one, and at the end.
  for (const lose of [1, Math.ceil(inFirst / 2), Math.ceil((inFirst + length) / 2), length]) {
    const moved: string[] = []
    const gpu = await loaded({ ...withWorker(`&lose=${lose}`), onDevice: ({ device }) => moved.push(device) })
    try {
      const told: string[] = []
      const heard = await gpu.transcribe(sound, { ...options, onSegment: ({ text }) => told.push(text) })
      assert.deepEqual(factsOf(heard), factsOf(want), `lost at read-back ${lose} of ${length}`)
      // No segment is reported twice.
      assert.deepEqual(
        told,
        want.segments.map(({ text }) => text),
      )
      assert.deepEqual(moved, ['cpu'], `lost at read-back ${lose} of ${length}`)
      assert.equal(gpu.info.device, 'cpu')
      assert.match(gpu.info.deviceReason, /lost/)
    } finally {
      gpu.close()
    }
  }
})

test('auto times a window on both devices, and remembers the times', { skip: kLong }, () =>
  withoutTimes(async (kept) => {
    const auto: Engine.LoadOptions = { ...kSoftware, device: 'auto' }
    {
      using model = await loaded(auto)
      assert.equal(model.info.device, 'cpu')
      assert.match(
        model.info.deviceReason,
        /^The CPU is faster here: a window of 5 s takes [\d.]+ ms on the graphics card/,
      )
    }
    const times = kept.read()
    assert.ok(times.cpu > 0 && times.gpu > times.cpu, JSON.stringify(times))
    // A card that is faster, as far as is remembered. Then nothing is timed.
    kept.write({ cpu: 20 * times.gpu, gpu: times.gpu })
    const moved: string[] = []
    using model = await loaded({ ...auto, onDevice: ({ device }) => moved.push(device) })
    assert.equal(model.info.device, 'gpu')
    assert.match(model.info.deviceReason, /^The graphics card is faster here: a window of 5 s/)
    assert.deepEqual(
      factsOf(await model.transcribe(sound, kFirst)),
      factsOf(await onCpu.transcribe(sound, kFirst)),
    )
    assert.deepEqual(moved, [])
  }),
)

test('a card without room, or a cache that no card has, is an error', async () => {
  await assert.rejects(loaded(withWorker('&refuse=buffers')), { code: 'out-of-memory', message: /no room/ })
  await assert.rejects(loaded({ ...kSoftware, cacheType: 'q8_0' }), {
    code: 'unsupported',
    message: /f32 or f16/,
  })
})

test('the command line transcribes on the device', { skip: kLong }, async () => {
  const device = ['--device', 'gpu', '--allow-fallback-adapter']
  const [gpu, cpu] = await Promise.all(
    [device, []].map((more) =>
      runCli(['transcribe', kSound, '--model', kModel, '--duration', '2', '--language', 'en', ...more]),
    ),
  )
  assert.equal(gpu!.status, 0, gpu!.err)
  assert.equal(gpu!.out, cpu!.out)
})
