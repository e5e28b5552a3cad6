// Arranges a page of the API reference: what matters first, an example for each function, and details folded.
import { exampleOf } from './api-examples.ts'

interface Symbol {
  readonly name: string
  readonly text: string
}

/** Sections of a text that begin with headings of that level, and the text before them. */
export function sections(text: string, level: number): [before: string, sections: string[]] {
  const marks = `${'#'.repeat(level)} `
  const parts = text.split(new RegExp(`^(?=${marks})`, 'm'))
  return parts[0]!.startsWith(marks) ? ['', parts] : [parts[0]!, parts.slice(1)]
}

const nameOf = (section: string): string => /^#+ ([\w$]+)/.exec(section)?.[1] ?? ''

/** A symbol's details, from its first heading on, are folded if they are long. Their headings are the summary. */
function folded(details: string, atLeast: number): string {
  if (details.split('\n').length < atLeast) return details
  const [, parts] = sections(details, 4)
  const titles = new Set(parts.map((part) => /^#+ ([^{\n]*)/.exec(part)![1]!.trim()))
  return `<details class="fold">\n<summary>${[...titles].join(', ').replace('Call Signature', 'Call signatures')}</summary>\n\n${details.trim()}\n\n</details>\n\n`
}

function arrangeSymbol({ name, text }: Symbol, isFunction: boolean): string {
  const body = text.replace(/\n\*\*\*\n/g, '\n').trimEnd()
  const at = body.search(/^#### /m)
  const [head, details] = at === -1 ? [body, ''] : [body.slice(0, at).trimEnd(), body.slice(at)]
  const example = isFunction ? exampleOf(name) : undefined
  const shown = example && [
    `Example, from [${example.title}](../../${example.page}):`,
    '',
    `\`\`\`ts\n${example.code}\`\`\``,
  ]
  return [head, '', ...(shown ? [...shown, ''] : []), folded(details, isFunction ? 40 : 16), ''].join('\n')
}

/** What another entry describes, as one list instead of a section for each name. */
function references(group: string): string {
  const links = [...group.matchAll(/^Re-exports (\[[^\]]+\]\([^)]+\))/gm)].map(([, link]) => link!)
  const renamed = [...group.matchAll(/^Renames and re-exports (\[[^\]]+\]\([^)]+\))/gm)].map(
    ([, link]) => link!,
  )
  return `## Also exported\n\nDescribed with the entry that they belong to: ${[...links, ...renamed].join(', ')}.\n`
}

/** first: the names that lead their group. */
export function arranged(text: string, first: readonly string[]): string {
  const [before, groups] = sections(text, 2)
  const place = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length)
  const parts = groups.map((group) => {
    if (group.startsWith('## References')) return references(group)
    const isFunction = group.startsWith('## Functions')
    const [head, symbols] = sections(group, 3)
    const sorted = symbols
      .map((section) => ({ name: nameOf(section), text: section }))
      .toSorted((a, b) => place(a.name) - place(b.name))
    return head + sorted.map((symbol) => arrangeSymbol(symbol, isFunction)).join('\n')
  })
  return before + parts.join('\n')
}
