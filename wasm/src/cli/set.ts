import { realpath } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { GgufBuilder } from '../edit/builder.js'
import type { WriteType, WriteValue } from '../edit/types.js'
import { kValueTypes } from '../header/header.js'
import { NodeFileSource, withPaths } from '../node.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { readInput } from './inputs.js'
import { kOutputOptions, outputOf, save } from './save.js'

/** "i32" or "string[]" */
function typeOf(text: string): WriteType {
  const element = /^(\w+)(\[\])?$/.exec(text)
  const name = element?.[1] as Exclude<WriteType, object>
  if (!element || !kValueTypes.includes(name) || (name as string) === 'array')
    throw new UsageError(`there is no type "${text}": u8, i32, f32, bool, string, ... or u8[], i32[], ...`)
  return element[2] ? { arrayOf: name } : name
}

function parseJson(key: string, text: string): WriteValue {
  try {
    // Integers beyond 2^53 keep all their digits.
    return JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
      const digits = context?.source
      const large = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(digits ?? '')
      return large ? BigInt(digits!) : value
    }) as WriteValue
  } catch {
    throw new UsageError(`${key}: ${text} is no JSON array`)
  }
}

/** What a word of the command line means where this type is wanted; undefined: a new key without a type. */
function valueOf(key: string, text: string, type: WriteType | undefined): WriteValue {
  if (type === 'string') return text
  if (typeof type === 'object' || (type === undefined && text.startsWith('['))) return parseJson(key, text)
  if ((type === undefined || type === 'bool') && (text === 'true' || text === 'false')) return text === 'true'
  if (/^-?\d+$/.test(text)) {
    const number = Number(text)
    return Number.isSafeInteger(number) || type === 'f32' || type === 'f64' ? number : BigInt(text)
  }
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return Number(text)
  if (/^[-+]?(nan|inf|infinity)$/i.test(text) && (type === 'f32' || type === 'f64'))
    return /nan/i.test(text) ? NaN : text.startsWith('-') ? -Infinity : Infinity
  return text
}

function pair(text: string, what: string): [string, string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new UsageError(`"${text}" is not of the form ${what}`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** "key=value" or "key:type=value" */
function setOne(builder: GgufBuilder, word: string): void {
  const [name, text] = pair(word, 'KEY=VALUE or KEY:TYPE=VALUE')
  const typed = /^(.*):([a-z0-9[\]]+)$/.exec(name)
  const key = typed?.[1] ?? name
  const given = typed ? typeOf(typed[2]!) : undefined
  const there = builder.type(key)
  const wanted = given ?? (there === 'array' ? { arrayOf: 'string' as const } : there)
  builder.set(key, valueOf(key, text, wanted), given)
}

const words = ({ values }: Context, name: string): string[] => (values[name] ?? []) as string[]

export const command: Command = {
  arguments: [kFile, { name: 'KEY=VALUE', optional: true, repeats: true }],
  options: {
    file: { value: 'KEY=PATH', repeats: true, file: 'read', help: 'the text of a file, for chat templates' },
    rename: { value: 'OLD=NEW', repeats: true, help: 'another name for a key' },
    remove: { value: 'KEY', repeats: true, help: 'without this key' },
    'rename-tensor': { value: 'OLD=NEW', repeats: true, help: 'another name for a tensor' },
    'remove-tensor': { value: 'NAME', repeats: true, help: 'without this tensor' },
    'in-place': { excludes: ['output'], help: 'replace the file itself, when all is written' },
    ...kOutputOptions,
  },
  help: [
    'KEY=VALUE: the type stays what it is; of a new key it is what the value looks like.',
    'KEY:TYPE=VALUE: u8 ... f64, bool, string; arrays as JSON: KEY:i32[]=[1,2].',
  ],
  async run(context) {
    const [path, ...assignments] = context.positionals
    using file = await context.open()
    // Of a split model this one file, so that the others still fit.
    const shard =
      file.shards.length > 1 ? file.shards.findIndex(({ name }) => path!.endsWith(name ?? '/')) : undefined
    const builder = await file.edit({ shard })
    for (const word of words(context, 'rename')) builder.rename(...pair(word, 'OLD=NEW'))
    for (const key of words(context, 'remove')) builder.remove(key)
    for (const word of words(context, 'rename-tensor')) builder.renameTensor(...pair(word, 'OLD=NEW'))
    for (const name of words(context, 'remove-tensor')) builder.removeTensor(name)
    for (const word of words(context, 'file')) {
      const [key, from] = pair(word, 'KEY=PATH')
      builder.set(key, new TextDecoder().decode(await readInput(from, `--file ${key}`)))
    }
    for (const word of assignments) setOne(builder, word)
    const inPlace = context.values['in-place'] === true
    if (inPlace && !(withPaths(path!) instanceof NodeFileSource))
      throw new UsageError('--in-place is for files on disk: give an --output')
    // What a symbolic link points at is replaced, not the link.
    const output = inPlace
      ? await realpath(/^file:/i.test(path!) ? fileURLToPath(path!) : path!)
      : await outputOf(context)
    const built = await builder.build({ signal: context.signal })
    await save(context, output, built, { inPlace })
    if (context.json) context.printJson({ output, size: built.size, keys: builder.keys().length })
    return 0
  },
}
