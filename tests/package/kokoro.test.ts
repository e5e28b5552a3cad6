// Kokoro: a model that reads phonemes and speaks by itself. The small model of tests/fixtures/record-kokoro.py, whose
// sound its script computes in double precision.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { generateSpeech } from 'ai'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { engine, stories } from './engine.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'
import { serving } from './serving.ts'

const { open } = await loadNodePackage()
const { createGgufscope } = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof Ai
const kFolder = join(kRoot, 'tests/fixtures/golden/kokoro')
const kFile = join(kFolder, 'model.gguf')
const bytes = new Uint8Array(readFileSync(kFile))
const kPhonemes = 'aʃː bən.'
const kReference = { ipa: true, seed: 7, speed: 1.25 } as const
const folder = mkdtempSync(join(tmpdir(), 'kokoro-'))
const model = await engine.load<Engine.Model>(bytes, { precision: 'exact' })
after(() => {
  model.close()
  rmSync(folder, { recursive: true })
})

function expected(): Float32Array {
  const file = readFileSync(join(kFolder, 'samples.f32'))
  return new Float32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.length))
}

interface Spoken {
  readonly samples: number[]
  readonly done: number[]
  readonly result: Engine.SpokenResult
}

async function spoken(parts: AsyncGenerator<Engine.SpokenPart, Engine.SpokenResult, void>): Promise<Spoken> {
  const samples: number[] = []
  const done: number[] = []
  let next = await parts.next()
  for (; !next.done; next = await parts.next()) {
    assert.equal(next.value.sampleRate, 24_000)
    samples.push(...next.value.samples)
    done.push(next.value.done)
  }
  return { samples, done, result: next.value }
}

const refused = (text: string, options: Engine.SpeakOptions, message: RegExp, code = 'invalid-argument') =>
  assert.rejects(spoken(model.speak(text, options)), { code, message })

test('it only speaks, and gives the samples of its definition', async () => {
  assert.deepEqual(model.info.abilities, ['speak'])
  assert.deepEqual(model.info.voices, ['af_heart', 'bm_test'])
  assert.ok(model.info.memory.weights > 0 && model.info.memory.scratch > 0)
  const { samples, done, result } = await spoken(model.speak(kPhonemes, kReference))
  const reference = expected()
  assert.equal(samples.length, reference.length)
  for (const [i, sample] of samples.entries())
    assert.ok(Math.abs(sample - reference[i]!) < 4e-3, `sample ${i}: ${sample} instead of ${reference[i]}`)
  assert.deepEqual(done, [1])
  assert.deepEqual([result.sampleCount, result.warnings], [reference.length, []])
  const other = await spoken(model.speak(kPhonemes, { ...kReference, voice: 'bm_test' }))
  assert.notDeepEqual(other.samples, samples)
  const faster = await spoken(model.speak(kPhonemes, { ...kReference, speed: 4 }))
  assert.ok(faster.samples.length < samples.length)
})

test('a function gives the phonemes of each clause, with the language of the voice', async () => {
  const asked: [string, string][] = []
  const phonemize = async (text: string, language: string) => {
    asked.push([text, language])
    return await Promise.resolve(text === 'One' ? 'aʃː\n' : ' bən')
  }
  const text = 'One two? “Three,” 3.5 four! — …\n\nFive'
  const { result } = await spoken(model.speak(text, { phonemize, voice: 'bm_test', seed: 1 }))
  assert.deepEqual(
    asked.map(([words]) => words),
    ['One two', '“Three', '” 3.5 four', 'Five'],
  )
  assert.deepEqual([...new Set(asked.map(([, language]) => language))], ['en-gb'])
  // A warning names marks that the alphabet lacks, too.
  assert.ok(
    result.warnings.some((warning) => warning.includes('"?"')),
    result.warnings.join(),
  )
  asked.length = 0
  await spoken(model.speak('One', { phonemize, language: 'it' }))
  assert.deepEqual(asked, [['One', 'it']])
  // What the function makes of a text is what its phonemes give.
  const same = await spoken(model.speak('One', { phonemize: () => kPhonemes, seed: 7, speed: 1.25 }))
  assert.deepEqual(same.samples, (await spoken(model.speak(kPhonemes, kReference))).samples)
})

test('phonemes of English are written as its voices were trained, those of other languages as they are', async () => {
  const named = async (phonemes: string, language: string) => {
    const { result } = await spoken(model.speak('a', { phonemize: () => `a${phonemes}`, language }))
    return result.warnings.map((warning) => /"(.*)"/.exec(warning)![1]).join('')
  }
  assert.equal(await named('rʲxɬ z', 'en-us'), 'ɹjklz')
  assert.equal(await named('rʲxɬ z', 'es'), 'rʲxɬz')
  // They are d or t, and the alphabet has a t.
  assert.match(await named('nˈaɪnti', 'en-us'), /d/)
  assert.doesNotMatch(await named('nˈaɪnti', 'en-gb'), /d/)
  const { result } = await spoken(model.speak('ar', { ipa: true }))
  assert.match(result.warnings[0]!, /"r"/)
})

test('the memory is estimated, of a file that was not loaded', async () => {
  using file = await open(bytes)
  const { weights, cache, state, compute, context } = await file.memory()
  const { memory } = model.info
  assert.ok(Math.abs(weights / memory.weights - 1) < 0.1, `${weights} instead of ${memory.weights}`)
  assert.ok(Math.abs(compute / memory.scratch - 1) < 0.1, `${compute} instead of ${memory.scratch}`)
  assert.deepEqual([cache, state, context], [0, 0, 40])
  const ram = { memory: 2 ** 20 }
  assert.equal((await file.memory({ host: ram })).fits, false)
  using text = await open(stories.slice())
  await assert.rejects(text.memory({ draft: file }), { code: 'unsupported', message: /drafts nothing/ })
})

test('a long text is spoken clause by clause, as it is read', async () => {
  let asked = 0
  const phonemize = () => `aba nata bən aba nata ${'bə'.repeat(asked++ % 3)}`
  const text = 'The owl sleeps by day. '.repeat(2000)
  let parts = 0
  for await (const { done, samples } of model.speak(text, { phonemize, seed: 1 })) {
    assert.ok(samples.length > 0 && done > 0 && done < 0.1)
    if (++parts === 6) break
  }
  assert.ok(asked < 20, `${asked} clauses were asked for`)
})

test('warnings name phonemes that the file lacks, and errors say what to pass', async () => {
  const { result } = await spoken(model.speak('aqb', { ipa: true }))
  assert.deepEqual(result.warnings, ['the model\'s alphabet lacks the phoneme "q", which is left out'])
  await refused('Hello', {}, /pass phonemize\(text, language\).*ipa: true/)
  await refused('Hello', { voice: 'alloy', ipa: true }, /no voice "alloy", but af_heart, bm_test/)
  await refused('a', { voice: new Uint8Array(4), ipa: true }, /is a name/)
  await refused('', { ipa: true }, /no text/)
  await refused(' — ', { phonemize: () => 'a' }, /no text/)
  await refused('q', { ipa: true }, /none of these phonemes/)
  await refused('a', { ipa: true, temperature: 1 }, /no temperature/)
  await refused('a', { phonemize: (() => 5) as unknown as Engine.Phonemize }, /must return a string/)
  assert.throws(() => model.speak('a', { speed: 5 }), { code: 'invalid-argument' })
  await assert.rejects(model.embed('a'))
  await assert.rejects(async () => await model.generate('a').next())
  using text = await engine.load<Engine.Model>(stories.slice())
  assert.deepEqual(text.info.voices, [])
})

test('a function that throws ends the speech, and so does an abort while it waits', async () => {
  const wrong = new Error('no such language')
  for (const phonemize of [
    () => {
      throw wrong
    },
    () => Promise.reject(wrong),
  ])
    await assert.rejects(spoken(model.speak('One', { phonemize })), (error) => error === wrong)
  const control = new AbortController()
  const waiting = spoken(
    model.speak('One', {
      signal: control.signal,
      phonemize: () => {
        control.abort(new Error('enough'))
        return new Promise<string>(() => {})
      },
    }),
  )
  await assert.rejects(waiting, /enough/)
  const aborting = new AbortController()
  const whole = async () => {
    for await (const _ of model.speak('aba nata. '.repeat(50), { ipa: true, signal: aborting.signal }))
      aborting.abort(new Error('stop'))
  }
  await assert.rejects(whole(), /stop/)
  assert.ok((await spoken(model.speak('a', { ipa: true }))).samples.length > 0)
})

test('files that are wrong, and companions that it does not take, are refused', async () => {
  const text = Buffer.from(bytes).toString('latin1')
  const damaged = (name: string) => {
    const at = text.indexOf(name)
    assert.ok(at > 0)
    const copy = bytes.slice()
    copy[at + name.length - 1] = 0x5a
    return copy
  }
  for (const [name, code] of [
    ['kokoro.decoder.generator.hop', 'not-found'],
    ['kokoro.voices', 'not-found'],
    ['kokoro.duration_predictor.encode', 'not-found'],
  ] as const) {
    await assert.rejects(engine.load(damaged(name)), { code })
    using file = await open(damaged(name))
    const [finding] = await engine.lintLoad(file)
    assert.equal(finding?.code, 'load', name)
  }
  using file = await open(bytes)
  assert.deepEqual(await engine.lintLoad(file), [])
  await assert.rejects(engine.load(bytes, { projector: stories.slice() }), { code: 'unsupported' })
  await assert.rejects(engine.load(stories.slice(), { draft: bytes }), { code: 'unsupported' })
})

// A program that answers what a phonemizer would: it says the language in its phonemes, to be seen.
const kProgram = `
  let text = ''
  process.stdin.on('data', (data) => (text += data))
  process.stdin.on('end', () => {
    if (text.includes('fail')) return console.error('it cannot'), process.exit(3)
    process.stdout.write(process.argv[2] === 'en-gb' ? '(fr)ba(en)\\n' : 'ab')
  })
`
const phonemizer = join(folder, 'phonemizer.mjs')
writeFileSync(phonemizer, kProgram)
const kCommand = `${process.execPath} ${phonemizer} {language}`
const kOptions = { threads: 1 } as const

test('the command, the server, requests of OpenAI and the AI SDK give the same', async () => {
  using one = await engine.load<Engine.Model>(bytes, kOptions)
  const request = { input: 'Owls sleep.', voice: 'bm_test', speed: 1.5, seed: 3 } as const
  const asked: string[] = []
  const phonemize = (text: string, language: string) => (asked.push(`${text} ${language}`), 'ba')
  const expected = await engine.createSpeech(one, request, { phonemize })
  assert.deepEqual(asked, ['Owls sleep en-gb'])
  const output = join(folder, 'owls.wav')
  const chosen = ['--voice', 'bm_test', '--speed', '1.5', '--seed', '3', '--threads', '1']
  const ran = await runCli([
    'speak',
    kFile,
    'Owls sleep.',
    ...chosen,
    '--phonemizer',
    kCommand,
    '--output',
    output,
  ])
  assert.equal(ran.status, 0, ran.err)
  assert.ok(readFileSync(output).equals(expected))
  const spelled = await runCli(['speak', kFile, 'ba.', ...chosen, '--ipa', '--output', output, '--force'])
  assert.equal(spelled.status, 0, spelled.err)
  assert.ok(readFileSync(output).equals(expected))
  await serving(kFile, ['--phonemizer', kCommand], async (post) => {
    const answer = await post('/v1/audio/speech', request)
    assert.equal(answer.status, 200)
    assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), expected)
    const typed = await post('/v1/audio/speech', { ...request, input: 'ba.', ipa: true })
    assert.deepEqual(new Uint8Array(await typed.arrayBuffer()), expected)
    const unknown = await post('/v1/audio/speech', { ...request, voice: 'alloy' })
    assert.equal(unknown.status, 400)
    assert.match(await unknown.text(), /af_heart, bm_test/)
    const evil = await post('/v1/audio/speech', { ...request, language: '--path=/' })
    assert.equal(evil.status, 400)
    const events = await post('/v1/audio/speech', { ...request, stream_format: 'sse' })
    assert.match(await events.text(), /speech\.audio\.done/)
  })
  const speaker = createGgufscope(one).speechModel(undefined, { phonemize })
  const options = { voice: 'bm_test', speed: 1.5, providerOptions: { ggufscope: { seed: 3 } } }
  const { audio, warnings } = await generateSpeech({ model: speaker, text: 'Owls sleep.', ...options })
  assert.deepEqual(warnings, [])
  assert.deepEqual(new Uint8Array(audio.uint8Array), expected)
})

test('what a phonemizer says when it fails, and options that lack something, are errors', async () => {
  const output = join(folder, 'none.wav')
  const run = (text: string, ...options: string[]) =>
    runCli(['speak', kFile, text, ...options, '--output', output])
  for (const [ran, message] of [
    [await run('It will fail.', '--phonemizer', kCommand), /phonemizer .* failed: it cannot/],
    [await run('Hi.', '--phonemizer', join(folder, 'nothing')), /failed: .*ENOENT/],
    [await run('Hi.'), /reads phonemes/],
    [await run('ba', '--ipa', '--voice', 'alloy'), /af_heart, bm_test/],
  ] as const) {
    assert.equal(ran.status, 1, ran.err)
    assert.match(ran.err, message)
  }
  for (const wrong of [
    ['--phonemizer', ' '],
    ['--ipa', '--phonemizer', 'x'],
  ])
    assert.equal((await run('Hi.', ...wrong)).status, 2)
  const left = await run('aqb', '--ipa')
  assert.match(left.err, /lacks the phoneme "q"/)
  // It is one of the commands that show the model.
  const info = await runCli(['info', kFile])
  assert.match(info.out, /kokoro/)
  const lint = await runCli(['lint', kFile, '--json'])
  assert.equal(lint.status, 0, lint.out)
})
