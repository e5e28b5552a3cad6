// Generation with and without drafts, in Node: npm run bench -- draft -- --types Q8_0,Q4_0 --rounds 7 --save
//
// Of models in the shape of SmolLM2-135M with random weights, whose logits are all 0: logitBias then decides which share of
// the draft's proposals is what the model says, whatever the text. The draft is a model a ninth of its size, an MTP head of
// one layer, or one of EAGLE-3 or DFlash. And of the sample, which writes a story and rows of JSON, with lookup and with
// itself as its draft. Runs of all contenders alternate; a figure is the median of the rates, and of the ratios to the run
// without a draft of the same round.
// --cpu: rates by the processor time of this process, for a machine that also does other work.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, type GenerateOptions, type Model } from 'ggufscope/engine'
import { kFirstText, kShapes, promptOf, type LlamaShape, type Mix } from '../fixtures/synthetic.ts'
import { zeroFile } from './common/draft-files.ts'
import { machine, median } from './common/figures.ts'
import { saveResults, type ResultRow } from './common/results.ts'

const kSample = join(import.meta.dirname, '../../web/public/sample.gguf')
const kLarge: LlamaShape = kShapes.find(({ name }) => name === 'SmolLM2-135M')!
/** A ninth of the weights of its layers, and half the width. */
const kSmall: LlamaShape = {
  ...kLarge,
  name: 'small',
  width: 288,
  blocks: 6,
  heads: 6,
  kvHeads: 6,
  feedForward: 768,
}
/** The token that a draft proposes, as all its logits are 0, and one that it never proposes. */
const kFirst = 0
const kOther = kFirstText

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: 'Q8_0,Q4_0' },
    shares: { type: 'string', default: '0,0.5,0.8,1' },
    drafts: { type: 'string', default: 'draft model,MTP head,EAGLE-3,DFlash' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '7' },
    tokens: { type: 'string', default: '40' },
    cpu: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
})

interface Contender {
  readonly name: string
  readonly model: Model
  readonly options: GenerateOptions
}
interface Run {
  readonly rate: number
  readonly accepted: number
}

function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Tokens a second after the first one, and the share of them that were proposed and accepted. */
async function timed(
  { model, options }: Contender,
  prompt: readonly number[],
  maxTokens: number,
): Promise<Run> {
  let accepted = 0
  let first = 0
  const now = () => (values.cpu ? cpuMilliseconds() : performance.now())
  let count = 0
  const onDone = (done: { acceptedDraftTokens: number }) => (accepted = done.acceptedDraftTokens)
  for await (const _ of model.generate(prompt, { ...options, maxTokens, ignoreEnd: true, onDone }))
    if (count++ === 0) first = now()
  return { rate: (1000 * (maxTokens - 1)) / (now() - first), accepted: accepted / maxTokens }
}

async function compare(
  title: string,
  contenders: readonly Contender[],
  prompt: (round: number) => readonly number[],
  { rounds, tokens }: { rounds: number; tokens: number },
): Promise<ResultRow[]> {
  const runs = contenders.map(() => [] as Run[])
  for (let round = -1; round < rounds; round++)
    for (const [i, contender] of contenders.entries()) {
      const run = await timed(contender, prompt(round + 1), tokens)
      if (round >= 0) runs[i]!.push(run)
    }
  return contenders.map(({ name }, i) => ({
    case: title,
    contender: name,
    tokensPerSecond: median(runs[i]!.map(({ rate }) => rate)),
    acceptedShare: median(runs[i]!.map(({ accepted }) => accepted)),
    timesAsFast: median(runs[i]!.map(({ rate }, round) => rate / runs[0]![round]!.rate)),
  }))
}

const threads = Number(values.threads)
const how = { rounds: Number(values.rounds), tokens: Number(values.tokens) }
const rows: ResultRow[] = []

for (const type of values.types.split(',') as Mix[]) {
  const large = readFileSync(await zeroFile(kLarge, type, 'head'))
  const options = { threads, contextLength: 512 }
  const drafts = {
    'draft model': await zeroFile(kSmall, type, 'plain'),
    'MTP head': await zeroFile(kLarge, type, 'head'),
    'EAGLE-3': await zeroFile(kLarge, type, 'eagle3'),
    DFlash: await zeroFile(kLarge, type, 'dflash'),
  }
  const models = [{ name: 'no draft', model: await load(large, options) }]
  for (const [name, path] of Object.entries(drafts))
    if (values.drafts.split(',').includes(name))
      models.push({ name, model: await load(large, { ...options, draft: readFileSync(path) }) })
  for (const share of values.shares.split(',').map(Number)) {
    // Of the two tokens that the model may say, the draft proposes the first one.
    const bias = share === 0 ? -100 : share === 1 ? 100 : Math.log(share / (1 - share))
    const said: GenerateOptions = { temperature: 1, seed: 1, topK: 0, topP: 1, minP: 0 }
    const sampling = { ...said, logitBias: { [kFirst]: 50 + bias, [kOther]: 50 } }
    const contenders = models.map((row) => ({ ...row, options: sampling }))
    const title = `SmolLM2-135M, ${type}, ${100 * share} % of proposals right`
    rows.push(...(await compare(title, contenders, (round) => promptOf(round, 32, kLarge.vocabulary), how)))
  }
  for (const { model } of models) model.close()
}

const sample = readFileSync(kSample)
const alone = await load(sample, { threads, contextLength: 256 })
const itself = await load(sample, { threads, contextLength: 256, draft: sample })
const kRow = String.raw`"{\"animal\": \"" [a-z]+ "\", \"sound\": \"" [a-z]+ "\", \"legs\": " [0-9] "}\n"`
/** A story of the model's own kind, and rows that repeat their keys. */
const kTexts: Readonly<Record<string, readonly [prompt: string, options: GenerateOptions]>> = {
  'sample, a story': ['Once upon a time, there was a little fox who lived in the forest. One day,', {}],
  'sample, rows of JSON': ['The animals are:\n', { grammar: `root ::= row+\nrow ::= ${kRow}` }],
}
for (const [title, [text, more]] of Object.entries(kTexts)) {
  const greedy: GenerateOptions = { temperature: 0, ...more }
  const contenders = [
    { name: 'no draft', model: alone, options: greedy },
    { name: 'lookup', model: alone, options: { ...greedy, lookup: 8 } },
    { name: 'draft model of the same size', model: itself, options: greedy },
  ]
  rows.push(
    ...(await compare(title, contenders, () => [...alone.tokenizer.encode(text)], { ...how, tokens: 120 })),
  )
}
for (const model of [alone, itself]) model.close()

console.log(`${machine()}, threads: ${threads}\n`)
console.log(
  '| case | contender | tokens a second | accepted | times as fast |\n| --- | --- | --: | --: | --: |',
)
for (const row of rows) {
  const [rate, share, ratio] = [row['tokensPerSecond'], row['acceptedShare'], row['timesAsFast']].map(Number)
  console.log(
    `| ${row.case} | ${row.contender} | ${rate!.toFixed(0)} | ${(100 * share!).toFixed(0)} % | ${ratio!.toFixed(2)} |`,
  )
}
if (values.save) saveResults('draft', {}, rows)
process.exit()
