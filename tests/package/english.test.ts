// What is no word in an English text is spoken as words, all of which the voice sample's list has.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inEnglishWords } from '../../wasm/src/audio/english.ts'
import { WordList } from '../../wasm/src/audio/word-list.ts'
import { kRoot, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()

const kCases: readonly (readonly [text: string, words: string])[] = [
  ['no', 'no'],
  ['21 owls, 7 dogs', 'twenty one owls, seven dogs'],
  ['1,203.40 %', 'one thousand two hundred three point four zero percent'],
  ['100, 1000, 1000000000', 'one hundred, one thousand, one billion'],
  ['007', 'zero zero seven'],
  ['0', 'zero'],
  ['1234567890123', 'one two three four five six seven eight nine zero one two three'],
  ['version 1.2.3', 'version one point two point three'],
  ['3D', 'three D'],
  [
    'the 1st, 2nd, 3rd, 12th, 21st, 30th and 100th',
    'the first, second, third, twelfth, twenty first, thirtieth and one hundredth',
  ],
  ['10:30, 9:05 and 12:00', "ten thirty, nine oh five and twelve o'clock"],
  ['at 9 a.m. we eat, at 5pm we go', 'at nine A.M we eat, at five P.M we go'],
  ['12:05:01', 'twelve oh five and one second'],
  ['12:60', 'twelve : sixty'],
  ['May 1, 2026', 'may first, twenty twenty six'],
  ['Nov. 29', 'november twenty ninth'],
  ['June 2005', 'june two thousand five'],
  ['I may 2', 'I may two'],
  ['2026-02-03', 'february third, twenty twenty six'],
  ['2026-13-03', 'two thousand twenty six - thirteen - zero three'],
  ['in 1999 and since 1905', 'in nineteen ninety nine and since nineteen oh five'],
  ['in 1999.5', 'in one thousand nine hundred ninety nine point five'],
  ['the 1990s, the 80s', 'the nineteen nineties, the eighties'],
  ['1999 owls', 'one thousand nine hundred ninety nine owls'],
  ['$1, $5.50 and $0.99', 'one dollar, five dollars and fifty cents and ninety nine cents'],
  ['$3.5 million', 'three point five million dollars'],
  ['£1.01', 'one pound and one penny'],
  ['5 €', 'five euros'],
  [
    '1 km, 5 km/h, 20°C and 1 ft',
    'one kilometer, five kilometers per hour, twenty degrees Celsius and one foot',
  ],
  ['6 ft', 'six feet'],
  ['2 MB and 3 GHz', 'two megabytes and three gigahertz'],
  ['2 more', 'two more'],
  ['5 m²', 'five meters squared'],
  ['2½ and ¾', 'two and a half and three quarters'],
  ['-5 and \u22125', 'minus five and minus five'],
  ['pages 5\u201310', 'pages five to ten'],
  ['640x480', 'six hundred forty by four hundred eighty'],
  ['3 × 4 = 12', 'three times four equals twelve'],
  ['1 < 2 and 2 > 1', 'one is less than two and two is greater than one'],
  ['#1 and ~7', 'number one and about seven'],
  ['Mr. Fox and Dr. Owl', 'mister Fox and doctor Owl'],
  ['a cat, e.g. this', 'a cat, for example this'],
  ['an owl etc.', 'an owl etcetera.'],
  ['the U.S. is', 'the U.S is'],
  ['me@example.com', 'me at example dot com'],
  ['A. B', 'A. B'],
  ['\uff11\uff12', 'twelve'],
]

test('numbers, dates, times, money, units, signs and abbreviations are words', () => {
  const tidy = (text: string) =>
    text
      .replace(/ +/g, ' ')
      .replace(/ (?=[,.])/g, '')
      .trim()
  for (const [text, words] of kCases) assert.equal(tidy(inEnglishWords(text)), words, text)
})

test('the voice sample lists all words that these become', async () => {
  using file = await open(new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/voice.gguf'))))
  const source = readFileSync(join(kRoot, 'wasm/src/audio/english.ts'), 'utf8')
  const tables = source.slice(source.indexOf('const kSmall'), source.indexOf('const digits'))
  const words = [...tables.matchAll(/'([a-z ]+)'/gi)].flatMap(([, some]) => some!.split(' '))
  const list = WordList.of(file)!
  // Keys of the tables are units and signs.
  const units = new Set([...tables.matchAll(/^ {2}'?([A-Za-z/]+)'?:/gm)].map(([, key]) => key))
  for (const word of words) if (!units.has(word) && word.length > 1) list.phonemize(word)
  for (const [text] of kCases) list.phonemize(inEnglishWords(text))
  for (let n = 1; n <= 100; ++n) list.phonemize(inEnglishWords(`${n}th ${n}`))
  for (let n = 1100; n < 2100; ++n) list.phonemize(inEnglishWords(`in ${n}, the ${n - (n % 10)}s`))
  assert.deepEqual([...list.spelled, ...list.lost], [])
})

test('letters of an abbreviation are read by their names, without a warning', () => {
  const names = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => [letter, letter.toLowerCase()]))
  const list = new WordList(names)
  assert.deepEqual(
    ['GPUs', 'U.S', 'JSON', 'B'].map((text) => list.phonemize(text)),
    ['g p uz', 'u s', 'j s o n', 'b'],
  )
  assert.deepEqual([...list.spelled], [])
  list.phonemize('word')
  assert.deepEqual([...list.spelled], ['word'])
})

test('a long text takes time in proportion to its length', () => {
  // A search that starts anew at each place would take minutes.
  for (const part of ['1', '1,', '1:', '$', '-', '½', 'a.', 'U.', ' ', '1 ', 'May '])
    assert.ok(inEnglishWords(part.repeat(300_000 / part.length)).length > 0)
})
