// The command set: changes keys, names and tokens of a file.
import { realpath } from 'node:fs/promises'
import type { GgufBuilder, GgufFile } from '../api/file.js'
import { GgufError, quoted } from '../api/errors.js'
import { applyChanges, parseChanges } from '../edit/changes.js'
import { standardKey } from '../edit/key-types.js'
import { architectureOf, meantKey } from '../edit/mistyped-keys.js'
import type { TokenType } from '../api/text.js'
import type { Change, WriteType, WriteValue } from '../api/edit.js'
import { kValueTypes } from '../header/header.js'
import { NodeFileSource } from '../sources/node-file.js'
import { withPaths } from '../sources/node-paths.js'
import { kTokenTypes } from '../text/token-types.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { hubTarget, kCommitOptions, setOnHub } from './commit.js'
import { kOutputOptions, outputOf, save } from './save.js'
import { editedShard, pathOfShard, warnOfName } from './set-shard.js'
import { readText } from './text.js'

/** Parses a type: "i32" or "string[]". */
function typeOf(text: string): WriteType {
  const element = /^(\w+)(\[\])?$/.exec(text)
  const name = element?.[1] as Exclude<WriteType, object>
  if (!element || !kValueTypes.includes(name) || (name as string) === 'array')
    throw new UsageError(`there is no type "${text}": u8, i32, f32, bool, string, ... or u8[], i32[], ...`)
  return element[2] ? { arrayOf: name } : name
}

function parseJson(key: string, text: string): WriteValue {
  try {
    // Integers beyond 2^53 keep all digits.
    return JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
      const digits = context?.source
      const large = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(digits ?? '')
      return large ? BigInt(digits!) : value
    }) as WriteValue
  } catch {
    throw new UsageError(`${key}: ${text} is no JSON array`)
  }
}

/** Parses the text of a value of the given type; undefined: a new key without a type. */
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

/**
 * The type as which a text is parsed if none is given: the catalogue's, the existing value's, or derived from the text.
 */
function readAs(builder: GgufBuilder, key: string, text: string): WriteType | undefined {
  const row = standardKey(key)
  if (row)
    return row.form === 'list' || (row.form === 'either' && text.startsWith('['))
      ? { arrayOf: row.type }
      : row.type
  const there = builder.type(key)
  return there === 'array' ? { arrayOf: 'string' } : there
}

/** Returns the key of "key=value" or "key:type=value". */
const keyOf = (name: string): [key: string, type: string | undefined] => {
  const typed = /^(.*):([a-z0-9[\]]+)$/.exec(name)
  return typed ? [typed[1]!, typed[2]] : [name, undefined]
}

/** Parses "key=value" or "key:type=value". type: the type if the word has none. */
function setOne(builder: GgufBuilder, word: string, type: WriteType | undefined): void {
  const [name, text] = pair(word, 'KEY=VALUE or KEY:TYPE=VALUE')
  const [key, own] = keyOf(name)
  const given = own === undefined ? type : typeOf(own)
  builder.set(key, valueOf(key, text, given ?? readAs(builder, key, text)), given)
}

/** Throws for a new key that is probably mistyped. */
function checkNewKeys(builder: GgufBuilder, file: GgufFile): void {
  const architecture = architectureOf(builder.keys(), file.metadata.get('general.architecture'))
  for (const key of builder.keys()) {
    if (file.metadata.has(key)) continue
    const meant = meantKey(key, architecture)
    if (meant !== undefined)
      throw new UsageError(
        `${key} is no key that readers know: did you mean ${meant}? --force writes it as it is`,
      )
  }
}

// Whatever the file holds, it cannot have such a value.
const kCodesOfCalls = new Set<unknown>(['invalid-argument', 'bad-alignment'])

/** A value that the package refuses is a wrong call. */
function asCall<Result>(change: () => Result): Result {
  try {
    return change()
  } catch (error) {
    if (error instanceof GgufError && kCodesOfCalls.has(error.code)) throw new UsageError(quoted(error))
    throw error
  }
}

const words = ({ values }: Context, name: string): string[] => (values[name] ?? []) as string[]

function changeTokens(builder: GgufBuilder, context: Context): void {
  const type = context.values['token-type'] as TokenType | undefined
  builder.removeTokens(words(context, 'remove-token'))
  builder.addTokens(words(context, 'add-token').map((text) => ({ text, type })))
}

/** The changes of --changes. */
async function savedChanges({ values }: Context): Promise<readonly Change[]> {
  const list = values['changes']
  return typeof list === 'string' ? parseChanges(await readText(list, '--changes')) : []
}

const assignmentsOf = ({ positionals }: Context): readonly string[] => positionals.slice(1)

const kChanging = ['rename', 'remove', 'rename-tensor', 'remove-tensor', 'add-token', 'remove-token', 'file']
const changesSomething = (context: Context, changes: readonly Change[]): boolean =>
  changes.length > 0 ||
  assignmentsOf(context).length > 0 ||
  kChanging.some((name) => words(context, name).length > 0)

/** The keys that the call changes. */
function changedKeys(context: Context, changes: readonly Change[]): string[] {
  return [
    ...changes.flatMap((change) => ('key' in change ? [change.key] : [])),
    ...assignmentsOf(context).map((word) => keyOf(pair(word, 'KEY=VALUE')[0])[0]),
    ...['rename', 'remove', 'file']
      .flatMap((name) => words(context, name))
      .map((word) => word.split('=')[0]!),
  ]
}

/** A builder with all changes of the call. shard: of a split model, the file that is changed. */
async function editedFile(
  context: Context,
  file: GgufFile,
  { changes, shard }: { changes: readonly Change[]; shard?: number | undefined },
): Promise<GgufBuilder> {
  const force = context.values['force'] === true
  const builder = await file.edit({ shard, allowDamaged: force })
  applyChanges(file, builder, changes)
  for (const word of words(context, 'rename')) asCall(() => builder.rename(...pair(word, 'OLD=NEW')))
  for (const key of words(context, 'remove')) builder.remove(key)
  for (const word of words(context, 'rename-tensor'))
    asCall(() => builder.renameTensor(...pair(word, 'OLD=NEW')))
  for (const name of words(context, 'remove-tensor')) builder.removeTensor(name)
  asCall(() => changeTokens(builder, context))
  for (const word of words(context, 'file')) {
    const [key, from] = pair(word, 'KEY=PATH')
    builder.set(key, await readText(from, `--file ${key}`))
  }
  const type = context.values['type']
  for (const word of assignmentsOf(context))
    asCall(() => setOne(builder, word, typeof type === 'string' ? typeOf(type) : undefined))
  if (!force) checkNewKeys(builder, file)
  return builder
}

export const command: Command = {
  damage: 'refused',
  arguments: [kFile, { name: 'KEY=VALUE', optional: true, repeats: true }],
  options: {
    type: { value: 'TYPE', help: 'the type of all values without a type' },
    file: {
      value: 'KEY=PATH',
      repeats: true,
      file: 'read',
      help: 'set a key to the text of a file, such as a chat template: UTF-8, or UTF-16 with a byte order mark',
    },
    changes: {
      value: 'PATH',
      file: 'read',
      help: 'apply changes that the viewer saved, before all others',
    },
    rename: { value: 'OLD=NEW', repeats: true, help: 'rename a key' },
    remove: { value: 'KEY', repeats: true, help: 'remove a key' },
    'rename-tensor': { value: 'OLD=NEW', repeats: true, help: 'rename a tensor' },
    'remove-tensor': { value: 'NAME', repeats: true, help: 'remove a tensor' },
    'add-token': { value: 'TEXT', repeats: true, help: 'add a token, with the mean of all rows as its row' },
    'token-type': {
      value: 'TYPE',
      needs: 'add-token',
      choices: kTokenTypes.slice(1),
      help: 'the type of the added tokens; default: user-defined',
    },
    'remove-token': { value: 'TEXT', repeats: true, help: 'remove a token and its rows' },
    'in-place': { excludes: ['output'], help: 'replace the file itself, after the new one is complete' },
    ...kCommitOptions,
    ...kOutputOptions,
    force: { help: `${kOutputOptions.force.help}, and keys that look mistyped` },
  },
  help: [
    'KEY=VALUE: the value gets the type that is standard for the key, or that the key has in the file. The type of a new key is that which its value looks like. --type names another.',
    'KEY:TYPE=VALUE: u8 ... f64, bool, string; arrays as JSON: KEY:i32[]=[1,2].',
    'Of a file on Hugging Face, the header is changed there by --commit, with the token of HF_TOKEN; without it, the call says what would be sent.',
    'For a split model, the file that holds the keys is edited, whichever file is named.',
  ],
  async run(context) {
    const target = context.values['output'] === undefined ? hubTarget(context.positionals[0]!) : undefined
    const changes = await savedChanges(context)
    if (target && context.values['in-place'] !== true)
      return await setOnHub(context, context.positionals[0]!, (file) =>
        editedFile(context, file, { changes }),
      )
    if (context.values['commit'] === true)
      throw new UsageError('--commit is for a file on Hugging Face: hf:owner/name/file.gguf')
    using file = await context.open()
    const shard = editedShard(context, file, changedKeys(context, changes), changes)
    const builder = await editedFile(context, file, { changes, shard })
    const inPlace = context.values['in-place'] === true
    if (inPlace && !(withPaths(context.positionals[0]!) instanceof NodeFileSource))
      throw new UsageError('--in-place is for files on disk: give an --output')
    // Replaces the target of a symbolic link, not the link.
    const output = inPlace ? await realpath(pathOfShard(context, file, shard)) : await outputOf(context)
    if (shard !== undefined && !inPlace) await warnOfName(context, file, shard, output)
    if (!changesSomething(context, changes)) context.warn('the call changes nothing: the output is a copy')
    const built = await builder.build({ signal: context.signal })
    await save(context, output, built, { inPlace })
    if (context.json) context.printJson({ output, size: built.size, keys: builder.keys().length })
    return 0
  },
}
