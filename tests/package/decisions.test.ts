// Decision models against llama.cpp's server: the same answers to the same requests, for every type of decision model.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { decisionModel, recordedDecisions as recorded } from '../fixtures/decision-models.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine } from './engine.ts'
import { kRoot, loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'
import { serving } from './serving.ts'
import { smallDecider } from './small-decider.ts'
import { kVectors } from './vectors.ts'

const { createDecision, lintLoad, load } = engine
const { open } = await loadNodePackage()

const skip = skipWithout(join(kVectors, 'new/arch'))

/** Numbers within the models' noise; everything else equal. */
function same(got: unknown, want: unknown, where: string): void {
  if (typeof want === 'number' && typeof got === 'number') {
    assert.ok(Math.abs(got - want) <= 2e-3, `${where}: ${got}, not ${want}`)
  } else if (typeof want === 'object' && want !== null && typeof got === 'object' && got !== null) {
    assert.deepEqual(Object.keys(got), Object.keys(want), where)
    for (const [key, value] of Object.entries(want)) same((got as never)[key], value, `${where}.${key}`)
  } else assert.deepEqual(got, want, where)
}

for (const name of Object.keys(recorded.models))
  test(`${name} decides as llama.cpp's server`, { skip }, async () => {
    const bytes = await decisionModel(open, name)
    using file = await open(bytes)
    assert.deepEqual(await lintLoad(file), [])
    using model = await load<Engine.Model>(bytes, {
      precision: 'exact',
      cacheType: 'f32',
      threads: 1,
    })
    assert.ok(model.info.abilities.includes('decide'), model.info.abilities.join())
    for (const [i, request] of recorded.requests.entries()) {
      if (typeof request !== 'object' || Array.isArray(request)) continue // the server's test sends these
      const [status, want] = recorded.answers[name]![i]!
      const asked = createDecision(model, request as Engine.DecisionRequest)
      const where = `${name}, request ${i}`
      if (status === 200) {
        const { model: _, ...got } = await asked
        same(got, want, where)
      } else if (status === 501) {
        await assert.rejects(asked, { code: 'unsupported' }, where)
      } else {
        await assert.rejects(asked, { message: String(want) }, where)
      }
    }
  })

test(
  'the server answers /v1/systemone as llama.cpp does, also requests that are no objects',
  { skip },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'decisions-'))
    const file = join(folder, 'lev.gguf')
    writeFileSync(file, await decisionModel(open, 'lev'))
    try {
      await serving(file, ['--precision', 'exact', '--cache-type', 'f32'], async (post) => {
        for (const [i, request] of recorded.requests.entries()) {
          const [status, want] = recorded.answers['lev']![i]!
          const response = await post('/v1/systemone', request)
          const body = (await response.json()) as { model?: string; error?: { message: string } }
          const where = `request ${i}`
          assert.equal(response.status, status, `${where}: ${JSON.stringify(body)}`)
          if (status === 200) {
            const { model: _, ...got } = body
            same(got, want, where)
          } else if (status !== 501) assert.equal(body.error?.message, want, where)
        }
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

const kQuestion = {
  state: 'Bees fly to the flowers.',
  type: 'choice',
  instructions: 'What do they make?',
  criteria: { honey: 'sweet', milk: null, nests: null },
} as const

test('decide() and decideAll() agree, count tokens, and name the options', async () => {
  using model = await load<Engine.Model>(await smallDecider(open), { threads: 1 })
  const counts: number[] = []
  const onDone = ({ tokens }: { tokens: number }) => void counts.push(tokens)
  const one = await model.decide(kQuestion, { onDone })
  assert.deepEqual(Object.keys(one.probabilities), ['honey', 'milk', 'nests'])
  assert.ok(Math.abs(Object.values(one.probabilities).reduce((a, b) => a + b) - 1) < 1e-6)
  const { state, ...question } = kQuestion
  const holds = { type: 'noul', instructions: 'Do bees fly?' } as const
  const levels = { type: 'score', instructions: 'How far?', criteria: ['near', 'far', 'very far'] } as const
  const all = await model.decideAll({ state, questions: { question, holds, levels } }, { onDone })
  assert.deepEqual(all.question, one)
  assert.ok(all.holds.noul > 0 && all.holds.noul < 1)
  assert.ok(all.levels.score >= 0 && all.levels.score <= 2)
  assert.ok(counts[0]! > 10 && counts[1]! > counts[0]!, counts.join())
})

test('a signal aborts a decision, and the model goes on', async () => {
  using model = await load<Engine.Model>(await smallDecider(open), { threads: 1 })
  await assert.rejects(model.decide(kQuestion, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  const controller = new AbortController()
  const long = { ...kQuestion, state: 'Bees fly. '.repeat(20) }
  const decision = model.decide(long, { signal: controller.signal })
  setImmediate(() => controller.abort())
  await assert.rejects(decision, { name: 'AbortError' })
  assert.equal((await model.decide(kQuestion)).type, 'choice')
})

test('an image in the state is refused, not written into the prompt', async () => {
  using model = await load<Engine.Model>(await smallDecider(open))
  const ask = (type: string, more: object) =>
    model.decide({
      state: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type, ...more },
          ],
        },
      ] as never,
      type: 'noul',
      instructions: 'Is it red?',
    })
  await assert.rejects(ask('image', { image: new Uint8Array(3) }), { code: 'unsupported' })
  await assert.rejects(ask('image_url', { image_url: { url: 'data:,' } }), { code: 'unsupported' })
  await assert.rejects(ask('input_audio', { input_audio: {} }), { code: 'unsupported' })
  assert.ok((await ask('text', { text: 'It is red.' })).noul! > 0)
})

test('a model that decides nothing says so', async () => {
  using model = await load<Engine.Model>(readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')), {
    threads: 1,
  })
  assert.ok(!model.info.abilities.includes('decide'))
  await assert.rejects(model.decide(kQuestion), { code: 'unsupported' })
})

test('the command decide prints percentages', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'decisions-'))
  try {
    const file = join(folder, 'decider.gguf')
    writeFileSync(file, await smallDecider(open))
    const ask = ['decide', file, kQuestion.state, '--threads', '1', '--question', 'Which?']
    const chosen = await runCli([...ask, '--option', 'honey=sweet', '--option', 'milk'])
    assert.match(chosen.out, /^(honey|milk) \(confidence [01]\.\d\d\)\n +[\d.]+ % honey\n +[\d.]+ % milk\n$/)
    const scored = await runCli([...ask, '--level', 'low', '--level', 'high'])
    assert.match(scored.out, /^[01]\.\d\d \(confidence [01]\.\d\d\)\n +[\d.]+ % 0\n +[\d.]+ % 1\n$/)
    assert.match((await runCli(ask)).out, /^ *[\d.]+ % yes\n$/)
    const both = await runCli([...ask, '--level', 'low', '--option', 'high'])
    assert.equal(both.status, 2)
    assert.match(both.err, /not both/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
