// The sparse preview on layouts that it has never seen, over a simulated link: its clock does not depend on this machine.
// tests/bench/unseen.ts runs a thousand of them.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedPreview } from '../fixtures/simulated-preview.ts'
import { madeWords, realWords, unseenHeader } from '../fixtures/unseen.ts'
import { realVocabularies } from '../fixtures/words.ts'
import { kShared, loadPackage } from './packed.ts'

const { open } = await loadPackage()
const kSpeed = { roundTripMs: 50, bytesPerMs: 6250 }
const kSeeds = 12
const folder = join(kShared, 'vocab')

for (const [name, skip] of [
  ['made words', false],
  ['words of real vocabularies', !existsSync(folder) && 'no ../shared beside the checkout'],
] as const)
  test(`unseen layouts of ${name}: right, and never later than the whole header`, { skip }, async () => {
    const pools = name === 'made words' ? [] : realVocabularies(folder)
    const words =
      pools.length === 0
        ? madeWords
        : (count: number, random: () => number) => realWords(pools, count, random)
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
