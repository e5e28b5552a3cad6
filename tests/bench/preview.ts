// Measures the time to the first keys and to the tensor list of a remote file, its cost (requests, successive round
// trips, bytes), and how fast the header is parsed from memory. Compares ggufscope (previews full, sparse and auto)
// with @huggingface/gguf and hyllama, on the headers of kPreviewShapes. The server runs in a separate thread. Runs
// alternate. Figures are medians. --links 50 measures the links whose names begin so; --save stores their figures for the
// README.
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { gguf } from '@huggingface/gguf'
import { ggufMetadata } from 'hyllama'
import { open, type Preview } from 'ggufscope'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { median } from './common/figures.ts'
import { pinnedVersions, saveResults, type ResultRow } from './common/results.ts'
import { lazyWalk } from './peers/lazy-walk.ts'

const kRuns = 5
const kLinks = [
  { name: '0 ms, uncapped', delay: 0, bandwidth: Infinity },
  { name: '50 ms, 6.25 MB/s', delay: 50, bandwidth: 6.25e6 },
  { name: '50 ms, uncapped', delay: 50, bandwidth: Infinity },
  { name: '200 ms, 1 MB/s', delay: 200, bandwidth: 1e6, runs: 2, peers: false },
  { name: '20 ms, 50 MB/s', delay: 20, bandwidth: 50e6 },
]

interface Link {
  delay: number
  bandwidth: number
  runs?: number
  /** false: leaves out the other readers, which would take minutes */
  peers?: boolean
}
interface Counts {
  requests: number
  /** number of successive round trips */
  rounds: number
  bytes: number
}
interface File {
  name: string
  header: Uint8Array
  size: number
  tensors: number
}

async function serve({ link, files, first }: { link: Link; files: File[]; first: number }): Promise<void> {
  const server = await startServer(link)
  for (const { name, header, size } of files) {
    for (let edition = 0; edition < kEditions; edition++)
      server.add(`/${name}-${edition}.gguf`, sparseContent(editionOf(header, first + edition), size))
  }
  parentPort!.on('message', () => {
    parentPort!.postMessage({ ...server.counts(), rounds: rounds(server.log, link.delay) })
    server.reset()
  })
  parentPort!.postMessage(server.url)
}

// A known vocabulary is found faster, so each run on each link has its own edition of it, and another one for auto.
const kEditions = 2 * (kRuns + 1)

/** The header with other letters at the beginning of the first two tokens. */
function editionOf(header: Uint8Array, edition: number): Uint8Array {
  const key = 'tokenizer.ggml.tokens'
  const first = Buffer.from(header.buffer, header.byteOffset, 1 << 16).indexOf(key) + key.length + 24
  const copy = header.slice()
  copy[first] = 0x41 + (edition % 26)
  copy[first + header[first - 8]! + 8] = 0x41 + Math.floor(edition / 26)
  return copy
}

/** Counts rounds. A request belongs to a round if it was sent less than a round trip after its first request. */
function rounds(log: readonly { time: number }[], delay: number): number {
  let count = 0
  let begin = -Infinity
  for (const { time } of log) {
    if (time < begin + Math.max(delay, 1)) continue
    begin = time
    count++
  }
  return count
}

async function main(): Promise<void> {
  const files = kPreviewShapes.map((shape): File => {
    const model = previewModel(shape)
    const { header, size } = writeHeader(model)
    return { name: shape.name, header, size, tensors: model.tensors!.length }
  })
  const { values } = parseArgs({
    options: { links: { type: 'string', default: '' }, save: { type: 'boolean', default: false } },
  })
  for (const [i, { name, ...link }] of kLinks.entries()) {
    if (!name.startsWith(values.links)) continue
    console.log(`\n### Preview over HTTP: ${name}\n`)
    await remote(name, link, files, i * kEditions)
  }
  console.log('\n### Header from memory\n')
  await memory(files)
  if (!values.save) return
  saveResults('preview', pinnedVersions('@huggingface/gguf', 'hyllama'), saved)
}

const saved: ResultRow[] = []

/** A reader returns the number of tensors, and calls onKeys when it knows the first keys. */
type Reader = (file: File, url: string, onKeys: () => void) => Promise<number>

const ours =
  (preview: Preview): Reader =>
  async (_, url, onKeys) => {
    using file = await open(url, { preview, onKeys })
    return file.tensors.length
  }

const readers: Record<string, Reader> = {
  'ggufscope, full': ours('full'),
  'ggufscope, sparse': ours('sparse'),
  'ggufscope, sparse, met before': ours('sparse'),
  'ggufscope, auto': ours('auto'),
  '@huggingface/gguf': async (_, url) => (await gguf(url)).tensorInfos.length,
  // hyllama parses a buffer. Its documentation fetches the first 10 MB.
  hyllama: async (_, url) => {
    const response = await fetch(url, { headers: { Range: 'bytes=0-10000000' } })
    return ggufMetadata(await response.arrayBuffer()).tensorInfos.length
  },
}

async function remote(linkName: string, link: Link, files: File[], first: number): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { link, files, first } })
  const next = <T>() => new Promise<T>((done) => worker.once('message', done))
  const url = await next<string>()
  const counts = async () => {
    worker.postMessage('counts')
    return next<Counts>()
  }
  console.log('| header | reader | ms | first keys ms | floor ms | ratio | requests | rounds | KB sent |')
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
  const { delay, bandwidth, runs = kRuns, peers = true } = link
  const chosen = Object.entries(readers).filter(([name]) => peers || name.startsWith('ggufscope'))
  for (const file of files) {
    const results = new Map<string, { ms: number; keysMs: number; counts: Counts }[]>()
    for (let run = -1; run < runs; run++) {
      for (const [name, reader] of chosen) {
        await counts()
        const start = performance.now()
        let keysMs = NaN
        const onKeys = () => (keysMs = performance.now() - start)
        const tensors = await reader(
          file,
          `${url}/${file.name}-${run + 1 + (name.endsWith('auto') ? kRuns + 1 : 0)}.gguf`,
          onKeys,
        )
        const ms = performance.now() - start
        if (tensors !== file.tensors)
          throw new Error(`${name} found ${tensors} tensors of ${file.tensors} in ${file.name}`)
        await new Promise((done) => setTimeout(done, 20 + delay)) // pending bytes count, too
        const result = { ms, keysMs, counts: await counts() }
        if (run >= 0) results.set(name, [...(results.get(name) ?? []), result])
      }
    }
    const floor = delay + (file.header.length * 1000) / bandwidth
    for (const [name, all] of results) {
      const ms = median(all.map((r) => r.ms))
      const keysMs = median(all.map((r) => r.keysMs))
      const ratio = floor > 0 ? (ms / floor).toFixed(3) : '-'
      saved.push({ case: `${linkName}; ${title(file)}`, contender: name, ms, floor })
      const sent = median(all.map((r) => r.counts.bytes / 1000)).toFixed(0)
      const requests = median(all.map((r) => r.counts.requests))
      const rounds = median(all.map((r) => r.counts.rounds))
      const keys = Number.isNaN(keysMs) ? '-' : keysMs.toFixed(1)
      console.log(
        `| ${title(file)} | ${name} | ${ms.toFixed(1)} | ${keys} | ${floor.toFixed(1)} | ${ratio} | ${requests} | ${rounds} | ${sent} |`,
      )
    }
  }
  await worker.terminate()
}

async function memory(files: File[]): Promise<void> {
  const parsers: Record<string, (file: File) => number | Promise<number>> = {
    ggufscope: (file) => ours('full')(file, file.header as unknown as string, () => {}),
    'plain JS, lazy walk': (file) => lazyWalk(file.header).tensors.length,
    hyllama: (file) => ggufMetadata(file.header.buffer as ArrayBuffer).tensorInfos.length,
  }
  console.log('| header | parser | ms | MB/s |')
  console.log('| --- | --- | ---: | ---: |')
  for (const file of files) {
    const times = new Map<string, number[]>()
    for (let run = -2; run < 2 * kRuns; run++) {
      for (const [name, parser] of Object.entries(parsers)) {
        const start = performance.now()
        if ((await parser(file)) !== file.tensors) throw new Error(`${name}: wrong count`)
        const ms = performance.now() - start
        if (run >= 0) times.set(name, [...(times.get(name) ?? []), ms])
      }
    }
    for (const [name, all] of times) {
      const ms = median(all)
      console.log(
        `| ${title(file)} | ${name} | ${ms.toFixed(2)} | ${(file.header.length / 1000 / ms).toFixed(0)} |`,
      )
    }
  }
}

function title(file: File): string {
  return `${file.name}, ${(file.header.length / 1e6).toFixed(2)} MB`
}

if (isMainThread) await main()
else await serve(workerData as Parameters<typeof serve>[0])
