// The site for programs that read text: every page as Markdown beside its HTML, llms.txt (a list of them, as llmstxt.org
// describes it) and llms-full.txt (all of them in one file).
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { sidebar } from './navigation.js'
import { descriptionOf, plainMarkdown } from './pages.js'
import { kDocs, kSampleAddress } from './site.js'

/** The Markdown file of an address of the navigation. */
const pageOf = (link: string): string => `${link.slice(1)}${link.endsWith('/') ? 'index' : ''}.md`

/** The first heading of a page without marks. */
const titleOf = (page: string): string =>
  (/^# (.*)$/m.exec(plainMarkdown(page))?.[1] ?? page).replaceAll('`', '')

/** The pages by the navigation's groups, then those that it does not list. Pages of one folder follow its index. */
function groups(pages: readonly string[]): [group: string, pages: string[]][] {
  const listed = sidebar.map(({ text, items = [] }): [string, string[]] => {
    const own = items.map(({ link }) => pageOf(link!))
    return [
      text!,
      own.flatMap((page) =>
        page.endsWith('api/index.md') ? pages.filter((one) => dirname(one) === dirname(page)) : [page],
      ),
    ]
  })
  const known = new Set(listed.flatMap(([, own]) => own))
  return [...listed, ['More', pages.filter((page) => page !== 'index.md' && !known.has(page))]]
}

/** A page whose relative links begin at the documentation's folder, so that they also work in one file with other pages. */
function fromRoot(page: string): string {
  const link = (href: string): string => {
    if (/^[a-z]+:/.test(href)) return href
    const [path = '', hash] = href.split('#', 2)
    const target = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path))
    return hash === undefined ? target : `${target}#${hash}`
  }
  return plainMarkdown(page).replaceAll(/(?<=\]\()[^)\s]+(?=\))/g, link)
}

function list(pages: readonly string[]): string {
  const all = groups(pages).filter(([, own]) => own.length > 0)
  const count = all.reduce((sum, [, own]) => sum + own.length, 0)
  const rows = all.flatMap(([group, own]) => [
    `## ${group}`,
    '',
    ...own.map((page) => {
      const description = descriptionOf(page)
      return `- [${titleOf(page)}](${page})${description ? `: ${description}` : ''}`
    }),
    '',
  ])
  return `# ggufscope

> Preview, inspect, edit, quantize and run GGUF model files in the browser and in Node. npm package \`ggufscope\`: ES modules with types, a
> C++ core in WebAssembly SIMD, no native code, no dependencies. Also a command line (\`npx ggufscope\`) and a viewer.

The ${count} pages below are Markdown. [llms-full.txt](llms-full.txt) has all of them in one file. Links are relative to
${kDocs}. Snippets open a sample, ${kSampleAddress}: put any GGUF file's address there, or \`hf:owner/name/file.gguf\`, a \`File\`, or
bytes; \`open\` of \`ggufscope/node\` also accepts paths. Node needs \`npm pkg set type=module\`, or files named \`.mjs\` or \`.mts\`.

${rows.join('\n')}`
}

/** Writes them into the built site. */
export function writeTexts({ pages, outDir }: { pages: readonly string[]; outDir: string }): void {
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(outDir, name)), { recursive: true })
    writeFileSync(join(outDir, name), text)
  }
  const sorted = pages.toSorted()
  for (const page of sorted) write(page, `${plainMarkdown(page)}\n`)
  write('llms.txt', list(sorted))
  const all = groups(sorted).flatMap(([, own]) => own)
  write('llms-full.txt', all.map((page) => `<!-- ${page} -->\n\n${fromRoot(page)}\n`).join('\n'))
}
