// The speech sample through the package and its command: a file, the times of its words, a stream of blocks, silence.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kAll } from '../fixtures/short.ts'
import { kRoot, packedFile } from './packed.ts'

const { decodeWav, load, transcribeStream } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

interface Spoken {
  text: string
  start: number
  end: number
  words: { word: string; start: number }[]
}
const fixture = (name: string) => readFileSync(join(kRoot, 'tests/fixtures', name))
/** sentences and voices that the model did not learn from */
const spoken = JSON.parse(fixture('commands.json').toString()) as Spoken[]
const { samples } = decodeWav(new Uint8Array(fixture('commands.wav')))
const model = await load<Engine.SpeechModel>(new Uint8Array(fixture('commands.gguf')), { threads: 1 })
after(() => model.close())

const texts = (segments: readonly Engine.TranscriptSegment[]) => segments.map(({ text }) => text.trim())
const expected = spoken.map(({ text }) => text)

/** The sound as a microphone gives it, in blocks of a tenth of a second. */
function* blocksOf(sound: Float32Array, size = 1600) {
  const block = new Float32Array(size) // worklets reuse their block, too
  for (let at = 0; at < sound.length; at += size) {
    const part = sound.subarray(at, at + size)
    block.set(part)
    yield part.length === size ? block : part
  }
}

/** Checks the text of the segments, and their times. */
function checkHeard(segments: readonly Engine.TranscriptSegment[]) {
  assert.deepEqual(texts(segments), expected)
  for (const [i, { start, end }] of spoken.entries()) {
    const heard = segments[i]!
    assert.ok(Math.abs(heard.start - start) < 0.1, `segment ${i} begins at ${heard.start}, not ${start}`)
    assert.ok(Math.abs(heard.end - end) < 0.1, `segment ${i} ends at ${heard.end}, not ${end}`)
  }
}

test('the sample hears what was said, and when', async () => {
  const { segments, language, text } = await model.transcribe(samples, { words: true })
  checkHeard(segments)
  assert.equal(text, texts(segments).join(' '))
  assert.equal(language, 'en')
  for (const [i, { words, text }] of segments.entries()) {
    assert.equal(words!.map(({ word }) => word).join(''), text)
    for (const [w, { start, end }] of words!.entries()) {
      assert.ok(start <= end && end <= samples.length / 16000 + 0.1)
      assert.ok(w === 0 || words![w - 1]!.end <= start)
      const { word, start: said } = spoken[i]!.words[w]!
      assert.ok(Math.abs(start - said) < 0.1, `${word} begins at ${start}, not ${said}`)
    }
  }
})

test('a stream has partial and final text', async () => {
  const final: Engine.TranscriptSegment[] = []
  const partial: string[] = []
  let duration = 0
  let updates = 0
  // Half a second arrives for each update, as if transcribing took no time.
  async function* live() {
    let n = 0
    for (const block of blocksOf(samples)) {
      while (n >= 5 * (updates + 1)) await setImmediate()
      yield block
      n++
    }
  }
  for await (const update of transcribeStream(model, live(), { interval: 0.5, pause: 0.4 })) {
    updates++
    assert.ok(update.duration >= duration)
    duration = update.duration
    final.push(...update.final)
    partial.push(...texts(update.partial))
  }
  assert.equal(duration, samples.length / 16000)
  checkHeard(final)
  assert.ok(partial.length > spoken.length)
})

test('a stream at another rate, that pauses, ends early or fails', async () => {
  const slow = Float32Array.from({ length: samples.length * 3 }, (_, i) => samples[Math.floor(i / 3)]!)
  const heard: string[] = []
  for await (const { final } of transcribeStream(model, blocksOf(slow, 4800), { sampleRate: 48000 }))
    heard.push(...texts(final))
  assert.deepEqual(heard, expected)

  let closed = false
  async function* forever() {
    try {
      for (;;) {
        yield* blocksOf(samples)
        await setImmediate()
      }
    } finally {
      closed = true
    }
  }
  for await (const { duration } of transcribeStream(model, forever())) if (duration > 1) break
  while (!closed) await setImmediate() // breaking the loop ends the stream

  const stop = new AbortController()
  await assert.rejects(async () => {
    for await (const update of transcribeStream(model, forever(), { signal: stop.signal })) {
      assert.ok(update)
      stop.abort(new Error('enough'))
    }
  }, /enough/)
  await assert.rejects(async () => {
    async function* broken() {
      yield samples.subarray(0, 1600)
      throw new Error('unplugged')
    }
    for await (const update of transcribeStream(model, broken())) assert.ok(update)
  }, /unplugged/)
  await assert.rejects(
    async () => {
      for await (const update of transcribeStream(model, [[0.5]] as never)) assert.ok(update)
    },
    { code: 'invalid-argument' },
  )
  await assert.rejects(transcribeStream(model, [], { timestamps: false } as never).next(), /timestamps/)
})

test('silence has no text', async () => {
  for await (const update of transcribeStream(model, blocksOf(new Float32Array(48000))))
    assert.deepEqual([update.final, update.partial], [[], []])

  // Each window of 5 s is read once.
  const windows: number[] = []
  const onProgress = (done: number) => void windows.push(done)
  const decoded = await model.transcribe(new Float32Array(16000 * 120), { onProgress, silenceThreshold: 0 })
  assert.deepEqual(decoded.segments, [])
  assert.ok(windows.length >= 24 && windows.length <= 26, `${windows.length} windows`)
})

test('long silence is skipped, with its words', async () => {
  const seconds = kAll ? 3600 : 600
  const silence = new Float32Array(seconds * 16000)
  const before = process.memoryUsage().rss
  const windows: number[] = []
  const onProgress = (done: number) => void windows.push(done)
  const { segments, duration } = await model.transcribe(silence, { words: true, onProgress })
  assert.deepEqual([segments, duration, windows], [[], seconds, [0, 1]])
  // The copy of the samples, their loudness, and the spectrogram.
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  assert.ok(grown < 900, `${grown} MB`)
})

test('speech after silence is heard, and has its time', async () => {
  const silence = 21.3
  const sound = new Float32Array(silence * 16000 + samples.length)
  sound.set(samples, silence * 16000)
  const { segments } = await model.transcribe(sound, { words: true })
  const back = <T extends { start: number; end: number }>(one: T): T => ({
    ...one,
    start: one.start - silence,
    end: one.end - silence,
  })
  checkHeard(segments.map(back))
  await assert.rejects(model.transcribe(sound, { silenceThreshold: -1 }), { code: 'invalid-argument' })
})

test('the command writes each format', () => {
  const path = (name: string) => join(kRoot, 'tests/fixtures', name)
  const call = [
    packedFile('wasm/dist/cli.js'),
    'transcribe',
    path('commands.wav'),
    '--model',
    path('commands.gguf'),
  ]
  const run = (...args: string[]) => execFileSync(process.execPath, [...call, ...args], { encoding: 'utf8' })
  assert.equal(run(), expected.map((text) => `${text}\n`).join(''))
  for (const [format, first, mark] of [
    ['srt', '1\n', ','],
    ['vtt', 'WEBVTT\n\n', '.'],
  ] as const) {
    const written = run('--format', format)
    assert.ok(written.startsWith(`${first}00:00:00${mark}`), written)
    assert.equal(written.match(/ --> /g)?.length, expected.length)
    for (const text of expected) assert.ok(written.includes(`\n${text}\n\n`), text)
  }
  const { segments } = JSON.parse(run('--format', 'json', '--words')) as Engine.Transcription
  checkHeard(segments)
  assert.deepEqual(
    segments.map(({ words }) => words!.length),
    spoken.map(({ words }) => words.length),
  )
  assert.equal(run('--silence-threshold', '1'), '')
  const wrong = spawnSync(process.execPath, [...call, '--silence-threshold', 'loud'], { encoding: 'utf8' })
  assert.match(wrong.stderr, /--silence-threshold takes a number, not "loud"/)
  assert.notEqual(wrong.status, 0)
})
