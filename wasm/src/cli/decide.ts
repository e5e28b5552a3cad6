// The command decide: probabilities of a question's options.
import { quoted } from '../api/errors.js'
import { createDecision, type DecisionQuestion, type DecisionRequest } from '../engine/index.js'
import { textModelOf } from '../engine/model-kinds.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { kLoadOptions, loadOptionsOf } from './engine-options.js'
import { readInput } from './inputs.js'
import { kProjectorOptions, openProjector } from './projector.js'
import { readText } from './text.js'

const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : [])

/** NAME, or NAME=DESCRIPTION. */
function optionOf(text: string): [name: string, description: string | null] {
  const at = text.indexOf('=')
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
}

function questionOf({ values }: Context): DecisionQuestion {
  const instructions = values['question']
  if (typeof instructions !== 'string')
    throw new UsageError('decide needs a question: --question TEXT, or --request FILE')
  const options = texts(values['option'])
  const levels = texts(values['level'])
  if (options.length > 0 && levels.length > 0)
    throw new UsageError('a question has options or levels: --option or --level, not both')
  if (options.length > 0)
    return { type: 'choice', instructions, criteria: Object.fromEntries(options.map(optionOf)) }
  return levels.length > 0
    ? { type: 'score', instructions, criteria: levels }
    : { type: 'noul', instructions }
}

/** Images and sounds as data: addresses. Their bytes say what they are. */
async function mediaOf({ values }: Context): Promise<string[]> {
  const files = (['image', 'audio'] as const).flatMap((kind) =>
    texts(values[kind]).map(async (path) => {
      const bytes = await readInput(path, `--${kind}`)
      return `data:${kind}/*;base64,${Buffer.from(bytes).toString('base64')}`
    }),
  )
  return await Promise.all(files)
}

async function requestOf(context: Context): Promise<DecisionRequest> {
  const { values, positionals } = context
  const path = values['request']
  if (typeof path === 'string') {
    const text = await readText(path, '--request')
    try {
      return JSON.parse(text) as DecisionRequest
    } catch (error) {
      throw new UsageError(`--request ${path} is no JSON: ${quoted(error)}`)
    }
  }
  return {
    state: positionals[1] ?? (await readText('-', 'the state')),
    questions: { answer: questionOf(context) },
    files: await mediaOf(context),
  }
}

const percent = (p: number): string => `${(100 * p).toFixed(1).padStart(5)} %`

export const command: Command = {
  arguments: [
    { ...kFile, help: 'is a decision model' },
    { name: 'state', optional: true, help: 'is what the question is about; default: standard input' },
  ],
  options: {
    question: {
      value: 'TEXT',
      help: 'the question; without options or levels: a statement that is true or not',
    },
    option: { value: 'NAME[=TEXT]', repeats: true, help: 'an option of a choice, with a description' },
    level: { value: 'TEXT', repeats: true, help: 'the description of a level of a score, the lowest first' },
    request: {
      value: 'FILE',
      file: 'read',
      help: 'a request in JSON, as /v1/systemone takes it: state and questions; "-": standard input',
    },
    image: { value: 'FILE', file: 'read', repeats: true, help: 'an image that the question is about' },
    audio: { value: 'FILE', file: 'read', repeats: true, help: 'a sound that the question is about' },
    ...kProjectorOptions,
    ...kLoadOptions,
  },
  async run(context) {
    const { positionals, values, progress, signal } = context
    const own = loadOptionsOf(values)
    const request = await requestOf(context)
    using projector = await openProjector(context)
    const beside = (request.files?.length ?? 0) > 0 ? 'auto' : undefined
    const loading = { ...own, projector: projector ?? beside }
    using model = textModelOf(await context.load(loading, positionals[0]))
    const answer = await createDecision(model, request, { signal })
    progress.clear()
    if (context.json) {
      context.printJson(answer)
      return 0
    }
    for (const [name, decision] of Object.entries(answer.answers)) {
      const title = Object.keys(answer.answers).length > 1 ? `${name}: ` : ''
      if (decision.type === 'noul') {
        context.print(`${title}${percent(decision.noul)} yes`)
        continue
      }
      const result = decision.type === 'choice' ? decision.choice : decision.score.toFixed(2)
      context.print(`${title}${result} (confidence ${decision.confidence.toFixed(2)})`)
      for (const [option, p] of Object.entries(decision.probabilities))
        context.print(`  ${percent(p)} ${option}`)
    }
    return 0
  },
}
