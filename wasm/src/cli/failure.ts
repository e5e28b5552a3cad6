import { GgufError, messageOf, type GgufErrorCode } from '../api/errors.js'
import { UsageError } from './command.js'
import { visible } from './format.js'

/** An error as --json tells it, on stderr. */
export interface Failure {
  /** a GgufErrorCode, "usage" or "interrupted" */
  readonly code: string
  readonly message: string
  /** byte offset in the file */
  readonly offset?: number | undefined
  /** of HTTP */
  readonly httpStatus?: number | undefined
}

/** A signal asked the command to end. */
export class Interrupted extends Error {
  constructor(
    readonly signalName: string,
    readonly status: number,
  ) {
    super(`interrupted by ${signalName}`)
  }
}

// What the command line offers where the package's message cannot know of it.
const kAdvice: Partial<Readonly<Record<GgufErrorCode, string>>> = {
  unauthorized: 'Give --header "Authorization: Bearer TOKEN".',
  forbidden: 'A token goes into --header "Authorization: Bearer TOKEN".',
  'file-exists': '--force replaces it.',
}

/** undefined: a fault of the program, which is no answer to its user. */
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

/** Tells of an error on stderr, as text or JSON, and gives the exit status. Faults of the program are thrown again. */
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
