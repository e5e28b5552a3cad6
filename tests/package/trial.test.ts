// Choices by the time of tokens, tested with simulated times that do not depend on the machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Trial } from '../../wasm/src/engine/trial.ts'

/**
 * Runs a trial with tokens of `times[choice]` ms, every seventh ten times as long. Returns the choice and token count.
 */
function settle(times: readonly number[]): { choice: number; tokens: number } {
  let choice = 0
  const trial = new Trial({ choices: times.length, use: (chosen) => (choice = chosen) })
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
  [[20, 16, 18], 1],
  [[20, 18, 12], 2],
  [[20, 21, 40], 0],
] as const)
  test(`of tokens of ${times.join(' and ')} ms choice ${choice} is kept`, () => {
    const settled = settle(times)
    assert.equal(settled.choice, choice)
    // 300 ms for warming up, at least sixteen tokens in all, then six of each choice in turn
    const counted = 6 * times.length
    assert.ok(
      settled.tokens >= 16 + counted &&
        settled.tokens < counted + times.length + Math.max(16, 300 / Math.min(...times)),
      `${settled.tokens}`,
    )
  })

test('a second choice is tried once the first is settled, without warming up again', () => {
  const chosen = [0, 0]
  const tried: number[][] = []
  const trial = new Trial(
    { choices: 2, use: (choice) => (chosen[0] = choice) },
    { choices: 2, use: (choice) => (chosen[1] = choice) },
  )
  let tokens = 0
  for (; !trial.settled && tokens < 10_000; tokens++) {
    tried.push([...chosen])
    // In each trial, the second choice saves a tenth.
    trial.took(30 * 0.9 ** (chosen[0]! + chosen[1]!))
  }
  assert.deepEqual(chosen, [1, 1])
  assert.equal(tokens, 40)
  assert.ok(tried.slice(0, 28).every(([, second]) => second === 0))
  assert.ok(tried.slice(28).every(([first]) => first === 1))
})
