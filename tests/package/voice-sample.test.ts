// The voice sample speaks plain English by the list of words in its file, and the speech sample understands it.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { generateSpeech } from 'ai'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { engine } from './engine.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'
import { serving } from './serving.ts'

const { open } = await loadNodePackage()
const { createGgufscope } = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof Ai
const kFile = join(kRoot, 'tests/fixtures/voice.gguf')
const bytes = new Uint8Array(readFileSync(kFile))
// Of scripts/sample/phrases.py.
const kSentences = [
  'Set a timer for twenty one minutes.',
  'Open the window in the kitchen, please.',
  'Ruby found a kite in the garden.',
]
const folder = mkdtempSync(join(tmpdir(), 'voice-'))
const model = await engine.load<Engine.Model>(bytes, { threads: 1 })
after(() => {
  model.close()
  rmSync(folder, { recursive: true })
})

async function spoken(text: string, options: Engine.SpeakOptions = {}) {
  const samples: number[] = []
  const parts = model.speak(text, { seed: 1, ...options })
  let next = await parts.next()
  for (; !next.done; next = await parts.next()) for (const sample of next.value.samples) samples.push(sample)
  return { samples, rate: next.value.sampleRate, warnings: next.value.warnings }
}

/** Words without marks. */
const wordsOf = (text: string) => text.toLowerCase().replace(/[.,?]/g, '').trim().split(/\s+/)

test('the speech sample understands what the voice sample says', async () => {
  using ear = await engine.load<Engine.SpeechModel>(
    new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/commands.gguf'))),
    { threads: 1 },
  )
  for (const text of kSentences) {
    const { samples, rate, warnings } = await spoken(text)
    assert.deepEqual(warnings, [])
    const heard = await ear.transcribe(engine.toWav(Float32Array.from(samples), rate))
    assert.deepEqual(wordsOf(heard.text), wordsOf(text))
  }
})

test('numbers are words, endings are those of the words, and unknown words are spelled with a warning', async () => {
  using file = await open(bytes)
  const [words, phonemes] = ['ggufscope.words', 'ggufscope.word_phonemes'].map((key) =>
    Array.from(file.metadata.get(key) as Iterable<string>),
  )
  const list = new Map(words!.map((word, i) => [word, phonemes![i]!]))
  const said = (text: string) => text.split(' ').map((word) => list.get(word) ?? assert.fail(word))
  const same = async (text: string, ipa: string) => {
    const [given, expected] = [await spoken(text), await spoken(ipa, { ipa: true })]
    // A difference of long arrays would take gigabytes.
    assert.ok(given.samples.join() === expected.samples.join(), `${text} is not ${ipa}`)
    return given.warnings
  }
  assert.deepEqual(
    await same(
      'Seven dogs, 21 owls.',
      `${said('seven dog').join(' ')}z, ${said('twenty one owl').join(' ')}z.`,
    ),
    [],
  )
  const number = said('one thousand two hundred three point four zero percent').join(' ')
  assert.deepEqual(await same('1,203.40 %', number), [])
  assert.deepEqual(
    await same('The cat\u2019s foxes', `${said('the cat').join(' ')}s ${said('fox').join(' ')}\u1d7bz`),
    [],
  )
  // Capital letters have names, and accents are left out.
  assert.deepEqual(
    await same(
      'Plan B \u2014 caf\u00e9s',
      `${said('plan B').join(' ')}\u2014 ${said('C A F E S').join(' ')}`,
    ),
    ['The file\'s list of words lacks "caf\u00e9s": spelled letter by letter.'],
  )
  // Neither the words nor their letters have phonemes.
  assert.deepEqual(await same('The \u6f22\u5b57 (cat) $', said('the cat').join(' ')), [
    'The file\'s list of words has neither "\u6f22\u5b57", "$" nor names of their letters: left out.',
  ])
  await assert.rejects(spoken('\u6f22\u5b57'), {
    code: 'invalid-argument',
    message: /"\u6f22\u5b57" .*nothing to speak/,
  })
  const many = Array.from({ length: 22 }, (_, i) => `zq${String.fromCharCode(97 + i)}`)
  assert.match(
    (await spoken(many.join(' '), { speed: 4 })).warnings.join(),
    /lacks "zqa", .*"zqt", \u2026: spelled/,
  )
})

test('every way speaks plain English, and a function comes before the list', async () => {
  const request = { input: 'Open the door, please.', seed: 3, speed: 2 } as const
  const expected = await engine.createSpeech(model, request)
  const asked: string[] = []
  const phonemize = (text: string) => (asked.push(text), '\u02c8o\u028a')
  const other = await engine.createSpeech(model, request, { phonemize })
  assert.notEqual(other.length, expected.length)
  assert.deepEqual(asked, ['Open the door', 'please'])
  const output = join(folder, 'door.wav')
  const chosen = ['--speed', '2', '--seed', '3', '--threads', '1']
  const ran = await runCli(['speak', kFile, request.input, ...chosen, '--output', output])
  assert.equal(ran.status, 0, ran.err)
  assert.ok(readFileSync(output).equals(expected))
  await serving(kFile, [], async (post) => {
    const answer = await post('/v1/audio/speech', request)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(expected))
    const spelled = await post('/v1/audio/speech', { ...request, input: 'zqx' })
    assert.match(spelled.headers.get('ggufscope-warnings') ?? '', /zqx/)
  })
  const speaker = createGgufscope(model).speechModel()
  const { audio } = await generateSpeech({
    model: speaker,
    text: request.input,
    speed: 2,
    providerOptions: { ggufscope: { seed: 3 } },
  })
  assert.ok(Buffer.from(audio.uint8Array).equals(expected))
})
