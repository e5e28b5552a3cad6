// The sparse preview on layouts that nobody has seen, over simulated links: node tests/bench/unseen.ts [--seeds 1000]
// [--from 1] [--links 50/6.25,20/50,200/1,0/0] [--list] [--peer] [--save]. The figures do not depend on how loaded this
// machine is. --peer: @huggingface/gguf reads the same headers over the same link. Its computing takes no time there, as
// ours. --save stores the figures of the link 50/6.25 for the README.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gguf } from '@huggingface/gguf'
import { open } from 'ggufscope'
import { simulatedPreview } from '../fixtures/simulated-preview.ts'
import { SimulatedLink, type LinkSpeed } from '../fixtures/simulated-link.ts'
import { madeWords, realWords, unseenHeader, type Unseen, type Vocabulary } from '../fixtures/unseen.ts'
import { realVocabularies } from '../fixtures/words.ts'
import { pinnedVersions, saveResults, type ResultRow } from './common/results.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    links: { type: 'string', default: '50/6.25,20/50,200/1,0/0' },
    preview: { type: 'string', default: 'auto' },
    list: { type: 'boolean', default: false },
    peer: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
})

// The package remembers layouts, so each link runs in a new process.
const others = values.links.split(',')
if (others.length > 1) {
  const rest = ['--seeds', values.seeds, '--from', values.from, '--preview', values.preview]
  const flags = (['list', 'peer', 'save'] as const).flatMap((name) => (values[name] ? [`--${name}`] : []))
  for (const link of others)
    execFileSync(process.execPath, [import.meta.filename, '--links', link, ...rest, ...flags], {
      stdio: 'inherit',
    })
  process.exit()
}

interface Result {
  readonly seed: number
  readonly headerBytes: number
  /** bytes of the keys and tensor infos after the last long array, which every preview must read */
  readonly tailBytes: number
  readonly full: number
  readonly ms: number
  readonly bytes: number
  readonly requests: number
  readonly complete: boolean
  /** milliseconds of @huggingface/gguf */
  readonly peer?: number
}

/** @huggingface/gguf asks for one range after the other. Its fetch reads from the link. */
async function peerTime({ header, size, model }: Unseen, speed: LinkSpeed): Promise<number> {
  const link = new SimulatedLink(speed, header, size)
  const { source } = link
  const fetch = async (_: unknown, { headers }: RequestInit = {}) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(new Headers(headers).get('range') ?? '')!
    const length = Math.min(Number(to) + 1, size) - Number(from)
    const bytes = await source.read(Number(from), length, {})
    return new Response(bytes as Uint8Array<ArrayBuffer>, { status: 206 })
  }
  const { tensorInfos } = await link.run(() =>
    gguf('http://127.0.0.1/model.gguf', { fetch: fetch as typeof globalThis.fetch }),
  )
  if (tensorInfos.length !== model.tensors!.length) throw new Error('@huggingface/gguf: wrong')
  return link.now
}

const folder = join(import.meta.dirname, '../../../shared/data/vocab')
const pools = existsSync(folder) ? realVocabularies(folder) : []
const generators: Vocabulary[] = [
  madeWords,
  ...(pools.length > 0 ? [(count: number, random: () => number) => realWords(pools, count, random)] : []),
]
const links = values.links.split(',').map((name) => {
  const [roundTripMs = 0, megabytes = 0] = name.split('/').map(Number)
  const speed: LinkSpeed = { roundTripMs, bytesPerMs: megabytes === 0 ? Infinity : megabytes * 1000 }
  return { name, speed, results: [] as Result[] }
})
let wrong = 0
for (let i = 0; i < Number(values.seeds); i++) {
  const seed = Number(values.from) + i
  const unseen = unseenHeader(seed, generators[seed % generators.length]!)
  for (const { name, speed, results } of links) {
    const full = speed.roundTripMs + unseen.header.length / speed.bytesPerMs
    const answer = await simulatedPreview(open, unseen, speed, values.preview as 'auto')
    if (!answer.isRight) {
      wrong++
      console.log(`seed ${seed}, ${name}: wrong`)
    }
    const { header } = unseen
    const peer = values.peer ? { peer: await peerTime(unseen, speed) } : {}
    const result = { seed, headerBytes: header.length, full, ...answer, ...peer }
    results.push(result)
    if (values.list)
      console.log(
        [
          seed,
          name,
          (header.length / 1e6).toFixed(1),
          answer.ms.toFixed(0),
          full.toFixed(0),
          (answer.bytes / 1e3).toFixed(0),
          answer.requests,
          answer.complete,
          unseen.model
            .metadata!.slice(-9)
            .map(([key]) => String(key).replace('tokenizer.ggml.', ''))
            .join(),
        ].join('\t'),
      )
  }
}

const saved: ResultRow[] = []
const part = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
console.log(`${values.seeds} layouts, ${generators.length} generators, ${wrong} wrong`)
for (const { name, speed, results } of links) {
  console.log(`\n### ${name.replace('/', ' ms / ')} MB/s\n`)
  console.log(
    '| headers | layouts | median ms | p90 | p99 | most | median KB | p99 KB | full, median ms | auto - full, most | @huggingface/gguf, median | later by a round trip |',
  )
  console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |')
  for (const [title, from, to] of [
    ['all', 0, Infinity],
    ['under 1 MB', 0, 1e6],
    ['1 to 2 MB', 1e6, 2e6],
    ['2 to 4 MB', 2e6, 4e6],
    ['4 MB and more', 4e6, Infinity],
  ] as const) {
    const some = results.filter(({ headerBytes }) => headerBytes >= from && headerBytes < to)
    const ms = some.map((one) => one.ms).sort((a, b) => a - b)
    const bytes = some.map((one) => one.bytes / 1000).sort((a, b) => a - b)
    const full = some.map((one) => one.full).sort((a, b) => a - b)
    const peer = some.map((one) => one.peer ?? NaN).sort((a, b) => a - b)
    const late = some.filter((one) => one.ms > one.full + speed.roundTripMs + 0.5)
    const figures = [
      part(ms, 0.5),
      part(ms, 0.9),
      part(ms, 0.99),
      part(ms, 1),
      part(bytes, 0.5),
      part(bytes, 0.99),
      part(full, 0.5),
      Math.max(...some.map((one) => one.ms - one.full)),
      part(peer, 0.5),
    ]
    if (values.save && name === '50/6.25') {
      const row = { case: title, headers: some.length }
      saved.push({ ...row, contender: 'ggufscope, auto', ms: part(ms, 0.5), bytes: 1000 * part(bytes, 0.5) })
      saved.push({ ...row, contender: 'ggufscope, full', ms: part(full, 0.5) })
      if (values.peer) saved.push({ ...row, contender: '@huggingface/gguf', ms: part(peer, 0.5) })
    }
    console.log(
      `| ${title} | ${some.length} | ${figures.map((n) => n.toFixed(0)).join(' | ')} | ${late.length}${
        late.length > 0
          ? ` (${late
              .slice(0, 8)
              .map(({ seed }) => seed)
              .join()})`
          : ''
      } |`,
    )
  }
  const large = results.filter(({ headerBytes }) => headerBytes >= 4e6)
  const over = large.filter(({ bytes }) => bytes > 500_000)
  console.log(
    `\n4 MB and more: ${over.length} read more than 500 KB, ${over.filter(({ tailBytes }) => tailBytes > 150_000).length} of them with more than 150 KB of keys and tensors behind the arrays; streamed whole: ${large.filter(({ complete }) => complete).length}\n`,
  )
  const width = 25
  const counts = new Map<number, number>()
  for (const { ms } of large)
    counts.set(Math.floor(ms / width), (counts.get(Math.floor(ms / width)) ?? 0) + 1)
  const most = Math.max(...counts.values(), 1)
  if (name === '50/6.25')
    for (const [at, count] of [...counts].sort((a, b) => a[0] - b[0]))
      console.log(
        `${String(at * width).padStart(5)} ms ${'#'.repeat(Math.ceil((60 * count) / most))} ${count}`,
      )
}
if (saved.length > 0) {
  saveResults('unseen', pinnedVersions('@huggingface/gguf'), saved)
}
