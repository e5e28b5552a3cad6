// Whisper through the package: transcripts, spectrograms, and errors for invalid sounds and models. Uses whisper.cpp's
// reference models if they exist.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'

const { load, createTranscription, decodeWav, toSrt, toVtt } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

const { open } = await loadNodePackage()
const kVectors = join(kRoot, '..', 'shared', 'vectors', 'media', 'whisper')
const kModel = join(kVectors, 'multi-f32', 'model.bin')
const skip = skipWithout(kModel)
const floatsOf = (name: string): Float32Array<ArrayBuffer> => {
  const bytes = readFileSync(join(kVectors, name))
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}
const model = skip
  ? undefined
  : await load<Engine.SpeechModel>(new Uint8Array(readFileSync(kModel)), {
      precision: 'exact',
      cacheType: 'f32',
      threads: 1,
    })
after(() => model?.close())

/** A WAV file of 16-bit samples. */
function wavOf(samples: Float32Array, { rate = 16000, channels = 1, bits = 16 } = {}): Uint8Array {
  const size = samples.length * channels * (bits / 8)
  const view = new DataView(new ArrayBuffer(44 + size))
  const text = (at: number, word: string) =>
    [...word].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)))
  text(0, 'RIFF')
  view.setUint32(4, 36 + size, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, channels, true)
  view.setUint32(24, rate, true)
  view.setUint16(34, bits, true)
  text(36, 'data')
  view.setUint32(40, size, true)
  samples.forEach((x, i) => {
    for (let c = 0; c < channels; c++) view.setInt16(44 + 2 * (i * channels + c), Math.round(x * 32768), true)
  })
  return new Uint8Array(view.buffer)
}

test('the profile of a Whisper model has what its encoder and its decoder compute', async () => {
  const bytes = new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/commands.gguf')))
  using speech = await load<Engine.SpeechModel>(bytes, { threads: 1 })
  assert.deepEqual(await speech.profile(), [])
  await speech.evaluate([0], { audio: new Float32Array(16000) })
  const rows = await speech.profile()
  const products = (tokens: string): number =>
    rows.reduce((sum, row) => sum + (row.tokens === tokens ? row.products : 0), 0)
  const elements = (names: RegExp): number =>
    speech.file.tensors
      .filter(({ name, shape }) => names.test(name) && shape.length === 2)
      .reduce((sum, { elementCount }) => sum + elementCount, 0)
  const ofSound = elements(/^encoder\.blocks|cross_attn\.(key|value)/)
  assert.ok(products('many') > 250 * ofSound)
  assert.ok(products('one') >= elements(/^decoder\.(blocks|token_emb)/) - elements(/cross_attn\.(key|value)/))
  for (const operation of ['attention', 'norm', 'other', 'products'])
    for (const tokens of ['many', 'one'])
      assert.ok(rows.some((row) => row.operation === operation && row.tokens === tokens && row.calls > 0))
  assert.deepEqual(await speech.profile(), [])
})

test('the tokenizer of a model.bin is that of its conversion', { skip }, async () => {
  for (const name of ['multi-f32', 'english-distil-q5_0']) {
    using whisper = await load<Engine.SpeechModel>(
      new Uint8Array(readFileSync(join(kVectors, name, 'model.bin'))),
      {
        threads: 1,
      },
    )
    assert.throws(() => whisper.tokenizer, { code: 'incomplete', message: /await loadTokenizer\(\) first/ })
    const loaded = await whisper.file.loadTokenizer()
    assert.equal(whisper.tokenizer, loaded)
    const written = await (await whisper.file.edit()).build()
    using converted = await open(await written.bytes())
    const expected = await converted.loadTokenizer()
    assert.equal(loaded.size, expected.size)
    for (const text of ['Hello, world! 12', ' the owl\n', 'Größe 猫 🦉', '<|startoftranscript|>']) {
      const ids = [...loaded.encode(text, { special: true })]
      assert.deepEqual(ids, [...expected.encode(text, { special: true })], text)
      assert.equal(loaded.decode(ids, { special: true }), text)
    }
  }
})

test('WAV files are read with any channels and rates, and invalid ones are refused', () => {
  const samples = Float32Array.of(0, 0.5, -0.5, -1)
  assert.deepEqual(decodeWav(wavOf(samples)), { samples, sampleRate: 16000 })
  assert.deepEqual(decodeWav(wavOf(samples, { rate: 44100, channels: 2 })), { samples, sampleRate: 44100 })
  assert.throws(() => decodeWav(wavOf(samples).subarray(0, 30)), { code: 'truncated', offset: 30 })
  const odd = wavOf(samples)
  odd[20] = 85 // MP3
  assert.throws(() => decodeWav(odd), { code: 'unsupported', message: /format 85/ })
  for (const bytes of [new Uint8Array(0), new Uint8Array(100), wavOf(samples).subarray(0, 36)])
    assert.throws(() => decodeWav(bytes), { code: 'unsupported' })
})

test('transcripts are written as subtitles', () => {
  const segment = { start: 3661.5, end: 3662.25, text: ' a --> b', tokens: [] }
  const heard = {
    segments: [{ ...segment, noSpeechProbability: 0, meanLogprob: 0, temperature: 0, seek: 0 }],
  }
  assert.equal(toSrt(heard), '1\n01:01:01,500 --> 01:01:02,250\na -> b\n\n')
  assert.equal(toVtt(heard), 'WEBVTT\n\n01:01:01.500 --> 01:01:02.250\na -> b\n\n')
})

test('spectrograms match the reference', { skip }, async () => {
  const { signals } = JSON.parse(readFileSync(join(kVectors, 'mel_checks.json'), 'utf8')) as {
    signals: Record<string, { frames: number[]; values: number[][] }>
  }
  const sine = (hz: number, n: number) =>
    Float32Array.from({ length: n }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / 16000))
  const sounds: Record<string, Float32Array> = {
    sine1000: sine(1000, 8000),
    impulse: Float32Array.from({ length: 8000 }, (_, i) => Number(i === 4000)),
    silence: new Float32Array(16000),
    short: sine(440, 150),
  }
  for (const [name, sound] of Object.entries(sounds)) {
    const mel = await model!.logMel(sound, { frames: 3000 })
    const { frames, values } = signals[name]!
    frames.forEach((frame, i) =>
      values[i]!.forEach((want, m) => {
        const got = mel[m * 3000 + frame]!
        assert.ok(Math.abs(got - want) < 1e-5, `${name}, frame ${frame}, mel ${m}: ${got}, not ${want}`)
      }),
    )
  }
  // The same sound at another sample rate gives nearly the same spectrogram.
  // It is resampled in pieces of 10 s.
  const n = 2190
  const at = async (rate: number) => {
    const samples = Float32Array.from(
      { length: 22 * rate },
      (_, i) => 0.5 * Math.sin((2 * Math.PI * 440 * i) / rate),
    )
    return await model!.logMel({ samples, sampleRate: rate }, { frames: n })
  }
  const a = await at(16000)
  for (const rate of [44100, 11025, 48000]) {
    const b = await at(rate)
    for (let mel = 0; mel < 80; mel++)
      for (let t = 10; t < n - 10; t++) {
        const difference = Math.abs(a[mel * n + t]! - b[mel * n + t]!)
        assert.ok(difference < 0.01, `${rate} Hz, frame ${t}, mel ${mel}: ${difference}`)
      }
  }
})

test('encoder, decoder and transcripts match the reference', { skip }, async () => {
  const meta = JSON.parse(readFileSync(join(kVectors, 'multi-f32', 'meta.json'), 'utf8')) as {
    prompt: number[]
    argmax: number[]
  }
  const audio = floatsOf('inputs/speech-en.f32')
  const encoded = await model!.encode(audio)
  const want = floatsOf('multi-f32/encoder_exact.f32')
  for (let row = 0; row < 375; row++)
    for (let i = 0; i < 16; i++) assert.ok(Math.abs(encoded[row * 64 + i]! - want[row * 16 + i]!) < 1e-3)
  const size = model!.info.vocabularySize
  const logits = (await model!.evaluate(meta.prompt, { audio })).subarray(-size)
  assert.equal(logits.indexOf(logits.reduce((a, b) => Math.max(a, b))), meta.argmax[0])

  const { runs } = JSON.parse(readFileSync(join(kVectors, 'multi-f32', 'full.json'), 'utf8')) as {
    runs: {
      set: string
      lang: string
      segments: { t0: number; t1: number; ids: number[]; text_hex: string }[]
    }[]
  }
  const sets = {
    timestamps: { language: 'en' },
    auto_language: { maxTokens: 24 },
    token_timestamps_max_len_20: {
      language: 'en',
      maxTokens: 32,
      words: true,
      maxLength: 20,
      splitOnWord: true,
    },
  }
  for (const [name, options] of Object.entries(sets)) {
    const run = runs.find(({ set }) => set === name)!
    const told: Engine.TranscriptSegment[] = []
    const progress: number[] = []
    const heard = await model!.transcribe(audio, {
      ...options,
      temperatureStep: 0,
      onSegment: (segment) => told.push(segment),
      onProgress: (done) => progress.push(done),
    })
    assert.equal(heard.language, run.lang)
    assert.deepEqual(
      heard.segments.map(({ start, end, tokens, text }) => ({
        t0: Math.round(start * 100),
        t1: Math.round(end * 100),
        ids: tokens.map(({ id }) => id),
        text,
      })),
      run.segments.map(({ t0, t1, ids, text_hex }) => ({
        t0,
        t1,
        ids,
        text: new TextDecoder().decode(Buffer.from(text_hex, 'hex')),
      })),
    )
    assert.deepEqual(told, heard.segments)
    assert.equal(progress.at(-1), 1)
    assert.equal(heard.languageProbabilities === undefined, name !== 'auto_language')
  }
})

test('a transcript in the shape of requests', { skip }, async () => {
  const file = new Uint8Array(readFileSync(join(kVectors, 'inputs', 'speech-en.wav')))
  const request = { file, language: 'en', temperature: 0 }
  const options = { maxTokens: 24, temperatureStep: 0 }
  const { text } = await createTranscription(model!, request, options)
  const verbose = await createTranscription(
    model!,
    { ...request, response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
    options,
  )
  assert.equal(verbose.text, text)
  // As OpenAI and whisper-server 1.9.5 name them. The package's own result has the code, too.
  assert.equal(verbose.language, 'english')
  const burmese = { file, language: 'my', response_format: 'verbose_json' } as const
  assert.equal((await createTranscription(model!, burmese, options)).language, 'myanmar')
  const { language, languageName } = await model!.transcribe(file, { ...options, language: 'haw' })
  assert.deepEqual([language, languageName], ['haw', 'hawaiian'])
  assert.equal(
    verbose
      .segments!.map((s) => s.text)
      .join('')
      .trim(),
    text,
  )
  assert.ok(verbose.segments!.every((s) => s.compression_ratio > 0 && s.tokens.length > 0))
  assert.equal(
    verbose
      .words!.map(({ word }) => word)
      .join(' ')
      .replaceAll(' ', ''),
    text.replaceAll(' ', ''),
  )
  assert.match(
    await createTranscription(model!, { ...request, response_format: 'srt' }, options),
    /^1\n00:00:/,
  )
})

test('transcribe handles an abort, silence and invalid audio', { skip }, async () => {
  const stop = new AbortController()
  const running = model!.transcribe(floatsOf('inputs/speech-en.f32'), {
    signal: stop.signal,
    onProgress: () => stop.abort(new Error('enough')),
  })
  await assert.rejects(running, /enough/)
  const bad = floatsOf('inputs/speech-en.f32')
  bad[70000] = NaN
  await assert.rejects(model!.transcribe(bad), { code: 'invalid-argument', message: /sample 70000/ })
  assert.deepEqual((await model!.transcribe(new Float32Array(0))).segments, [])
  await assert.rejects(model!.transcribe([1] as never), { code: 'invalid-argument' })
  await assert.rejects(model!.transcribe(bad, { language: 'klingon' }), /no language "klingon"/)
  await assert.rejects(model!.transcribe(bad, { beams: 2 } as never), /beams/)
})

/** The processor time of all threads, which other programs do not change. */
async function processorTime(task: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await task()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

test('an abort ends the spectrogram and the resampling of long audio', { skip }, async () => {
  const samples = Float32Array.from({ length: 300 * 44100 }, (_, i) => 0.1 * Math.sin(i))
  for (const sampleRate of [16000, 44100]) {
    const sound = { samples, sampleRate }
    const whole = await processorTime(() => model!.logMel(sound, { frames: 10 }))
    const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
      (signal) => model!.logMel(sound, { signal }),
      (signal) => model!.encode(sound, { signal }),
      (signal) => model!.evaluate([1], { audio: sound, signal }),
      (signal) => model!.transcribe(sound, { signal }),
    ]
    for (const call of calls) {
      const stop = new AbortController()
      const aborted = await processorTime(async () => {
        const running = assert.rejects(call(stop.signal), /enough/)
        setTimeout(() => stop.abort(new Error('enough')))
        await running
      })
      assert.ok(aborted < whole / 2, `${sampleRate} Hz, ${String(call)}: ${aborted} of ${whole} microseconds`)
    }
  }
})

test('invalid models are refused', { skip }, async () => {
  const bytes = new Uint8Array(readFileSync(kModel))
  await assert.rejects(load(bytes.subarray(0, 3_000_000)), { code: 'truncated' })
})

test('the transcribe command writes transcripts', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'transcribe-'))
  try {
    writeFileSync(join(folder, 'silence.wav'), wavOf(new Float32Array(800)))
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'transcribe', ...args], {
        encoding: 'utf8',
      })
    const sound = join(kVectors, 'inputs', 'speech-en.wav')
    const call = [
      sound,
      '--model',
      kModel,
      '--language',
      'en',
      '--precision',
      'exact',
      '--duration',
      '1',
      '--threads',
      '1',
    ]
    assert.match(run(...call, '--format', 'vtt'), /^WEBVTT\n\n00:00:00\.\d{3} --> /)
    const heard = JSON.parse(run(...call, '--json')) as Engine.Transcription
    assert.equal(heard.language, 'en')
    assert.equal(run(join(folder, 'silence.wav'), '-m', kModel, '--threads', '1'), '')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
