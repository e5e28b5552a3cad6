// How long until metadata and tensor list of a remote file are known, what it costs in requests and bytes, and how fast
// the header is parsed from memory: ggufscope, @huggingface/gguf and hyllama on the headers of kPreviewShapes.
// The server runs in a thread of its own; runs are interleaved; medians.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { gguf } from '@huggingface/gguf'
import { ggufMetadata } from 'hyllama'
import { open } from 'ggufscope'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { lazyWalk } from './peers/lazy-walk.ts'

const kRuns = 5
const kLinks = [
  { name: '0 ms, uncapped', delay: 0, bandwidth: Infinity },
  { name: '50 ms, 6.25 MB/s', delay: 50, bandwidth: 6.25e6 },
]

interface Link {
  delay: number
  bandwidth: number
}
interface Counts {
  requests: number
  bytes: number
}
interface File {
  name: string
  header: Uint8Array
  size: number
  tensors: number
}

async function serve({ link, files }: { link: Link; files: File[] }): Promise<void> {
  const server = await startServer(link)
  for (const { name, header, size } of files) server.add(`/${name}.gguf`, sparseContent(header, size))
  parentPort!.on('message', () => {
    parentPort!.postMessage(server.counts())
    server.reset()
  })
  parentPort!.postMessage(server.url)
}

async function main(): Promise<void> {
  const files = kPreviewShapes.map((shape): File => {
    const model = previewModel(shape)
    const { header, size } = writeHeader(model)
    return { name: shape.name, header, size, tensors: model.tensors!.length }
  })
  for (const { name, ...link } of kLinks) {
    console.log(`\n### Preview over HTTP: ${name}\n`)
    await remote(link, files)
  }
  console.log('\n### Header from memory\n')
  await memory(files)
}

/** Each reader gives the number of tensors that it found. */
type Reader = (file: File, url: string) => Promise<number>

const readers: Record<string, Reader> = {
  ggufscope: async (_, url) => {
    using file = await open(url)
    return file.tensors.length
  },
  '@huggingface/gguf': async (_, url) => (await gguf(url)).tensorInfos.length,
  // hyllama parses a buffer; its documentation fetches the first 10 MB.
  hyllama: async (_, url) => {
    const response = await fetch(url, { headers: { Range: 'bytes=0-10000000' } })
    return ggufMetadata(await response.arrayBuffer()).tensorInfos.length
  },
}

async function remote(link: Link, files: File[]): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { link, files } })
  const next = <T>() => new Promise<T>((done) => worker.once('message', done))
  const url = await next<string>()
  const counts = async () => {
    worker.postMessage('counts')
    return next<Counts>()
  }
  console.log('| header | reader | ms | floor ms | ratio | requests | sent bytes / header |')
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |')
  for (const file of files) {
    const results = new Map<string, { ms: number; requests: number; bytes: number }[]>()
    for (let run = -1; run < kRuns; run++) {
      for (const [name, reader] of Object.entries(readers)) {
        await counts()
        const start = performance.now()
        const tensors = await reader(file, `${url}/${file.name}.gguf`)
        const ms = performance.now() - start
        if (tensors !== file.tensors)
          throw new Error(`${name} found ${tensors} tensors of ${file.tensors} in ${file.name}`)
        await new Promise((done) => setTimeout(done, 20)) // what is still under way counts too
        if (run >= 0) results.set(name, [...(results.get(name) ?? []), { ms, ...(await counts()) }])
      }
    }
    const floor = link.delay + (file.header.length * 1000) / link.bandwidth
    for (const [name, all] of results) {
      const ms = median(all.map((r) => r.ms))
      const ratio = floor > 0 ? (ms / floor).toFixed(3) : '-'
      const sent = (median(all.map((r) => r.bytes)) / file.header.length).toFixed(3)
      const requests = median(all.map((r) => r.requests))
      console.log(
        `| ${title(file)} | ${name} | ${ms.toFixed(1)} | ${floor.toFixed(1)} | ${ratio} | ${requests} | ${sent} |`,
      )
    }
  }
  await worker.terminate()
}

async function memory(files: File[]): Promise<void> {
  const parsers: Record<string, (file: File) => number | Promise<number>> = {
    ggufscope: (file) => readers['ggufscope']!(file, file.header as unknown as string),
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

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

if (isMainThread) await main()
else await serve(workerData as { link: Link; files: File[] })
