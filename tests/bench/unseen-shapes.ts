// Four usual shapes of headers with vocabularies that nobody has seen: node tests/bench/unseen-shapes.ts [--seeds 10]
// [--browser]. Over a simulated link of 50 ms and 6.25 MB/s; with --browser over loopback servers of that delay and
// bandwidth, in Node and in Chromium over HTTP/1.1 and HTTP/2. Medians, and the longest in parentheses. --slower 10: the
// link is ten times as slow, and the times are divided by ten, so that other work on the machine counts less.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { open, type Preview } from 'ggufscope'
import { simulatedPreview } from '../fixtures/simulated-preview.ts'
import { kUnseenShapes, madeWords, realWords, unseenHeader, type Vocabulary } from '../fixtures/unseen.ts'
import { realVocabularies } from '../fixtures/words.ts'
import { machine, median } from './common/figures.ts'
import { startReaders } from './common/timed-readers.ts'

const kLink = { roundTripMs: 50, bytesPerMs: 6250 }
const kPreviews: readonly Preview[] = ['auto', 'sparse', 'full']

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    browser: { type: 'boolean', default: false },
    slower: { type: 'string', default: '1' },
  },
})
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => 30_000 + i)
const folder = join(import.meta.dirname, '../../../shared/data/vocab')
const pools = existsSync(folder) ? realVocabularies(folder) : []
const generators: [string, Vocabulary][] = [
  ['made', madeWords],
  ...(pools.length > 0
    ? ([['real', (count, random) => realWords(pools, count, random)]] as [string, Vocabulary][])
    : []),
]

const spread = (ms: readonly number[]): string => `${median(ms).toFixed(0)} (${Math.max(...ms).toFixed(0)})`

async function simulated(): Promise<void> {
  console.log(
    '| header | words | MB | auto ms | KB | requests | sparse ms | full ms | later by a round trip | wrong |',
  )
  console.log('| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |')
  for (const [title, shape] of Object.entries(kUnseenShapes))
    for (const [words, vocabulary] of generators) {
      const results = new Map(
        kPreviews.map((preview) => [preview, [] as Awaited<ReturnType<typeof simulatedPreview>>[]]),
      )
      const sizes: number[] = []
      for (const seed of seeds)
        for (const preview of kPreviews) {
          // Each preview has its own header, so that it cannot use what another one learned.
          const own = unseenHeader(seed + 1000 * kPreviews.indexOf(preview), vocabulary, shape)
          results.get(preview)!.push(await simulatedPreview(open, own, kLink, preview))
          if (preview === 'auto') sizes.push(own.header.length)
        }
      const auto = results.get('auto')!
      const full = sizes.map((size) => kLink.roundTripMs + size / kLink.bytesPerMs)
      const late = auto.filter(({ ms }, i) => ms > full[i]! + kLink.roundTripMs).length
      const wrong = [...results.values()].flat().filter(({ isRight }) => !isRight).length
      const times = kPreviews.map((preview) => spread(results.get(preview)!.map(({ ms }) => ms)))
      const kilobytes = median(auto.map(({ bytes }) => bytes / 1000)).toFixed(0)
      const requests = median(auto.map((one) => one.requests))
      console.log(
        `| ${title} | ${words} | ${(median(sizes) / 1e6).toFixed(1)} | ${times[0]} | ${kilobytes} | ${requests} | ${times[1]} | ${times[2]} | ${late} | ${wrong} |`,
      )
    }
}

/** Each reader opens its own headers, so that it cannot use what another one learned. */
async function measured(): Promise<void> {
  const slower = Number(values.slower)
  const { roundTripMs, bytesPerMs } = kLink
  const readers = await startReaders({ roundTripMs: slower * roundTripMs, bytesPerMs: bytesPerMs / slower })
  console.log(`${machine()}, times of a link ${slower} times as slow, divided by ${slower}\n`)
  console.log(`| header | words | ${readers.map(({ name }) => `${name}, ms`).join(' | ')} |`)
  console.log(`| --- | --- | ${readers.map(() => '--:').join(' | ')} |`)
  for (const [title, shape] of Object.entries(kUnseenShapes))
    for (const [words, vocabulary] of generators) {
      const times = readers.map(() => [] as number[])
      for (const seed of seeds) {
        const { header, size, model } = unseenHeader(seed, vocabulary, shape)
        for (const [i, reader] of readers.entries()) {
          const { ms, tensors } = await reader.time(header, size)
          if (tensors !== model.tensors!.length) throw new Error(`${reader.name}, seed ${seed}: wrong`)
          times[i]!.push(ms / slower)
        }
      }
      console.log(`| ${title} | ${words} | ${times.map(spread).join(' | ')} |`)
    }
  for (const reader of readers) await reader.close()
}

await (values.browser ? measured() : simulated())
