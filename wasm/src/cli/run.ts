import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import type { GenerateOptions, GenerateResult, JsonSchema } from '../engine/index.js'
import { UsageError, type Command } from './command.js'
import { profileLines } from './profile.js'

const kNumbers = {
  'max-tokens': 'maxTokens',
  temperature: 'temperature',
  'top-k': 'topK',
  'top-p': 'topP',
  'min-p': 'minP',
  'repeat-penalty': 'repeatPenalty',
  seed: 'seed',
} as const satisfies Record<string, keyof GenerateOptions>

function parsed(schema: string): JsonSchema {
  try {
    return JSON.parse(schema) as JsonSchema
  } catch (error) {
    throw new UsageError(`--schema: ${String(error)}`)
  }
}

export const command: Command = {
  options: {
    chat: { type: 'boolean' },
    context: { type: 'string' },
    grammar: { type: 'string' },
    profile: { type: 'boolean' },
    schema: { type: 'string' },
    stop: { type: 'string', multiple: true },
    ...Object.fromEntries(Object.keys(kNumbers).map((name) => [name, { type: 'string' as const }])),
  },
  help: [
    '--chat            run: the text is a message, answered through the chat template',
    '--max-tokens N    run: end after so many tokens',
    '--context N       run: tokens that prompt and answer may have together',
    '--grammar FILE    run: the answer keeps to this grammar (GBNF)',
    '--schema FILE     run: the answer is JSON that this JSON schema accepts',
    '--stop TEXT       run: end before this text; may be given again',
    '--profile         run: tell where the time went, and what the machine allows',
    '--temperature T --top-k K --top-p P --min-p P --repeat-penalty R --seed S   run: sampling',
  ],
  async run(context) {
    const { positionals, values, print, style } = context
    const number = (name: string): number | undefined => {
      const value = values[name]
      if (value === undefined) return undefined
      if (value === '' || !Number.isFinite(Number(value))) throw new UsageError(`--${name} takes a number`)
      return Number(value)
    }
    const contents = async (name: string): Promise<string | undefined> => {
      const path = values[name]
      if (typeof path !== 'string') return undefined
      return await readFile(path, 'utf8').catch((error: unknown) => {
        throw new UsageError(`--${name}: ${error instanceof Error ? error.message : String(error)}`)
      })
    }
    const schema = await contents('schema')
    let result: GenerateResult | undefined
    const options: GenerateOptions = {
      ...Object.fromEntries(Object.entries(kNumbers).map(([name, key]) => [key, number(name)])),
      grammar: await contents('grammar'),
      schema: schema === undefined ? undefined : parsed(schema),
      stop: (values['stop'] ?? []) as readonly string[],
      onDone: (done) => (result = done),
    }
    const contextLength = number('context')
    const input = positionals.length > 1 ? positionals.slice(1).join(' ') : await readAll(process.stdin)
    using model = await context.load({ contextLength })
    const profiled = values['profile'] === true
    if (profiled) await model.profile() // begins it
    const pieces =
      values['chat'] === true
        ? model.chat([{ role: 'user', content: input }], options)
        : model.generate(input, options)
    let all = ''
    for await (const { text } of pieces) {
      all += text
      if (!context.json) process.stdout.write(text)
    }
    const profile = profiled ? { operations: await model.profile(), peaks: await model.peaks() } : undefined
    if (context.json) {
      context.printJson({ text: all, ...result, profile })
    } else {
      print('')
      const { tokens = 0, generateMs = 0, promptTokens = 0, promptMs = 0 } = result ?? {}
      const rate = (count: number, ms: number) => (ms > 0 ? ((count / ms) * 1000).toFixed(0) : '-')
      print(
        style.dim(
          `${promptTokens} tokens of prompt at ${rate(promptTokens, promptMs)}/s, ${tokens} generated at ${rate(tokens, generateMs)}/s, ${model.info.variant}`,
        ),
      )
      if (profile)
        profileLines(profile.operations, profile.peaks, model.info.variant, style).forEach((line) =>
          print(line),
        )
    }
    return 0
  },
}
