// Memory of the browser while load() reads a model: npm run bench -- memory -- --shapes 0.43B --types Q8_0 --threads 1,2
// --browsers chromium,firefox,webkit. Figures are MB by which all of the browser's processes grew at most from the page
// with the imported package on: anonymous and shared memory without files (RssAnon and RssShmem of /proc/PID/status).
// The weights are those of model.info.memory. Times do not count, so the machine may do other work.
import { readdirSync, readFileSync } from 'node:fs'
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
  },
})

const fields = (path: string): Map<string, number> =>
  new Map(
    readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name, value]) => [name!, Number.parseInt(value ?? '', 10)]),
  )

/** Bytes of all processes that this one started, and that they started. A process that has just ended counts as 0. */
function descendantBytes(): number {
  const processes = new Map<number, { parent: number; bytes: number }>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const status = fields(`/proc/${name}/status`)
      const kilobytes = (status.get('RssAnon') ?? 0) + (status.get('RssShmem') ?? 0)
      processes.set(Number(name), { parent: status.get('PPid')!, bytes: 1024 * kilobytes })
    } catch {
      continue
    }
  }
  const isOurs = (id: number): boolean => {
    const parent = processes.get(id)?.parent
    return parent === process.pid || (parent !== undefined && parent > 1 && isOurs(parent))
  }
  return [...processes].reduce((sum, [id, { bytes }]) => (isOurs(id) ? sum + bytes : sum), 0)
}

interface Measured {
  weights: number
  peak: number
  after: number
}

async function measure(page: Page, task: { url: string; path: string; threads: number }): Promise<Measured> {
  await page.goto(`${task.url}/index.html`)
  await page.evaluate(async () => {
    const engine = (await import('/ours/engine/index.js' as string)) as typeof Engine
    Object.assign(globalThis, { engine })
  })
  await sleep(kRestMs)
  const before = descendantBytes()
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, descendantBytes() - before)), kSampleMs)
  try {
    const weights = await page.evaluate(async ({ path, threads }) => {
      const { engine } = globalThis as unknown as { engine: typeof Engine }
      const model = await engine.load(path, { threads, contextLength: 256 })
      Object.assign(globalThis, { model })
      return model.info.memory.weights
    }, task)
    await sleep(kRestMs)
    return { weights, peak, after: descendantBytes() - before }
  } finally {
    clearInterval(timer)
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
          all.push(await measure(page, { url, path, threads }))
          await page.close()
        }
        const weights = all.map((one) => one.weights)
        const above = all.map(({ peak, weights }) => peak - weights)
        console.log(
          `| ${name} | ${shape.name}, ${type}, ${threads} | ${megabytes(weights)} | ${megabytes(all.map(({ peak }) => peak))} | ${megabytes(above)} | ${megabytes(all.map(({ after }) => after))} |`,
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
  'MB: packed weights; growth of the browser while it loads, and what is above the weights; afterwards.\n',
)
console.log('| browser | shape, type, threads | weights | peak | above the weights | afterwards |')
console.log('| --- | --- | --: | --: | --: | --: |')
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
