// How the site's search ranks what it finds.
import type MiniSearch from 'minisearch'
import type { SearchOptions, SearchResult } from 'minisearch'

/** Words that say nothing of what is searched, as in "how do I quantize a model". */
const kStopWords = new Set(
  'a an and are as at be by can do does for from how i in into is it my of on or that the this to use using what when where which with you'.split(
    ' ',
  ),
)

/** The changelog and tables have most words more often than the guides about them. */
const placeOf = (page: string): number =>
  page.includes('/changelog')
    ? 0.1
    : /lint-rules|performance/.test(page)
      ? 0.5
      : page.includes('/guides/')
        ? 2
        : 1

/** More for the beginning of a page, and for a page or heading that is named by the word itself. */
function boostOf(page: string, word: string, fields: Record<string, unknown> = {}): number {
  const [, file, heading] = /([^/]*)\.html(?:#(.*))?$/.exec(page) ?? []
  const isBeginning = Array.isArray(fields['titles']) && fields['titles'].length === 0
  return placeOf(page) * (isBeginning ? 1.5 : 1) * (file === word ? 2 : 1) * (heading === word ? 2 : 1)
}

export const ownOptions: SearchOptions = {
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: boostOf,
  // A whole word counts more than all words that begin with it, or are like it.
  prefix: (term) => term.length > 1,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  weights: { prefix: 0.2, fuzzy: 0.1 },
}

/** Pages with all words first, then those with some of them. Only words that say nothing are searched where there are no others. */
export function searchAll(index: MiniSearch, text: string): SearchResult[] {
  const words = text.split(/\s+/).filter((word) => !kStopWords.has(word.toLowerCase().replace(/\W+$/, '')))
  const query = words.length > 0 ? words.join(' ') : text
  const all = index.search(query, { combineWith: 'AND' })
  const known = new Set(all.map(({ id }) => id as unknown))
  return [...all, ...index.search(query).filter(({ id }) => !known.has(id))]
}
