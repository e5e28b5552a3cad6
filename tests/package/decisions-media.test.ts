// Decisions about images: the same probabilities as llama.cpp's server, through every door.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, test } from 'node:test'
import { generateObject } from 'ai'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { kSeeingTemplate, seeingDecider } from '../fixtures/seeing-decider.ts'
import { engine } from './engine.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'
import { serving } from './serving.ts'

const { createDecision, load } = engine
const { createGgufscope } = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof Ai
const { open } = await loadNodePackage()
const { model: bytes, projector, pictures } = await seeingDecider(open)
const folder = mkdtempSync(join(tmpdir(), 'decisions-media-'))
after(() => rmSync(folder, { recursive: true }))
const path = (name: string): string => join(folder, name)
writeFileSync(path('model.gguf'), bytes)
writeFileSync(path('mmproj.gguf'), projector)
pictures.forEach((picture, i) => writeFileSync(path(`${i}.png`), picture))

interface Recorded {
  readonly template: string
  readonly question: Engine.ChoiceQuestion
  readonly state: string
  /** the probabilities for so many pictures */
  readonly answers: readonly Readonly<Record<string, number>>[]
}
const { template, question, state, answers } = JSON.parse(
  readFileSync(join(kRoot, 'tests/fixtures/decisions-media.json'), 'utf8'),
) as Recorded

const loaded = () =>
  load<Engine.Model>(bytes.slice(), {
    projector: projector.slice(),
    precision: 'exact',
    cacheType: 'f32',
    threads: 1,
  })
const dataOf = (picture: Uint8Array): string =>
  `data:image/png;base64,${Buffer.from(picture).toString('base64')}`

function same(got: Readonly<Record<string, number>>, n: number): void {
  const want = answers[n]!
  assert.deepEqual(Object.keys(got), Object.keys(want))
  for (const [name, p] of Object.entries(want))
    assert.ok(Math.abs(got[name]! - p) <= 2e-3, `${name} with ${n} pictures: ${got[name]}, not ${p}`)
}

test('images change a decision as they do in llama.cpp', async () => {
  assert.equal(template, kSeeingTemplate)
  using model = await loaded()
  for (const n of answers.keys()) {
    const media = pictures.slice(0, n).map((image) => ({ type: 'image', image }) as const)
    const tokens: number[] = []
    const { probabilities } = await model.decide(
      { state, ...question, media },
      { onDone: (done) => void tokens.push(done.tokens) },
    )
    same(probabilities, n)
    assert.ok(tokens[0]! > 0)
    const all = await model.decideAll({ state, questions: { answer: question }, media })
    assert.deepEqual((all.answer as Engine.ChoiceDecision).probabilities, probabilities)
    const images = pictures.slice(0, n).map(dataOf)
    for (const name of ['images', 'files']) {
      const answer = await createDecision(model, { state, questions: { answer: question }, [name]: images })
      assert.deepEqual((answer.answers['answer'] as Engine.ChoiceDecision).probabilities, probabilities)
    }
  }
  assert.notDeepEqual(answers[0], answers[1])
})

test('images of a decision come through the AI SDK, the command line and the server', async () => {
  using model = await loaded()
  const { providerMetadata } = await generateObject({
    model: createGgufscope(model)(),
    output: 'enum',
    enum: Object.keys(question.criteria),
    system: question.instructions as string,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'file', data: pictures[0]!, mediaType: 'image/png' },
          { type: 'text', text: state },
        ],
      },
    ],
  })
  const decision = providerMetadata!['ggufscope']!['decision'] as unknown as Engine.ChoiceDecision
  same(decision.probabilities, 1)

  const exact = ['--precision', 'exact', '--cache-type', 'f32', '--threads', '1']
  const options = Object.keys(question.criteria).flatMap((name) => ['--option', name])
  const ask = ['decide', path('model.gguf'), state, '--question', question.instructions as string, ...options]
  const ran = await runCli([
    ...ask,
    '--image',
    path('0.png'),
    '--mmproj',
    path('mmproj.gguf'),
    '--json',
    ...exact,
  ])
  assert.equal(ran.status, 0, ran.err)
  const { answers: given } = JSON.parse(ran.out) as Engine.DecisionAnswer
  same((given['answer'] as Engine.ChoiceDecision).probabilities, 1)

  await serving(path('model.gguf'), ['--mmproj', path('mmproj.gguf'), ...exact.slice(0, 4)], async (post) => {
    const request = { state, questions: { answer: question } }
    const response = await post('/v1/systemone', { ...request, images: pictures.map(dataOf) })
    assert.equal(response.status, 200, await response.clone().text())
    const body = (await response.json()) as Engine.DecisionAnswer
    same((body.answers['answer'] as Engine.ChoiceDecision).probabilities, pictures.length)
    const bad = await post('/v1/systemone', { ...request, images: ['data:image/png;base64,AAAA'] })
    assert.equal(bad.status, 400)
  })
})

test('what a decision cannot read is refused with the reason', async () => {
  const media = [{ type: 'image', image: pictures[0]! }] as const
  using blind = await load<Engine.Model>(bytes.slice(), { threads: 1 })
  await assert.rejects(blind.decide({ state, ...question, media }), {
    code: 'unsupported',
    message: /without a projector/,
  })
  using model = await loaded()
  await assert.rejects(model.decide({ state, ...question, media: 'x' as never }), {
    code: 'invalid-argument',
  })
  const sound = { type: 'audio', audio: new Float32Array(1600) } as const
  await assert.rejects(model.decide({ state, ...question, media: [sound] }), { code: 'unsupported' })
  await assert.rejects(
    createDecision(model, { state, questions: { answer: question }, images: ['data:text/plain,x'] }),
    { code: 'invalid-argument' },
  )
  const withoutImages = await seeingDecider(open, kSeeingTemplate.replace(/^.*endfor %}(?={{ state)/, ''))
  using deaf = await load<Engine.Model>(withoutImages.model, { projector: projector.slice(), threads: 1 })
  await assert.rejects(deaf.decide({ state, ...question, media }), {
    code: 'unsupported',
    message: /"systemone" leaves out images/,
  })
  // A head of its own reads no images here.
  const { model: withHead } = await seeingDecider(open, kSeeingTemplate, 'clef')
  using headed = await load<Engine.Model>(withHead, { projector: projector.slice(), threads: 1 })
  await assert.rejects(headed.decide({ state, ...question, media }), {
    code: 'unsupported',
    message: /clef read text alone.*lfm2-d1/,
  })
})
