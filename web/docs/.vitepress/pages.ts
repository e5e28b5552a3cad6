// What is read from the text of pages: their sources, descriptions, and Markdown without VitePress's extensions.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const kDocsFolder = join(import.meta.dirname, '..')

/** Pages that scripts/docs generates. They have no source to edit. */
export const isGenerated = (page: string): boolean =>
  /^reference\/(api\/.*|commands|errors|lint-rules|sampling)\.md$/.test(page)

/** The lines of an included file: all, or "{5,}" from the fifth. */
function included(path: string, from: string | undefined): string {
  if (!existsSync(path)) return ''
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(Number(from ?? 1) - 1)
    .join('\n')
}

/** A page's Markdown as other readers understand it: without frontmatter, comments, attributes and anchors, with what it includes. */
export function plainMarkdown(page: string): string {
  const path = join(kDocsFolder, page)
  return readFileSync(path, 'utf8')
    .replace(/^---\n.*?\n---\n/s, '')
    .replaceAll(/<!--@include: (\S+?)(?:\{(\d+),\})?-->/g, (_, other: string, from?: string) =>
      included(join(dirname(path), other), from),
    )
    .replaceAll(/^<!--.*?-->\n?/gms, '')
    .replaceAll(/^(#+ .*?) \{#[^}]*\}$/gm, '$1')
    .replaceAll(/<Picture name="(\w+)">(.*?)<\/Picture>/g, '![$2](pictures/$1-light.webp)')
    .replaceAll('](web/docs/', '](./')
    .replaceAll('](/llms', '](./llms')
    .replaceAll(/\{target="?_self"?\}/g, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/**
 * A page's description, in at most 160 characters: that of its frontmatter, or else its first sentences without marks. undefined: it
 * begins with something else.
 */
export function descriptionOf(page: string): string | undefined {
  const own = /^---\n(?:.*\n)*?description: (.*)\n(?:.*\n)*?---\n/.exec(
    readFileSync(join(kDocsFolder, page), 'utf8'),
  )
  if (own) return own[1]
  const paragraph = plainMarkdown(page)
    .split('\n\n')
    .find((text) => /^[\w"'`[*]/.test(text))
  if (paragraph === undefined) return undefined
  const text = paragraph
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]|\b_|_\b/g, '')
    .replaceAll('"', "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/:$/, '.')
  if (text.length <= 160) return text
  const sentences = /^.{40,159}\.(?= )/.exec(text)?.[0]
  return sentences ?? `${text.slice(0, 157).replace(/\W*\s\S*$/, '')}...`
}
