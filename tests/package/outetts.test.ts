// OuteTTS: a text model that writes codes, and WavTokenizer's decoder, small and with random weights. Each stage is computed anew:
// the prompt as a text, the codes by generate(), their spectra by embed(), and the sound by the inverse transform as its sum.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { kSpectrum, outeDecoder, outeWriter } from '../fixtures/outetts.ts'
import { engine, stories } from './engine.ts'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'

const { open } = await loadNodePackage()
const kCodes = 303
const kHop = 8
const kExact = { precision: 'exact', cacheType: 'f32' } as const
const kProfile = { words: [{ word: 'an', duration: 0.36, codes: [3, 1, 4, 1, 5, 9, 2, 6] }] }
const folder = mkdtempSync(join(tmpdir(), 'outetts-'))
after(() => rmSync(folder, { recursive: true }))

async function speaking<T>(
  use: (model: Engine.Model) => Promise<T>,
  writer = outeWriter(kCodes),
): Promise<T> {
  using projector = await open(outeDecoder(kCodes))
  using model = await engine.load<Engine.Model>(writer, { projector, ...kExact })
  return await use(model)
}

async function samplesOf(parts: AsyncIterable<Engine.SpokenPart>): Promise<number[]> {
  const samples: number[] = []
  for await (const part of parts) samples.push(...part.samples)
  return samples
}

/** The codes of the greedy answer to a prompt, as speak() takes at most so many tokens for two words. */
async function codesOf(prompt: string, words: number): Promise<number[]> {
  using model = await engine.load<Engine.Model>(outeWriter(kCodes), kExact)
  const encode = (text: string) => model.tokenizer.encode(text, { special: true })
  const [[first], [end]] = [encode('<|0|>'), encode('<|audio_end|>')]
  const codes: number[] = []
  for await (const { token } of model.generate(encode(prompt), {
    temperature: 0,
    maxTokens: 70 * words + 80,
  })) {
    if (token === end) break
    if (token >= first! && token < first! + kCodes) codes.push(token - first!)
  }
  return codes
}

/** The inverse transform as its definition, which is slow. */
function soundOf(spectra: Float32Array): number[] {
  const size = kSpectrum - 2
  const frames = spectra.length / kSpectrum
  const sums = new Float64Array((frames - 1) * kHop + size)
  const weights = new Float64Array(sums.length)
  for (let t = 0; t < frames; t++)
    for (let i = 0; i < size; i++) {
      const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size)
      let value = 0
      for (let k = 0; k <= size / 2; k++) {
        const length = Math.min(Math.exp(spectra[t * kSpectrum + k]!), 100)
        const angle = spectra[t * kSpectrum + size / 2 + 1 + k]!
        const edge = k === 0 || k === size / 2
        const turn = (2 * Math.PI * i * k) / size
        value += edge ? length * Math.cos(angle) * Math.cos(turn) : 2 * length * Math.cos(angle + turn)
      }
      sums[t * kHop + i]! += (weight * value) / size
      weights[t * kHop + i]! += weight * weight
    }
  const padding = (size - kHop) / 2
  return Array.from({ length: frames * kHop }, (_, i) =>
    Math.max(-1, Math.min(1, sums[i + padding]! / weights[i + padding]!)),
  )
}

test('each stage gives what it gives alone', async () => {
  const voiced =
    '<|im_start|>\n<|text_start|>an<|text_sep|>two<|text_sep|>owls<|text_end|>\n<|audio_start|>\n' +
    'an<|t_0.36|><|code_start|><|3|><|1|><|4|><|1|><|5|><|9|><|2|><|6|><|code_end|>\n'
  const codes = await codesOf(voiced, 2)
  assert.ok(codes.length > 20, `${codes.length} codes`)
  using decoder = await engine.load<Engine.Model>(outeDecoder(kCodes), kExact)
  const expected = soundOf(await decoder.embed(codes, { pooling: 'none', normalize: false }))
  await speaking(async (model) => {
    assert.ok(model.info.abilities.includes('speak'))
    const samples = await samplesOf(model.speak('2 owls.', { temperature: 0, voice: kProfile }))
    assert.equal(samples.length, expected.length)
    for (const [i, sample] of samples.entries())
      assert.ok(Math.abs(sample - expected[i]!) < 1e-3, `sample ${i}: ${sample} instead of ${expected[i]}`)
  })
})

test('a long text comes in parts, and can be left, aborted and repeated', async () => {
  const text = 'The owl sleeps by day and wakes at night when all is still. '.repeat(3)
  await speaking(async (model) => {
    const whole = await samplesOf(model.speak(text, { seed: 4 }))
    assert.deepEqual(await samplesOf(model.speak(text, { seed: 4 })), whole)
    assert.notDeepEqual(await samplesOf(model.speak(text, { seed: 5 })), whole)
    for await (const _ of model.speak(text, { seed: 4 })) break
    const control = new AbortController()
    const aborted = async () => {
      for await (const _ of model.speak(text, { signal: control.signal })) control.abort(new Error('enough'))
    }
    await assert.rejects(aborted(), /enough/)
    const parts = model.speak('caf\u00e9', { seed: 1 })
    let next = await parts.next()
    while (!next.done) next = await parts.next()
    assert.match(next.value.warnings.join(), /letters a to z/)
  })
})

test('voices that are no profiles of this model are refused', async () => {
  await speaking(async (model) => {
    const refused = (voice: unknown, message: RegExp) =>
      assert.rejects(samplesOf(model.speak('Hi', { voice: voice as Engine.VoiceProfile })), { message })
    await refused({ words: 'an' }, /must be an array/)
    await refused({ words: [null] }, /Word 1 of the voice's profile lacks/)
    await refused({ words: [{ word: 'a b', duration: 1, codes: [] }] }, /Word 1/)
    await refused({ words: [{ word: 'an', duration: 1, codes: [kCodes] }] }, /0 to 302/)
    await refused({ words: [{ word: 'an', duration: 61, codes: [1] }] }, /60 seconds/)
    await refused({ samples: new Float32Array(24_000), sampleRate: 24_000 }, /profile, not a recording/)
    assert.ok((await samplesOf(model.speak('Hi', { temperature: 0 }))).length > 0)
  })
})

test('text models without the codes are refused', async () => {
  const spoken = (model: Engine.Model) => samplesOf(model.speak('Hi'))
  await assert.rejects(speaking(spoken, stories.slice()), { code: 'not-found', message: /<\|im_start\|>/ })
  await assert.rejects(speaking(spoken, outeWriter(200)), { code: 'not-found', message: /<\|302\|>/ })
})

test('the command and the endpoint of OpenAI take a profile', async () => {
  const [writer, decoder, profile, other] = ['writer.gguf', 'decoder.gguf', 'voice.json', 'other.json'].map(
    (name) => join(folder, name),
  )
  writeFileSync(writer!, outeWriter(kCodes))
  writeFileSync(decoder!, outeDecoder(kCodes))
  writeFileSync(profile!, JSON.stringify(kProfile))
  writeFileSync(other!, '{"a": 1}')
  const output = join(folder, 'owl.wav')
  const all = ['speak', writer!, 'Two owls.', '--mmproj', decoder!, '--temperature', '0', '--output', output]
  const wrong = await runCli([...all, '--voice', other!])
  assert.equal(wrong.status, 1)
  assert.match(wrong.err, /no profile of a voice/)
  const ran = await runCli([...all, '--voice', profile!])
  assert.equal(ran.status, 0, ran.err)
  await speaking(async (model) => {
    const request = { input: 'Two owls.', temperature: 0, voice: kProfile } as const
    const { samples } = engine.decodeWav(await engine.createSpeech(model, request))
    assert.deepEqual(engine.decodeWav(new Uint8Array(readFileSync(output))).samples.length, samples.length)
    await assert.rejects(engine.createSpeech(model, { ...request, voice: 'alloy' as 'default' }), {
      code: 'invalid-argument',
    })
  })
})
