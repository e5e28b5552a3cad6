// Memory of the browser while load() reads a model: npm run bench -- memory -- --shapes 0.43B --types Q8_0 --threads 1,2
// --browsers chromium,firefox,webkit. Figures are MB by which all of the browser's processes grew at most from the page
// with the imported package on: anonymous and shared memory without files (RssAnon and RssShmem of /proc/PID/status).
// The weights and the model's whole memory are those of model.info.memory. Times do not count, so the machine may do
// other work. With --limit 64, as root, the browser may grow by no more than the model's memory and 64 MB: the kernel
// ends processes that take more (a control group), and so the benchmark.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type * as Engine from 'ggufscope/engine'
import { missing, startBrowser, type BrowserName, type Driven, type Page } from '../browsers/drive.ts'
import { kMixes, kShapes, syntheticFile, type Mix } from '../fixtures/synthetic.ts'
import { startServer } from '../server/server.ts'
import { machine, median } from './common/figures.ts'

const kRoot = join(import.meta.dirname, '../..')
const kModels = join(kRoot, 'build/bench-models')
const kSampleMs = 10
// The browser ends its own work after a page was loaded.
const kRestMs = 2000

const { values } = parseArgs({
  options: {
    shapes: { type: 'string', default: 'SmolLM2-135M,0.43B' },
    types: { type: 'string', default: 'Q4_0,Q8_0' },
    threads: { type: 'string', default: [...new Set([1, availableParallelism()])].join(',') },
    browsers: { type: 'string', default: 'chromium,firefox,webkit' },
    rounds: { type: 'string', default: '3' },
    limit: { type: 'string' },
  },
})

const fields = (path: string): Map<string, number> =>
  new Map(
    readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name, value]) => [name!, Number.parseInt(value ?? '', 10)]),
  )

/** Bytes of the processes that this one started, and that they started, by id. */
function descendants(): Map<number, number> {
  const processes = new Map<number, { parent: number; bytes: number }>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const status = fields(`/proc/${name}/status`)
      const kilobytes = (status.get('RssAnon') ?? 0) + (status.get('RssShmem') ?? 0)
      processes.set(Number(name), { parent: status.get('PPid')!, bytes: 1024 * kilobytes })
    } catch {
      continue // it has just ended
    }
  }
  const isOurs = (id: number): boolean => {
    const parent = processes.get(id)?.parent
    return parent === process.pid || (parent !== undefined && parent > 1 && isOurs(parent))
  }
  return new Map([...processes].filter(([id]) => isOurs(id)).map(([id, { bytes }]) => [id, bytes]))
}

const descendantBytes = (): number => [...descendants().values()].reduce((sum, bytes) => sum + bytes, 0)

/** Lets the browser's processes grow by that many bytes. Returns a function that lifts the limit. */
function limitGrowth(bytes: number): () => void {
  // Version 1 of control groups, or version 2.
  const [root, name] = existsSync('/sys/fs/cgroup/memory')
    ? ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes']
    : ['/sys/fs/cgroup', 'memory.max']
  const group = join(root, `ggufscope-${process.pid}`)
  mkdirSync(group)
  writeFileSync(join(group, name), String(Math.ceil(bytes / 4096) * 4096))
  // What processes have already is not counted in the group that they join.
  for (const id of descendants().keys()) writeFileSync(join(group, 'cgroup.procs'), String(id))
  return () => {
    for (const id of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean))
      writeFileSync(join(root, 'cgroup.procs'), id)
    rmdirSync(group)
  }
}

interface Measured {
  weights: number
  total: number
  peak: number
  after: number
}

interface Task {
  url: string
  path: string
  threads: number
  /** largest growth in bytes; undefined: no limit */
  limit: number | undefined
}

async function measure(page: Page, task: Task): Promise<Measured> {
  await page.goto(`${task.url}/index.html`)
  await page.evaluate(async () => {
    const engine = (await import('/ours/engine/index.js' as string)) as typeof Engine
    Object.assign(globalThis, { engine })
  })
  await sleep(kRestMs)
  const before = descendantBytes()
  let peak = 0
  const lift = task.limit === undefined ? undefined : limitGrowth(task.limit)
  const timer = setInterval(() => (peak = Math.max(peak, descendantBytes() - before)), kSampleMs)
  try {
    const memory = await page.evaluate(async ({ path, threads }) => {
      const { engine } = globalThis as unknown as { engine: typeof Engine }
      const model = await engine.load(path, { threads, contextLength: 256 })
      Object.assign(globalThis, { model })
      return model.info.memory
    }, task)
    await sleep(kRestMs)
    return { weights: memory.weights, total: memory.total, peak, after: descendantBytes() - before }
  } finally {
    clearInterval(timer)
    lift?.()
  }
}

async function table(name: BrowserName, driven: Driven, url: string): Promise<void> {
  const megabytes = (bytes: readonly number[]): string => (median(bytes) / 1e6).toFixed(0)
  for (const shapeName of values.shapes.split(',')) {
    const shape = kShapes.find((one) => one.name === shapeName)
    if (!shape) throw new Error(`There is no shape ${shapeName}.`)
    for (const type of values.types.split(',')) {
      if (!kMixes.includes(type as Mix)) throw new Error(`There is no mixture ${type}.`)
      const path = `/models/${basename(await syntheticFile(kModels, shape, type as Mix))}`
      for (const threads of values.threads.split(',').map(Number)) {
        const all: Measured[] = []
        for (let round = 0; round < Number(values.rounds); round++) {
          const page = await driven.newPage()
          // The first load, without a limit, says what the model takes.
          const total = all[0]?.total
          const limit =
            total === undefined || values.limit === undefined ? undefined : total + 1e6 * Number(values.limit)
          all.push(await measure(page, { url, path, threads, limit }))
          await page.close()
        }
        const weights = all.map((one) => one.weights)
        const above = all.map(({ peak, total }) => peak - total)
        console.log(
          `| ${name} | ${shape.name}, ${type}, ${threads} | ${megabytes(weights)} | ${megabytes(all.map(({ total }) => total))} | ${megabytes(all.map(({ peak }) => peak))} | ${megabytes(above)} | ${megabytes(all.map(({ after }) => after))} |`,
        )
      }
    }
  }
}

const server = await startServer({ isolated: true })
server.mount('/ours', join(kRoot, 'wasm/dist'))
server.mount('/models', kModels)
server.add('/index.html', '<!doctype html><title>bench</title>')
console.log(machine())
console.log(
  'MB: packed weights; with cache and scratch; growth of the browser while it loads, and what is above both; afterwards.\n',
)
console.log('| browser | shape, type, threads | weights | model | peak | above the model | afterwards |')
console.log('| --- | --- | --: | --: | --: | --: | --: |')
try {
  for (const name of values.browsers.split(',') as BrowserName[]) {
    const reason = missing(name)
    if (reason) {
      console.log(`${name}: skipped, ${reason}`)
      continue
    }
    const driven = await startBrowser(name)
    try {
      await table(name, driven, server.url)
    } finally {
      await driven.close()
    }
  }
} finally {
  await server.close()
}
