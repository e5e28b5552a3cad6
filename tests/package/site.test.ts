// The built documentation: its links, headings, tags for search engines, and the texts for programs (llms.txt).
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, test } from 'node:test'
import { kDocs, kSite } from '../../web/docs/.vitepress/site.ts'
import { kRoot } from './packed.ts'

const dist = join(kRoot, 'web/dist')
const site = join(dist, 'docs')
const skip = existsSync(join(site, 'index.html')) ? false : 'the site is not built: npm run build'

const read = (file: string): string => readFileSync(join(site, file), 'utf8')
const pages = globSync('**/*.html', { cwd: site })
  .filter((page) => page !== '404.html')
  .toSorted()
const sources = pages.map((page) => page.replace(/\.html$/, '.md'))

/** The anchors of a built page. */
function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!))
}

/** Whether the site has what an address of it names. */
const isServed = (address: string): boolean => {
  const path = decodeURIComponent(address.slice(kSite.length).replace(/[?#].*$/, ''))
  return existsSync(join(dist, path.endsWith('/') || path === '' ? `${path}index.html` : path))
}

describe('the built site', { skip }, () => {
  test('no link leads nowhere, anchors included', () => {
    const ids = new Map(pages.map((page) => [page, idsOf(read(page))]))
    const dead: string[] = []
    for (const page of pages) {
      for (const [, href] of read(page).matchAll(/<a[^>]*\shref="([^"]+)"/g)) {
        if (/^[a-z]+:/.test(href!)) continue
        const { pathname, hash } = new URL(href!.replaceAll('&amp;', '&'), `http://site/docs/${page}`)
        if (!pathname.startsWith('/docs/')) continue
        const path = pathname.slice('/docs/'.length)
        const target = path === '' || path.endsWith('/') ? `${path}index.html` : path
        const known = ids.get(target)
        if (!known) {
          if (!existsSync(join(site, target))) dead.push(`${page}: ${href}`)
        } else if (hash && !known.has(decodeURIComponent(hash.slice(1)))) dead.push(`${page}: ${href}`)
      }
    }
    assert.deepEqual([...new Set(dead)], [])
  })

  test('every page has one first heading, and no level is left out below it', () => {
    const faults = pages.flatMap((page) => {
      const html = read(page)
      const content = html.slice(html.indexOf('class="VPContent'))
      const levels = [...content.matchAll(/<h([1-6])[\s>]/g)].map(([, level]) => Number(level))
      const jump = levels.findIndex((level, i) => level > (levels[i - 1] ?? 0) + 1)
      return [
        ...(levels.filter((level) => level === 1).length === 1 ? [] : [`${page}: not one h1`]),
        ...(/<summary>\s*<\/summary>/.test(content) ? [`${page}: an empty summary`] : []),
        ...(jump === -1 ? [] : [`${page}: h${levels[jump]} after h${levels[jump - 1] ?? 0}`]),
      ]
    })
    assert.deepEqual(faults, [])
  })

  test('every page has a title, a description, its address and a picture', () => {
    const faults = pages.flatMap((page) => {
      const html = read(page)
      const tag = (name: string) =>
        new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(html)?.[1]
      const canonical = /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1] ?? ''
      const image = tag('og:image') ?? ''
      return [
        ...(/<title>.+<\/title>/.test(html) ? [] : ['no title']),
        ...(/^.{20,160}$/s.test(tag('description') ?? '') ? [] : [`description: ${tag('description')}`]),
        ...(tag('og:title') && tag('og:url') === canonical ? [] : ['no og:title or og:url']),
        ...(canonical === kDocs + page.replace(/(^|\/)index\.html$/, '$1') ? [] : [`address: ${canonical}`]),
        ...(image.startsWith(kSite) && isServed(image) ? [] : [`no picture ${image}`]),
      ].map((fault) => `${page}: ${fault}`)
    })
    assert.deepEqual(faults, [])
  })

  test('pages say the version, and written ones where they can be edited', () => {
    const { version } = JSON.parse(readFileSync(join(kRoot, 'package.json'), 'utf8')) as { version: string }
    for (const page of pages) assert.ok(read(page).includes(`>v${version}<`), page)
    const sourceOf = (page: string) => /href="[^"]*\/edit\/main\/([^"]*)"/.exec(read(page))?.[1]
    assert.equal(sourceOf('guides/run.html'), 'web/docs/guides/run.md')
    assert.equal(sourceOf('changelog.html'), 'CHANGELOG.md')
    assert.equal(sourceOf('reference/api/engine.html'), undefined)
    for (const page of pages) {
      const source = sourceOf(page)
      if (source !== undefined) assert.ok(existsSync(join(kRoot, source)), `${page}: ${source}`)
    }
  })

  test('the sitemap lists every page', () => {
    const listed = [...read('sitemap.xml').matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address]) => address!)
    assert.deepEqual(
      listed.toSorted(),
      pages.map((page) => kDocs + page.replace(/(^|\/)index\.html$/, '$1')).toSorted(),
    )
  })

  test('the API reference has every entry point, the main functions first, and an example of each function', () => {
    const { exports } = JSON.parse(readFileSync(join(kRoot, 'package.json'), 'utf8')) as {
      exports: Record<string, { types?: string }>
    }
    const entries = Object.keys(exports).filter((name) => exports[name]!.types)
    const overview = read('reference/api/index.md')
    for (const entry of entries) assert.ok(overview.includes(`\`${entry.replace('.', 'ggufscope')}\``), entry)
    assert.equal(overview.match(/^\| \[/gm)?.length, entries.length)
    for (const [page, first] of [
      ['ggufscope', 'open'],
      ['engine', 'load'],
      ['node', 'open'],
      ['hub', 'listRepository'],
    ])
      assert.match(
        read(`reference/api/${page}.md`),
        new RegExp(`^[^#]*# [^#]*## Functions\\s+### ${first}\\(\\)`),
        page,
      )
    const without = sources
      .filter((page) => page.startsWith('reference/api/'))
      .flatMap((page) => {
        const [, group = ''] = read(page).split(/^## Functions$/m)
        const functions = group.split(/^## /m)[0]!.split(/^### /m).slice(1)
        return functions
          .filter((text) => !text.includes('\nExample, from ['))
          .map((text) => `${page}: ${text.split('\n')[0]}`)
      })
    assert.deepEqual(without, [])
  })

  test('no page of the API reference is too long, and what moved to its parts is there', () => {
    const long = pages
      .filter((page) => page.startsWith('reference/api/'))
      .map((page) => [page, read(page).match(/<[a-z]/g)!.length] as const)
      .filter(([, elements]) => elements > 2500)
    assert.deepEqual(long, [])
    const moved = JSON.parse(read('api-anchors.json')) as Record<string, Record<string, string[]>>
    assert.deepEqual(Object.keys(moved), ['engine', 'ggufscope', 'edit'].toSorted())
    for (const parts of Object.values(moved))
      for (const [page, anchors] of Object.entries(parts)) {
        const ids = idsOf(read(`reference/api/${page}.html`))
        assert.deepEqual(
          anchors.filter((anchor) => !ids.has(anchor)),
          [],
          page,
        )
      }
  })

  test('llms.txt lists every page once, and says how many', () => {
    const text = read('llms.txt')
    assert.match(text, /^# ggufscope\n\n> /)
    const listed = [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): \S/gm)].map(([, , link]) => link!)
    assert.deepEqual(
      listed.toSorted(),
      sources.filter((page) => page !== 'index.md'),
    )
    assert.equal(Number(/The (\d+) pages below/.exec(text)?.[1]), listed.length)
  })

  test('llms-full.txt has the text of every listed page', () => {
    const full = read('llms-full.txt')
    const parts = [...full.matchAll(/^<!-- (\S+\.md) -->\n\n(.*)$/gm)].map(([, page, title]) => [page, title])
    assert.deepEqual(
      parts.map(([page]) => page!).toSorted(),
      sources.filter((page) => page !== 'index.md'),
    )
    for (const [page, title] of parts) {
      assert.ok(read(page!).startsWith(`${title}\n`) && title!.startsWith('# '), page)
      // Without the links, which begin at another folder.
      const plain = (text: string) => text.replaceAll(/\]\([^)\s]*\)/g, ']')
      assert.ok(plain(full).includes(plain(read(page!)).trim()), page)
    }
  })

  test('every link of the texts resolves', () => {
    const dead = ['llms.txt', 'llms-full.txt', ...sources].flatMap((file) => {
      // Not within code.
      const text = read(file)
        .replaceAll(/^( *)```.*?^\1```/gms, '')
        .replaceAll(/`[^`\n]*`/g, '')
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, href]) => href!)
        .filter((href) => !/^(?:https?:|mailto:|#)/.test(href))
        .filter((href) => {
          const path = posix.join('docs', posix.dirname(file), href.replace(/[?#].*$/, ''))
          return !existsSync(join(dist, path))
        })
        .map((href) => `${file}: ${href}`)
    })
    assert.deepEqual([...new Set(dead)], [])
  })
})
