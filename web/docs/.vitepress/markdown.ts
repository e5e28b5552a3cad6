// Changes of the pages' Markdown before it becomes HTML.
import type { MarkdownRenderer } from 'vitepress'
import { kSampleAddress } from './site.js'

type Tokens = ReturnType<MarkdownRenderer['parse']>

/** Makes empty header cells of tables plain cells: screen readers would announce them as headers. */
function replaceEmptyHeaders(tokens: Tokens): void {
  tokens.forEach((token, i) => {
    const close = tokens[i + 2]
    if (token.type === 'th_open' && tokens[i + 1]?.content === '' && close) token.tag = close.tag = 'td'
  })
}

/** Makes links from the repository's root to pages of this site links between pages: CHANGELOG.md has such. */
function replaceRootLinks(tokens: Tokens): void {
  for (const token of tokens) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null
    if (href?.startsWith('web/docs/')) token.attrSet('href', href.replace('web/docs/', './'))
    replaceRootLinks(token.children ?? [])
  }
}

/** Says below a page's first snippet that names the sample what to put in its place. The quick start says it itself. */
function explainSample(md: MarkdownRenderer, tokens: Tokens, page: string): void {
  const at = tokens.findIndex(({ type, content }) => type === 'fence' && content.includes(kSampleAddress))
  if (at === -1 || page === 'quick-start.md' || page === 'index.md') return
  const note = `The address is that of a sample of 1.5 MB. Put [your own file](/quick-start.md#your-own-file) there.`
  tokens.splice(at + 1, 0, ...md.parse(note, {}))
}

/** Puts buttons below the snippets that run in the page: those with the mark "run". Types are taken out there. */
function addButtons(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence!
  md.renderer.rules.fence = (tokens, i, ...rest) => {
    const html = fence(tokens, i, ...rest)
    return tokens[i]!.info.trim() === 'ts run' ? `<RunnableSnippet>${html}</RunnableSnippet>\n` : html
  }
}

export function changeMarkdown(md: MarkdownRenderer): void {
  addButtons(md)
  md.core.ruler.push('empty-headers', ({ tokens }) => replaceEmptyHeaders(tokens))
  md.core.ruler.push('root-links', ({ tokens }) => replaceRootLinks(tokens))
  md.core.ruler.push('sample', ({ tokens, env }) => {
    const { relativePath } = env as { relativePath?: string }
    if (relativePath !== undefined) explainSample(md, tokens, relativePath)
  })
}
