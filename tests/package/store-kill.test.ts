// Kills downloads into a cache a few times, and lets two processes use it. tests/faults/downloads.ts does it 50 times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDownloads } from '../faults/downloads.ts'
import { kAll } from '../fixtures/short.ts'

test('processes that are killed, and two at once, leave a cache with the right bytes', async () => {
  const kills = kAll ? 50 : 5
  const figures = await testDownloads(kills, 4e6, 7)
  assert.equal(figures.kills, kills)
})
