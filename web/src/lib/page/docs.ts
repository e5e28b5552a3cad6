// Addresses of documentation pages. The documentation (web/docs) is served in a folder below the viewer.
import type { Finding, GgufErrorCode } from 'ggufscope'

export const docsAddress = './docs/'

/** The address of a lint rule's documentation. */
export const ruleAddress = (code: Finding['code']) =>
  `${docsAddress}reference/lint-rules.html#${encodeURIComponent(code)}`

export const errorAddress = (code: GgufErrorCode) => `${docsAddress}reference/errors.html#${code}`
