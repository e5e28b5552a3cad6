// Speech out: the samples of a model that speaks, against llama.cpp's, as a stream, with a voice, and through an abort.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { kLong } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine, stories } from './engine.ts'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'
import { kVectors } from './vectors.ts'

const { open } = await loadNodePackage()
const kPipelines = ['pockettts', 'qwen3tts'] as const
type Pipeline = (typeof kPipelines)[number]
const folderOf = (pipeline: Pipeline): string => join(kVectors, 'new/speech', pipeline)
const skip = skipWithout(folderOf('pockettts'))
const outputs = mkdtempSync(join(tmpdir(), 'speak-'))
after(() => rmSync(outputs, { recursive: true }))

function floats(pipeline: Pipeline, name: string): Float32Array {
  const bytes = readFileSync(join(folderOf(pipeline), name))
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
const bytesOf = (pipeline: Pipeline, name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(join(folderOf(pipeline), name)))

async function speaking<T>(
  pipeline: Pipeline,
  use: (model: Engine.Model) => Promise<T>,
  edit = (mmproj: Uint8Array<ArrayBuffer>) => mmproj,
): Promise<T> {
  using projector = await open(edit(bytesOf(pipeline, 'mmproj.gguf')))
  const options = { projector, precision: 'exact', cacheType: 'f32' } as const
  using model = await engine.load<Engine.Model>(bytesOf(pipeline, 'text.gguf'), options)
  return await use(model)
}

interface Meta {
  readonly tolerance: { readonly pcm: number; readonly pcm_rms: number }
}
const textOf = (pipeline: Pipeline): string =>
  (JSON.parse(readFileSync(join(folderOf(pipeline), 'expected.json'), 'utf8')) as { text: string }).text
/** A short text: the random model of Qwen3-TTS never ends by itself, but after 60 frames and 12 for each token. */
const kShort = 'it'

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

for (const pipeline of kPipelines) {
  test(`${pipeline}: the samples are those of llama.cpp, and come in parts`, { skip }, async () => {
    const { tolerance } = JSON.parse(readFileSync(join(folderOf(pipeline), 'meta.json'), 'utf8')) as Meta
    const expected = floats(pipeline, 'pcm.f32')
    await speaking(pipeline, async (model) => {
      assert.ok(model.info.abilities.includes('speak'))
      const { samples, parts } = await samplesOf(model.speak(textOf(pipeline), { temperature: 0 }))
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
      const first = await samplesOf(model.speak(kShort, options))
      assert.deepEqual(await samplesOf(model.speak(kShort, options)), first)
      assert.notDeepEqual(
        (await samplesOf(model.speak(kShort, { ...options, seed: 8 }))).samples,
        first.samples,
      )
    })
  })

  test(`${pipeline}: a recording gives its voice, and the next text has the own one`, { skip }, async () => {
    const voice = { samples: floats(pipeline, 'speaker.f32'), sampleRate: 24_000 }
    await speaking(pipeline, async (model) => {
      const own = await samplesOf(model.speak(kShort, { temperature: 0 }))
      const other = await samplesOf(model.speak(kShort, { temperature: 0, voice }))
      assert.notDeepEqual(other.samples.slice(0, 1920), own.samples.slice(0, 1920))
      assert.deepEqual((await samplesOf(model.speak(kShort, { temperature: 0 }))).samples, own.samples)
    })
  })

  test(
    `${pipeline}: a speech ends where its reader leaves or aborts, and other calls go on`,
    { skip },
    async () => {
      await speaking(pipeline, async (model) => {
        for await (const _ of model.speak(kShort, { temperature: 0 })) break
        const control = new AbortController()
        const aborted = async () => {
          for await (const _ of model.speak(kShort, { signal: control.signal }))
            control.abort(new Error('enough'))
        }
        await assert.rejects(aborted(), /enough/)
        assert.ok((await samplesOf(model.speak(kShort, { temperature: 0 }))).samples.length > 0)
        await assert.rejects(samplesOf(model.speak('')), { code: 'invalid-argument' })
        await assert.rejects(samplesOf(model.speak(kShort, { language: 'Klingon' })), {
          code: 'invalid-argument',
        })
        assert.throws(() => model.speak(kShort, { temperature: -1 }), { code: 'invalid-argument' })
      })
    },
  )

  test(`${pipeline}: the command writes a WAV file`, { skip }, async () => {
    const output = join(outputs, `${pipeline}.wav`)
    const paths = ['text.gguf', 'mmproj.gguf'].map((name) => join(folderOf(pipeline), name))
    const all = [paths[0]!, textOf(pipeline), '--mmproj', paths[1]!]
    const ran = await runCli(['speak', ...all, '--temperature', '0', '--output', output])
    assert.equal(ran.status, 0, ran.err)
    const { samples, sampleRate } = engine.decodeWav(new Uint8Array(readFileSync(output)))
    assert.equal(sampleRate, 24_000)
    assert.ok(samples.length >= 12 * 1920)
    const again = await runCli(['speak', ...all, '--output', output])
    assert.equal(again.status, 1)
    assert.match(again.err, /is there already/)
  })
}

test('languages have names and codes', { skip }, async () => {
  await speaking('qwen3tts', async (model) => {
    const spoken = async (language?: string) =>
      (await engine.createSpeech(model, { input: kShort, temperature: 0, language })).join()
    const english = await spoken()
    assert.equal(await spoken('en'), english)
    const german = await spoken('de')
    assert.equal(await spoken('German'), german)
    assert.notEqual(german, english)
    await assert.rejects(spoken('fr'), { code: 'invalid-argument', message: /english german chinese/ })
  })
})

test('a variant whose settings are not known is a warning', { skip }, async () => {
  const edit = (mmproj: Uint8Array<ArrayBuffer>) => {
    const at = Buffer.from(mmproj.buffer).indexOf(
      'english',
      Buffer.from(mmproj.buffer).indexOf('model_variant'),
    )
    mmproj.set(new TextEncoder().encode('klingon'), at)
    return mmproj
  }
  const warningsOf = async (model: Engine.Model) => {
    const parts = model.speak(kShort)
    for (;;) {
      const next = await parts.next()
      if (next.done) return next.value.warnings
    }
  }
  assert.deepEqual(await speaking('pockettts', warningsOf), [])
  const [warning, ...others] = await speaking('pockettts', warningsOf, edit)
  assert.match(warning!, /variant 'klingon' are not known.*0\.7/)
  assert.deepEqual(others, [])
})

test('the result counts the samples', { skip }, async () => {
  await speaking('pockettts', async (model) => {
    const parts = model.speak(kShort, { temperature: 0 })
    let [count, next] = [0, await parts.next()]
    for (; !next.done; next = await parts.next()) count += next.value.samples.length
    assert.equal(next.value.sampleCount, count)
    assert.ok(count > 0 && next.value.ms > 0)
  })
})

test('lint finds no fault in files that speak', { skip }, async () => {
  for (const pipeline of kPipelines)
    for (const name of ['text.gguf', 'mmproj.gguf']) {
      using file = await open(bytesOf(pipeline, name))
      const errors = file.lint().filter(({ level }) => level === 'error')
      assert.deepEqual(errors, [], `${pipeline} ${name}`)
    }
})

test('the share of the text that is spoken grows to the last part', { skip }, async () => {
  const sentences = Array.from(
    { length: 12 },
    (_, i) => `The owl number ${i} sleeps by day, and wakes at night.`,
  )
  await speaking('pockettts', async (model) => {
    const shares: number[] = []
    for await (const { done } of model.speak(sentences.join(' '), { seed: 1 })) shares.push(done)
    assert.equal(shares[0], 0)
    assert.ok(new Set(shares).size > 3, String([...new Set(shares)]))
    assert.deepEqual(
      shares.toSorted((a, b) => a - b),
      shares,
    )
    assert.ok(shares.at(-1)! > 0.5 && shares.at(-1)! <= 1)
  })
})

test('recordings of any length give a voice, or are refused in words', { skip }, async () => {
  const sound = floats('pockettts', 'speaker.f32')
  const minute = new Float32Array(61 * 24_000)
  await speaking('pockettts', async (model) => {
    let voices = 0
    for (const length of [0, 1, 100, 1919, 1920, 1921, 4000, sound.length, minute.length])
      for (const sampleRate of [24_000, 16_000]) {
        const samples = length > sound.length ? minute : sound.slice(0, length)
        try {
          const { samples: spoken } = await samplesOf(
            model.speak('Hi.', { voice: { samples, sampleRate }, temperature: 0 }),
          )
          assert.ok(spoken.length > 0)
          voices++
        } catch (error) {
          const { code, message } = error as Engine.GgufError
          assert.equal(code, 'invalid-argument', `${length} samples: ${message}`)
          assert.match(message, /recording|audio|sample/, `${length} samples`)
        }
      }
    assert.ok(voices >= 6, `${voices} voices`)
  })
})

test('an hour of speech takes no more memory than a minute', { skip: skip || kLong }, async () => {
  const text = Array.from(
    { length: 1400 },
    (_, i) => `The owl number ${i} sleeps by day, and wakes at night when all is still.`,
  ).join(' ')
  await speaking('pockettts', async (model) => {
    let [seconds, early] = [0, 0]
    for await (const { samples, sampleRate } of model.speak(text, { temperature: 0.7, seed: 1 })) {
      seconds += samples.length / sampleRate
      if (early === 0 && seconds > 60) early = process.memoryUsage().rss
    }
    assert.ok(seconds > 3600, `${seconds} s`)
    // All samples would take 350 MB.
    const growth = process.memoryUsage().rss - early
    assert.ok(growth < 60e6, `${growth} bytes more`)
  })
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
