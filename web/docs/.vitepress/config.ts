// Configuration of the documentation site. scripts/build-docs.sh builds it into build/docs; scripts/build.sh copies it to
// web/dist/docs.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defineConfig, type HeadConfig, type TransformContext } from 'vitepress'
import { thirdPartyNotices } from '../../notices.js'
import { writeTexts } from './llms.js'
import { changeMarkdown } from './markdown.js'
import { nav, sidebar } from './navigation.js'
import { descriptionOf, isGenerated } from './pages.js'
import { kDocs, kRepository } from './site.js'

const root = join(import.meta.dirname, '../../..')
const base = process.env['DOCS_BASE'] ?? '/docs/'

/**
 * The page's Content-Security-Policy. It allows scripts by file or by hash, the wasm modules of the viewer's element, and no other
 * host. It allows inline styles, which highlighted code needs.
 */
function policy(html: string): string {
  const hashes = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${[...new Set(hashes)].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    'media-src blob:', // recordings that snippets print
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

/**
 * VitePress sets the page's language even if it stays, and Chromium then computes the styles of all elements again. All pages have
 * the same one.
 */
const keepLanguage = {
  name: 'keep-language',
  transform(code: string, id: string) {
    if (!/vitepress\/dist\/client\/app\/index\.js$/.test(id)) return undefined
    const kept = code.replaceAll(
      /(document\.documentElement\.(?:lang|dir)) = (\w+\.value)/g,
      (set, place: string, value: string) => `if (${place} !== ${value}) ${set}`,
    )
    if (kept === code) throw new Error("VitePress's code that sets the language has changed")
    return kept
  },
}

/**
 * Changes VitePress's theme. It takes out what costs a phone's processor most at the start: a format of dates for one date, and the links
 * of the side bar, which theme/Sidebar.ts makes usable later. It orders what the search finds.
 */
const changeTheme = {
  name: 'change-theme',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    const [path = ''] = id.split('?')
    const own = changes.filter(([file]) => path.endsWith(`theme-default/${file}`))
    if (own.length === 0 || !/<script[^>]*\bsetup\b/.test(code)) return undefined
    return own.reduce((before, [file, old, now]) => {
      const changed = before.replace(old, now)
      if (changed === before) throw new Error(`VitePress's ${file} has changed`)
      return changed
    }, code)
  },
}
const kSearchBox = 'components/VPLocalSearchBox.vue'
const changes: readonly [file: string, old: RegExp | string, now: string][] = [
  [
    'components/VPDocFooterLastUpdated.vue',
    /new Intl\.DateTimeFormat\([\s\S]*?\.format\(date\.value\)/,
    'isoDatetime.value.slice(0, 10)',
  ],
  ['Layout.vue', './components/VPSidebar.vue', join(import.meta.dirname, 'theme/Sidebar.ts')],
  // An option of the site cannot contain functions: the page's policy forbids to evaluate their text.
  [
    kSearchBox,
    'import MiniSearch, {',
    `import { ownOptions, searchAll } from ${JSON.stringify(join(import.meta.dirname, 'theme/search.ts'))}\nimport MiniSearch, {`,
  ],
  [kSearchBox, 'boost: { title: 4, text: 2, titles: 1 },', '...ownOptions,'],
  [kSearchBox, /index\s+\.search\(filterTextValue\)/, 'searchAll(index, filterTextValue)'],
]

const icons = createRequire(import.meta.url)('@iconify-json/simple-icons/icons.json') as {
  icons: Record<string, { body: string }>
}
/** As a picture, because VitePress computes all styles to see whether its own icons are there. */
const gitHub = `<svg viewBox="0 0 24 24">${icons.icons['github']!.body}</svg>`

/** The tags that search engines and previews of links read. */
function metaTags({ pageData }: TransformContext): HeadConfig[] {
  const { relativePath, title, description, isNotFound } = pageData
  if (isNotFound) return [['meta', { name: 'robots', content: 'noindex' }]]
  const address = kDocs + relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')
  const property = (name: string, content: string): HeadConfig => ['meta', { property: name, content }]
  return [
    ['link', { rel: 'canonical', href: address }],
    ['link', { rel: 'alternate', type: 'text/markdown', href: base + relativePath }],
    property('og:type', 'website'),
    property('og:site_name', 'ggufscope'),
    property('og:title', title || 'ggufscope'),
    property('og:description', description),
    property('og:url', address),
    property('og:image', `${kDocs}social.png`),
    property('og:image:width', '1200'),
    property('og:image:height', '630'),
    property('og:image:alt', "ggufscope: the viewer's overview of a model file"),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ]
}

export default defineConfig({
  title: 'ggufscope',
  description: 'Preview, inspect and run GGUF model files in the browser and in Node.',
  lang: 'en',
  base,
  outDir: join(root, 'build/docs'),
  cacheDir: join(root, 'build/vitepress'),
  head: [['link', { rel: 'icon', href: `${base}../icon.svg`, type: 'image/svg+xml' }]],
  // Without transitions, its switch of colours would compute the styles of all elements three times before the page can be used.
  appearance: { disableTransition: false },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: changeMarkdown,
  },
  themeConfig: {
    siteTitle: 'ggufscope',
    nav,
    sidebar,
    search: { provider: 'local', options: { detailedView: true } },
    socialLinks: [{ icon: { svg: gitHub }, link: kRepository, ariaLabel: 'github' }],
    editLink: { pattern: `${kRepository}/edit/main/:path`, text: 'Edit this page' },
    lastUpdated: { text: 'Last change' },
    notFound: {
      title: 'There is no such page',
      quote: 'Search for it, or begin at the first page.',
      linkText: 'To the first page',
      linkLabel: 'To the first page',
    },
    outline: { level: [2, 3] },
    externalLinkIcon: false,
  },
  // A copy without history has no dates.
  lastUpdated: existsSync(join(root, '.git')),
  sitemap: { hostname: kDocs },
  transformPageData: ({ relativePath, frontmatter, description }) => ({
    filePath: relativePath === 'changelog.md' ? 'CHANGELOG.md' : `web/docs/${relativePath}`,
    description: descriptionOf(relativePath) ?? description,
    frontmatter: isGenerated(relativePath) ? { ...frontmatter, editLink: false } : frontmatter,
  }),
  transformHead: metaTags,
  buildEnd: writeTexts,
  srcExclude: ['examples/**'],
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === 'gguf-viewer' } } },
  vite: {
    build: { reportCompressedSize: false, chunkSizeWarningLimit: 4000 },
    logLevel: 'warn',
    worker: { format: 'es' },
    plugins: [
      keepLanguage,
      changeTheme,
      thirdPartyNotices('Packages that the pages of this site contain').write,
    ],
  },
  transformHtml: (html) =>
    html.replace(
      '<meta charset="utf-8">',
      `<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy(html)}">`,
    ),
})
