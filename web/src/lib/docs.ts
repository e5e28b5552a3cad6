// Addresses in the documentation, which is served in a folder below the viewer (web/docs).
import type { Finding, GgufErrorCode } from 'ggufscope'

export const docsAddress = './docs/'

/** The address of a rule's documentation: meaning and fix. */
export const ruleAddress = (code: Finding['code']) =>
  `${docsAddress}reference/lint-rules.html#${encodeURIComponent(code)}`

export const errorAddress = (code: GgufErrorCode) => `${docsAddress}reference/errors.html#${code}`
