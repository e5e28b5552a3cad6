// What requests of other APIs have in common while they become chat requests.
import { RequestError } from './failures.js'

export type Fields = Readonly<Record<string, unknown>>
export type Item = Record<string, unknown>

/** The fields of an object; none of another value. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

/** Ends a request with status 400, because it asks for what is not there. */
export function refuse(message: string): never {
  throw new RequestError(400, 'unsupported', message)
}
