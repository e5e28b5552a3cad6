// Divides long pages of the API reference into pages by topic, and corrects the links between all of them.
import { sections } from './api-layout.ts'
import { kTopics, type Topic } from './api-topics.ts'

/** The text of each page by its name, without ".md". */
export type Pages = ReadonlyMap<string, string>

/** For each divided page: the anchors that moved, by the name of the page that has them now. */
export type Moved = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

const nameOf = (section: string): string => /^### ([\w$]+)/.exec(section)?.[1] ?? ''
const anchorOf = (section: string): string => /^### .*\{#([^}]+)\}/.exec(section)?.[1] ?? ''
const anchorsIn = (text: string): string[] =>
  [...text.matchAll(/\{#([^}]+)\}|<a id="([^"]+)">/g)].map(([, heading, place]) => heading ?? place!)

interface Group {
  readonly head: string
  readonly symbols: readonly string[]
}

const groupsText = (groups: readonly Group[]): string =>
  groups
    .filter(({ head, symbols }) => symbols.length > 0 || head.startsWith('## Also exported'))
    .map(({ head, symbols }) => head + symbols.join(''))
    .join('')

/** The page's own anchor differs from that of a symbol with the same name. */
const topicPage = (entry: string, title: string, page: string, groups: readonly Group[]): string =>
  `# ${title} {#part}\n\nA part of [${entry}](${page}.md).\n\n${groupsText(groups)}`

/** What stands elsewhere, by topic. */
const elsewhere = (page: string, parts: readonly { topic: Topic; groups: readonly Group[] }[]): string =>
  [
    '## On pages of their own {#on-pages-of-their-own}',
    '',
    ...parts.map(({ topic, groups }) => {
      const links = groups
        .flatMap(({ symbols }) => symbols)
        .map((symbol) => `[${nameOf(symbol)}](${page}-${topic.name}.md#${anchorOf(symbol)})`)
      return `- **${topic.title}**: ${links.join(', ')}`
    }),
    '',
  ].join('\n')

function divided(page: string, text: string, topics: readonly Topic[]): Map<string, string> {
  const [before, parts] = sections(text, 2)
  const groups: Group[] = parts.map((part) => {
    const [head, symbols] = sections(part, 3)
    return { head, symbols }
  })
  const ownerOf = (symbol: string) => topics.find(({ takes }) => takes.test(nameOf(symbol)))
  const of = (topic: Topic | undefined): Group[] =>
    groups.map(({ head, symbols }) => ({
      head: topic && head.startsWith('## Also exported') ? '' : head,
      symbols: symbols.filter((symbol) => ownerOf(symbol) === topic),
    }))
  const own = topics.map((topic) => ({ topic, groups: of(topic) }))
  const entry = /^# (.*)$/m.exec(before)![1]!
  const links = topics.map(({ name, title }) => `[${title}](${page}-${name}.md)`)
  return new Map([
    [
      page,
      `${before.trimEnd()} On pages of their own: ${links.join(', ')}.\n\n${groupsText(of(undefined)).trimEnd()}\n\n${elsewhere(page, own)}`,
    ],
    ...own.map(({ topic, groups }): [string, string] => [
      `${page}-${topic.name}`,
      topicPage(entry, topic.title, page, groups),
    ]),
  ])
}

/** Divides the pages that have topics. Links to what moved lead to the new place. */
export function split(pages: Pages): { pages: Pages; moved: Moved } {
  const all = new Map<string, string>()
  const moved: Record<string, Record<string, string[]>> = {}
  for (const [page, text] of pages) {
    const topics = kTopics[page]
    const parts = topics ? divided(page, text, topics) : new Map([[page, text]])
    for (const [name, part] of parts) {
      all.set(name, part)
      if (name !== page) (moved[page] ??= {})[name] = anchorsIn(part).filter((anchor) => anchor !== 'part')
    }
  }
  const places = new Map(
    Object.entries(moved).flatMap(([page, parts]) =>
      Object.entries(parts).flatMap(([name, anchors]) =>
        anchors.map((anchor): [string, string] => [`${page}#${anchor}`, name]),
      ),
    ),
  )
  const entryOf = (name: string) => Object.keys(moved).find((page) => moved[page]![name]) ?? name
  for (const [name, text] of all)
    all.set(
      name,
      text.replaceAll(/\]\((?:([\w-]+)\.md)?#([^)]+)\)/g, (_, page: string | undefined, anchor: string) => {
        const before = page ?? entryOf(name)
        const target = places.get(`${before}#${anchor}`) ?? before
        return target === name ? `](#${anchor})` : `](${target}.md#${anchor})`
      }),
    )
  return { pages: all, moved }
}
