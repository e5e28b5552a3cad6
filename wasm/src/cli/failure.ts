import { GgufError, messageOf, type GgufErrorCode } from '../api/errors.js'
import { UsageError } from './command.js'
import { visible } from './format.js'

/** The JSON of an error, written to stderr with --json. */
export interface Failure {
  /** a GgufErrorCode, "usage" or "interrupted" */
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

/** Describes an error; undefined for a bug of the program. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof UsageError) return { code: 'usage', message: error.message }
  if (error instanceof Interrupted) return { code: 'interrupted', message: error.message }
  if (!(error instanceof GgufError)) return undefined
  const { code, offset, status } = error
  const forbiddenOnDisk = code === 'forbidden' && status === undefined
  const advice = forbiddenOnDisk ? undefined : kAdvice[code]
  const message = advice === undefined ? error.message : `${error.message} ${advice}`
  return { code, message, offset, httpStatus: status }
}

/** Writes an error to stderr, as text or JSON, and returns the exit status. Rethrows bugs of the program. */
export function report(error: unknown, json: boolean): number {
  const failure = failureOf(error)
  if (!failure) {
    if (!json) throw error
    console.error(JSON.stringify({ error: { code: 'internal', message: messageOf(error) } }))
    return 1
  }
  const { code, message } = failure
  if (json) console.error(JSON.stringify({ error: failure }))
  else
    console.error(`ggufscope: ${visible(message)} ${code === 'usage' ? '(ggufscope --help)' : `[${code}]`}`)
  if (error instanceof Interrupted) return error.status
  return code === 'usage' ? 2 : 1
}
