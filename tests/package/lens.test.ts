// The worker of the viewer's tensor lens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pause } from '../../web/src/lib/lens/pause.ts'

// A view begins while the one before it still computes: both wait, and the older one may have begun to wait later.
test('all who wait for messages go on', { timeout: 10_000 }, async () => {
  const done: number[] = []
  const wait = async (name: number) => {
    await pause()
    done.push(name)
  }
  await Promise.all([wait(0), wait(1), wait(2)])
  assert.deepEqual(done, [0, 1, 2])
})
