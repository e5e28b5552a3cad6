// Places in the documentation, which is served below the viewer (web/docs).
import type { Finding, GgufErrorCode } from 'ggufscope'

export const docsAddress = './docs/'

/** What a finding's rule means, and its cure. */
export const ruleAddress = (code: Finding['code']) =>
  `${docsAddress}reference/lint-rules.html#${encodeURIComponent(code)}`

export const errorAddress = (code: GgufErrorCode) => `${docsAddress}reference/errors.html#${code}`
