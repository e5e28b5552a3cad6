// Messages between the server's thread and the one for long texts.
import { GgufError, messageOf, type GgufErrorCode, type GgufErrorDetails } from '../../api/errors.js'
import type { TextCalls } from './text-calls.js'

/** The header of a file of that size. */
export interface TextHeader {
  readonly header: Uint8Array
  readonly size: number
}

export interface TextCall {
  readonly id: number
  readonly name: keyof TextCalls
  readonly args: readonly unknown[]
}

/** code: of a GgufError */
interface Failed extends GgufErrorDetails {
  readonly message: string
  readonly code: GgufErrorCode | undefined
}

export type TextAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: Failed }

export function failed(error: unknown): Failed {
  if (!(error instanceof GgufError)) return { message: messageOf(error), code: undefined }
  const { message, code, offset, line, column } = error
  return { message, code, offset, line, column }
}

export function errorOf({ message, code, ...details }: Failed): Error {
  return code === undefined ? new Error(message) : new GgufError(code, message, details)
}
