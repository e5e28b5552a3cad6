// Examples for the API reference: snippets of the guides, which are tested.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../web/docs')

export interface Example {
  /** the page, from web/docs */
  readonly page: string
  readonly title: string
  readonly code: string
}

const examples: readonly Example[] = globSync('{*,guides/*,reference/*}.md', { cwd: docs })
  .toSorted()
  .flatMap((page) => {
    const text = readFileSync(join(docs, page), 'utf8')
    const title = /^# (.*)$/m.exec(text)?.[1] ?? page
    return [...text.matchAll(/^```ts[^\n]*\n(.*?)^```/gms)].map(([, code]) => ({ page, title, code: code! }))
  })

/** The shortest snippet that imports the function and calls it, but one of the quick start if there is any. */
export function exampleOf(name: string): Example | undefined {
  const uses = new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\}.*\\b${name}[(<]`, 'ms')
  const fitting = examples.filter(({ code }) => uses.test(code))
  const isFirst = ({ page }: Example) => Number(page !== 'quick-start.md')
  return fitting.toSorted((a, b) => isFirst(a) - isFirst(b) || a.code.length - b.code.length)[0]
}
