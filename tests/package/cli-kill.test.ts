// Kills the process a few times, and fills a disk. tests/faults/outputs.ts does it 200 times with larger files.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testOutputs } from '../faults/outputs.ts'
import { kAll } from '../fixtures/short.ts'

test('killed at random moments and on a full disk: no input is changed, no output is cut', async () => {
  const kills = kAll ? 16 : 5
  const figures = await testOutputs(kills, 4e6, 7)
  assert.equal(figures.kills, kills)
  assert.ok(figures.full >= 7)
})
