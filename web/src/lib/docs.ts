// Places in the documentation, which is served below the viewer (web/docs).
import type { Finding, GgufErrorCode } from 'ggufscope'

export const docsAddress = './docs/'

/** The page of a finding's rule: meaning and cure. */
export const ruleAddress = (code: Finding['code']) =>
  `${docsAddress}reference/lint-rules.html#${encodeURIComponent(code)}`

export const errorAddress = (code: GgufErrorCode) => `${docsAddress}reference/errors.html#${code}`
