// Parses the words of a command line by the command's table of options.
import { parseArgs } from 'node:util'
import { nearest } from '../api/nearest.js'
import { anyOf } from './any-of.js'
import {
  kShared,
  UsageError,
  type Argument,
  type Command,
  type CommandRow,
  type Option,
  type Options,
  type Values,
} from './command.js'
import { kCommands } from './commands.js'

/** The error for an option that the command lacks. */
async function unknown(row: CommandRow, given: string, options: Options): Promise<UsageError> {
  const name = given.replace(/^-+/, '')
  const what = `${row.name} has no option ${given}`
  const close = nearest(name, Object.keys(options))
  if (close !== undefined) return new UsageError(`${what}: did you mean --${close}?`)
  const others: string[] = []
  for (const other of kCommands)
    if (Object.hasOwn((await other.load()).command.options ?? {}, name)) others.push(other.name)
  return new UsageError(others.length > 0 ? `${what}: ${anyOf(others)} has it` : what)
}

const worded = ({ name }: Argument): string => name.replaceAll('-', ' ')

function checkCount(
  row: CommandRow,
  wanted: readonly Argument[],
  given: readonly string[],
  options: Options,
): void {
  const min = wanted.filter(({ optional }) => !optional)
  const lacking = min[given.length]
  if (lacking) {
    const what = lacking.file ? 'which file?' : `which ${worded(lacking)}?`
    throw new UsageError(`${what} ${usageOf(row, wanted)}`)
  }
  if (!wanted.at(-1)?.repeats && given.length > wanted.length) {
    const left = given.slice(wanted.length).map((word) => `"${word}"`)
    // llama-quantize and others take the output after the input.
    const output = options['output'] && given.slice(1).find((word) => word.endsWith('.gguf'))
    const why = output ? `the file to write is an option, --output ${output}` : usageOf(row, wanted)
    throw new UsageError(`${row.name} does not use ${left.join(' ')}: ${why}`)
  }
}

function checkChoice(what: string, { choices }: Option | Argument, value: string): void {
  if (choices && !choices.includes(value))
    throw new UsageError(`${what} is ${anyOf(choices)}, not "${value}"`)
}

function checkTogether(values: Values, options: Options): void {
  for (const [name, { needs, excludes = [] }] of Object.entries(options)) {
    if (values[name] === undefined) continue
    if (needs !== undefined && values[needs] === undefined) throw new UsageError(`--${name} needs --${needs}`)
    for (const other of excludes)
      if (values[other] !== undefined) throw new UsageError(`--${name} and --${other}: one of them`)
  }
}

/** "ggufscope merge <file-or-url> [options]" */
export function usageOf(row: CommandRow, wanted: readonly Argument[]): string {
  const words = wanted.map(({ name, optional, repeats, choices }) => {
    const one = optional ? `[${name}` : choices ? choices.join('|') : `<${name}>`
    return `${one}${repeats ? '...' : ''}${optional ? ']' : ''}`
  })
  return ['ggufscope', row.name, ...words, '[options]'].join(' ')
}

export interface Parsed {
  readonly positionals: readonly string[]
  readonly values: Values
}

/** Parses the words of a call by the command's table. Throws a UsageError for anything that it does not know. */
export async function parse(row: CommandRow, command: Command, args: readonly string[]): Promise<Parsed> {
  const options: Options = { ...kShared, ...command.options }
  const config = Object.entries(options).map(([name, { value, short, repeats = false }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', multiple: repeats, ...(short && { short }) },
  ])
  const { tokens, positionals } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(config) as Record<string, { type: 'string' | 'boolean' }>,
  })
  const values: Record<string, string | boolean | string[]> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) throw await unknown(row, token.rawName, options)
    const { name, value, rawName, inlineValue } = token
    if (option.value === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value`)
      values[name] = true
      continue
    }
    if (value === undefined || (!inlineValue && /^-[^\d.]/.test(value)))
      throw new UsageError(`${rawName} takes a value: ${option.value} (--${name}=... where it begins with -)`)
    checkChoice(`--${name}`, option, value)
    if (option.repeats) values[name] = [...((values[name] as string[] | undefined) ?? []), value]
    else if (values[name] !== undefined) throw new UsageError(`--${name} was given twice`)
    else values[name] = value
  }
  if (values['help'] === true) return { positionals, values }
  checkCount(row, command.arguments, positionals, options)
  command.arguments.forEach((argument, i) => {
    const given = positionals[i]
    if (given !== undefined) checkChoice(`the ${worded(argument)}`, argument, given)
  })
  checkTogether(values, options)
  return { positionals, values }
}
