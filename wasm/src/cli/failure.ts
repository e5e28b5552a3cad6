// Describes an error on the command line: its text or JSON, and its exit status.
import { GgufError, messageOf, type GgufErrorCode } from '../api/errors.js'
import { UsageError } from './command.js'
import { visible } from './format.js'

/** The JSON of an error, written to stderr with --json. */
export interface Failure {
  /** a GgufErrorCode, "usage", "interrupted" or "internal" */
  readonly code: string
  readonly message: string
  /** byte offset in the file */
  readonly offset?: number | undefined
  /** HTTP status */
  readonly httpStatus?: number | undefined
}

/** A signal interrupted the command. */
export class Interrupted extends Error {
  constructor(
    readonly signalName: string,
    readonly status: number,
  ) {
    super(`interrupted by ${signalName}`)
  }
}

// Hints for the command line that the package's messages do not contain.
const kAdvice: Partial<Readonly<Record<GgufErrorCode, string>>> = {
  unauthorized: 'Give --header "Authorization: Bearer TOKEN".',
  forbidden: 'A token goes into --header "Authorization: Bearer TOKEN".',
  'file-exists': '--force replaces it.',
}

/** The options of the command line that have another name than in the package. */
const kRenamed: Readonly<Record<string, string>> = { contextLength: 'context', maxBytes: 'max-size' }
const optionOf = (name: string): string =>
  `--${kRenamed[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

// The package's messages name its own options. [in the package, on the command line]
const kOptions: readonly (readonly [RegExp, string | ((...groups: string[]) => string)])[] = [
  [/\bThe option allowDamaged, on the command line --force,/g, '--force'],
  [/\bThe option draft of (?:generate|chat)\(\)/g, '--draft-tokens'],
  [/\bThe option (\w+)(?: of \w+\(\))?/g, (_, name) => optionOf(name)],
  [/\bThe (\w+) of \w+\(\) must be\b/g, 'The $1 must be'],
  [
    /^Tensor (.*): rows must be \[from, to\], not \[(\d+), (\d+)\]/,
    '--rows must be FROM:TO, not $2:$3: tensor $1',
  ],
  [/\bis about messages, which only chat\(\) has/g, 'is about messages: give --chat'],
  [/\bload it with more maxForks\b/g, 'give --slots more'],
  [/, or decode other files to \{ samples, sampleRate \} first/g, ''],
  [/ It may be of an early build: \{ superBlock: 64 \}\./g, ''],
  [
    /^There is no type (\S+), which (.*) is to get\b/g,
    '--tensor-type and the like: there is no type $1 for $2',
  ],
  [/\bThe model was loaded without a projector\b/g, '$& (--mmproj FILE)'],
  [/\bmemory\(\)/g, 'memory'],
  [/\(allowRequantize; (--[\w-]+)\)/g, '($1)'],
  [/\(importance; (--[\w-]+)\)/g, '($1)'],
  [
    /Give all of them to open\(\), or allowMissingShards/g,
    'Give the others with --shard, or --allow-missing-shards',
  ],
  [/\ballowMissingShards\b/g, '--allow-missing-shards'],
  [/\ballowDamaged\b/g, '--force'],
  [/\bmemoryLimit\b/g, '--memory-limit'],
  [/\bwithout importance\b/g, 'without --imatrix'],
  [/ or null, not /g, ', not '],
]

/** A message of the package, with the names of the command line. */
export const inCliWords = (message: string): string =>
  kOptions.reduce(
    (text, [words, option]) =>
      typeof option === 'string' ? text.replace(words, option) : text.replace(words, option),
    message,
  )

/**
 * Whether the package refused the value of an option, whatever the files hold. That is a wrong call, as if the command
 * line had refused it. Other errors of this code are about files.
 */
const isWrongOption = ({ code, message }: GgufError): boolean =>
  code === 'invalid-argument' && /^The option \w+ of \w+\(\) |^There is no type /.test(message)

/** Describes an error. One that is none of the package's is a bug of the program. */
export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) return { code: 'usage', message: error.message }
  if (error instanceof Interrupted) return { code: 'interrupted', message: error.message }
  if (!(error instanceof GgufError)) return { code: 'internal', message: messageOf(error) }
  const { code, offset, status } = error
  const forbiddenOnDisk = code === 'forbidden' && status === undefined
  const advice = forbiddenOnDisk ? undefined : kAdvice[code]
  const message = inCliWords(advice === undefined ? error.message : `${error.message} ${advice}`)
  return { code: isWrongOption(error) ? 'usage' : code, message, offset, httpStatus: status }
}

/** Where an error comes from, for the report of a bug. */
const placesOf = (error: unknown): string =>
  (error instanceof Error ? (error.stack ?? '') : '')
    .split('\n')
    .filter((line) => /^ +at /.test(line))
    .slice(0, 5)
    .join('\n')

/** Writes an error to stderr, as text or JSON, and returns the exit status. */
export function report(error: unknown, json: boolean): number {
  const failure = failureOf(error)
  const { code, message } = failure
  if (json) console.error(JSON.stringify({ error: failure }))
  else
    console.error(`ggufscope: ${visible(message)} ${code === 'usage' ? '(ggufscope --help)' : `[${code}]`}`)
  if (code === 'internal' && !json) console.error(placesOf(error))
  if (error instanceof Interrupted) return error.status
  return code === 'usage' ? 2 : 1
}
