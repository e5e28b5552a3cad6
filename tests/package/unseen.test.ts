// The sparse preview on unknown layouts, over a simulated link whose clock does not depend on this machine.
// tests/bench/unseen.ts runs a thousand of them.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { kAll } from '../fixtures/short.ts'
import { simulatedPreview } from '../fixtures/simulated-preview.ts'
import { kUnseenShapes, madeWords, realWords, unseenHeader, type Vocabulary } from '../fixtures/unseen.ts'
import { realVocabularies } from '../fixtures/words.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadPackage } from './packed.ts'

const { open } = await loadPackage()
const kSpeed = { roundTripMs: 50, bytesPerMs: 6250 }
const kSeeds = kAll ? 12 : 4
const folder = join(kShared, 'vocab')

const generators = [
  ['made words', false],
  ['words of real vocabularies', skipWithout(folder)],
] as const

function vocabularyOf(name: string): Vocabulary {
  if (name === 'made words') return madeWords
  const pools = realVocabularies(folder)
  return (count, random) => realWords(pools, count, random)
}

// Layouts of made words that took one to four round trips more when samples and windows waited for each other.
const kSlow = [
  { seed: 20_130, title: 'tokens after their types, without the key of their kind', most: 400 },
  { seed: 20_230, title: 'as many merges as tokens', most: 290 },
  { seed: 20_370, title: 'merges with five times the bytes of the tokens, and no types', most: 345 },
  { seed: 20_378, title: 'merges with twice the bytes of the tokens', most: 350 },
  { seed: 20_478, title: 'merges before types and tokens', most: 400 },
  { seed: 10_528, title: 'types after merges with four times the bytes of the tokens', most: 430 },
  { seed: 43_046, title: 'tokens with 40 % of the bytes that their first words let expect', most: 360 },
  { seed: 60_208, title: 'scores after tokens, without the key of their kind', most: 375 },
  { seed: 40_286, title: 'scores and no types', most: 370 },
  { seed: 70_642, title: 'a short list where the first bytes end', most: 340 },
] as const

// Layouts of made words whose first samples came too late for a stream that is to end in time.
const kLate = [
  {
    seed: 10_122,
    title: 'tokens that end before their first sample',
    link: { roundTripMs: 20, bytesPerMs: 50_000 },
  },
  {
    seed: 10_656,
    title: 'a search that ends beside its stream',
    link: { roundTripMs: 20, bytesPerMs: 50_000 },
  },
  { seed: 10_312, title: 'merges that end before their first sample', link: kSpeed },
  {
    seed: 8214,
    title: 'a stream beside large reads',
    link: { roundTripMs: 200, bytesPerMs: 1000 },
  },
  {
    seed: 7726,
    title: 'a stream that begins while a window is under way',
    link: { roundTripMs: 200, bytesPerMs: 1000 },
  },
  {
    seed: 41_534,
    title: 'a stream that is about to deliver what is missing',
    link: { roundTripMs: 200, bytesPerMs: 1000 },
  },
  { seed: 80_034, title: 'a small header that seems large', link: kSpeed },
  {
    seed: 42_200,
    title: 'tokens with less than half of the bytes that their first words let expect',
    link: { roundTripMs: 20, bytesPerMs: 50_000 },
  },
  {
    seed: 70_493,
    title: 'tensor infos of which a part is under way',
    link: { roundTripMs: 200, bytesPerMs: 1000 },
  },
] as const

for (const { seed, title, most } of kSlow)
  test(`an unseen layout with ${title}: few round trips`, async () => {
    const { isRight, ms, bytes } = await simulatedPreview(open, unseenHeader(seed, madeWords), kSpeed, 'auto')
    assert.ok(isRight)
    assert.ok(ms <= most, `${ms} ms`)
    assert.ok(bytes <= 500_000, `${bytes} bytes`)
  })

for (const { seed, title, link } of kLate)
  test(`an unseen layout with ${title}: not later than the whole header`, async () => {
    const unseen = unseenHeader(seed, madeWords)
    const { isRight, ms } = await simulatedPreview(open, unseen, link, 'auto')
    assert.ok(isRight)
    const full = link.roundTripMs + unseen.header.length / link.bytesPerMs
    assert.ok(ms <= full + link.roundTripMs, `${ms} ms where the whole header takes ${full}`)
  })

// The first bytes make such a link look so fast that reading the whole header seems best.
for (const burst of [200_000, 800_000, 1_600_000])
  test(`a link that sends its first ${burst / 1000} kB ten times as fast: searched all the same`, async () => {
    let seed = 31_000 + burst
    for (const [title, shape] of Object.entries(kUnseenShapes)) {
      const unseen = unseenHeader(seed++, madeWords, shape)
      if (unseen.header.length < 4e6) continue
      const { isRight, ms, bytes } = await simulatedPreview(open, unseen, { ...kSpeed, burst }, 'auto')
      assert.ok(isRight, title)
      assert.ok(ms <= 550, `${title}: ${ms} ms`)
      assert.ok(bytes <= burst + 2_000_000, `${title}: ${bytes} bytes`)
    }
  })

// Bytes that are buffered while the page is busy make a link look fast, and its first answer late.
for (const [from, until] of [
  [30, 90],
  [30, 130],
  [51, 110],
  [51, 150],
] as const)
  test(`a page that is busy from ${from} to ${until} ms: searched all the same`, async () => {
    let seed = 33_000 + until + from
    for (const [title, shape] of Object.entries(kUnseenShapes)) {
      const unseen = unseenHeader(seed++, madeWords, shape)
      if (unseen.header.length < 4e6) continue
      const link = { ...kSpeed, busy: [[from, until]] as const }
      const { isRight, ms, bytes } = await simulatedPreview(open, unseen, link, 'auto')
      assert.ok(isRight, title)
      assert.ok(ms <= until + 420, `${title}: ${ms} ms`)
      assert.ok(bytes <= 2_300_000, `${title}: ${bytes} bytes`)
    }
  })

for (const [name, skip] of generators) {
  test(`unseen layouts of ${name}: right, and never later than the whole header`, { skip }, async () => {
    const words = vocabularyOf(name)
    for (let seed = 5000; seed < 5000 + kSeeds; seed++) {
      const unseen = unseenHeader(seed, words)
      const { isRight, ms } = await simulatedPreview(open, unseen, kSpeed, 'auto')
      assert.ok(isRight, `seed ${seed}`)
      const full = kSpeed.roundTripMs + unseen.header.length / kSpeed.bytesPerMs
      assert.ok(
        ms <= full + kSpeed.roundTripMs,
        `seed ${seed}: ${ms} ms where the whole header takes ${full}`,
      )
    }
  })

  test(`usual shapes of ${name}: few bytes, and soon`, { skip }, async () => {
    const words = vocabularyOf(name)
    let seed = 30_000
    for (const [title, shape] of Object.entries(kUnseenShapes)) {
      const unseen = unseenHeader(seed++, words, shape)
      const { isRight, ms, bytes } = await simulatedPreview(open, unseen, kSpeed, 'auto')
      assert.ok(isRight, title)
      const full = kSpeed.roundTripMs + unseen.header.length / kSpeed.bytesPerMs
      assert.ok(ms <= full + kSpeed.roundTripMs, `${title}: ${ms} ms where the whole header takes ${full}`)
      if (unseen.header.length < 4e6) continue
      assert.ok(ms <= 450, `${title}: ${ms} ms`)
      assert.ok(bytes <= 500_000, `${title}: ${bytes} bytes`)
    }
  })
}
