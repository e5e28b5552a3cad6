// The choice of readers by the time of tokens: made-up clocks, whatever the machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReaderTrial } from '../../wasm/src/engine/readers.ts'

/** Tokens until the trial is settled, of `times[choice]` ms each and every seventh ten times as long. */
function settle(times: readonly number[]): { choice: number; tokens: number } {
  let choice = 0
  const trial = new ReaderTrial((chosen) => (choice = chosen))
  let tokens = 0
  for (; !trial.settled && tokens < 10_000; tokens++) trial.took(times[choice]! * (tokens % 7 === 6 ? 10 : 1))
  assert.ok(trial.settled)
  const settled = choice
  trial.took(1000)
  assert.equal(choice, settled, 'nothing is tried any more')
  return { choice, tokens }
}

for (const [times, choice] of [
  [[20, 16], 1],
  [[16, 20], 0],
  [[20, 19.9], 0],
  [[1, 0.5], 1],
  [[300, 200], 1],
] as const)
  test(`of tokens of ${times.join(' and ')} ms choice ${choice} is kept`, () => {
    const settled = settle(times)
    assert.equal(settled.choice, choice)
    // 300 ms of warming up, at least eight of each, then eight of each
    assert.ok(
      settled.tokens >= 32 && settled.tokens <= 16 + Math.max(16, 300 / Math.min(...times)),
      `${settled.tokens}`,
    )
  })
