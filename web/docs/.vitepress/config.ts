// Configuration of the documentation site. scripts/build-docs.sh builds it into build/docs; scripts/build.sh copies it to
// web/dist/docs.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { thirdPartyNotices } from '../../notices.js'
import { nav, sidebar } from './navigation.js'

const root = join(import.meta.dirname, '../../..')
const base = process.env['DOCS_BASE'] ?? '/docs/'

/**
 * The page's Content-Security-Policy. It allows scripts by file or by hash, and no other host. It allows inline styles, which
 * highlighted code needs.
 */
function policy(html: string): string {
  const hashes = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src 'self' ${[...new Set(hashes)].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

/** Makes empty header cells of tables plain cells: screen readers would announce them as headers. */
function replaceEmptyHeaders(tokens: { type: string; tag: string; content: string }[]): void {
  tokens.forEach((token, i) => {
    const close = tokens[i + 2]
    if (token.type === 'th_open' && tokens[i + 1]?.content === '' && close) token.tag = close.tag = 'td'
  })
}

interface Token {
  readonly type: string
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
  readonly children: Token[] | null
}

/** Makes links from the repository's root to pages of this site links between pages: CHANGELOG.md has such. */
function replaceRootLinks(tokens: readonly Token[]): void {
  for (const token of tokens) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null
    if (href?.startsWith('web/docs/')) token.attrSet('href', href.replace('web/docs/', './'))
    replaceRootLinks(token.children ?? [])
  }
}

export default defineConfig({
  title: 'ggufscope',
  description: 'Preview, inspect and run GGUF model files in the browser and in Node.',
  lang: 'en',
  base,
  outDir: join(root, 'build/docs'),
  cacheDir: join(root, 'build/vitepress'),
  head: [['link', { rel: 'icon', href: `${base}../icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      md.core.ruler.push('empty-headers', ({ tokens }) => replaceEmptyHeaders(tokens))
      md.core.ruler.push('root-links', ({ tokens }) => replaceRootLinks(tokens))
    },
  },
  themeConfig: {
    siteTitle: 'ggufscope',
    nav,
    sidebar,
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    externalLinkIcon: false,
  },
  vite: {
    build: { reportCompressedSize: false, chunkSizeWarningLimit: 4000 },
    logLevel: 'warn',
    plugins: [thirdPartyNotices('Packages that the pages of this site contain').write],
  },
  transformHtml: (html) =>
    html.replace(
      '<meta charset="utf-8">',
      `<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy(html)}">`,
    ),
})
