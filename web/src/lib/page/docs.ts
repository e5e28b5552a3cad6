// Addresses of documentation pages. The documentation (web/docs) is served in a folder below the viewer. The element leads to the
// published one, in another tab.
import type { Finding, GgufErrorCode } from 'ggufscope'

const published = import.meta.env.VITE_DOCS

export const docsAddress = published ?? './docs/'

/** of links to it */
export const docsTarget = published === undefined ? undefined : '_blank'

/** The address of a lint rule's documentation. */
export const ruleAddress = (code: Finding['code']) =>
  `${docsAddress}reference/lint-rules.html#${encodeURIComponent(code)}`

export const errorAddress = (code: GgufErrorCode) => `${docsAddress}reference/errors.html#${code}`
