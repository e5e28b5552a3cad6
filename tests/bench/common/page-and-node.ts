// Runs one measurement in a page of Chromium and in Node, by turns, and prints the median of each figure.
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startChromium } from './chromium.ts'
import { machine, median } from './figures.ts'
import { saveResults, type ResultName, type ResultRow } from './results.ts'

const kRoot = join(import.meta.dirname, '../../..')
const kModels = join(kRoot, 'build/bench-models')

export interface Task {
  /** Address of the engine's module. */
  readonly module: string
  /** Addresses of the case's files. */
  readonly files: readonly string[]
  readonly threads: number
}
/** Figures by their names: milliseconds. */
export type Run = Readonly<Record<string, number>>
export interface Case {
  readonly title: string
  /** Paths of files in build/bench-models. */
  readonly files: readonly string[]
  readonly threads: number
}
interface Global {
  /** What prepare() has left in the page or here. */
  run: () => Promise<Run>
  close: () => void
}

export interface Measurement {
  readonly name: ResultName
  /** Loads the model, and leaves `run` and `close` in globalThis. It runs in the page and here, so it may use nothing outside. */
  readonly prepare: (task: Task) => Promise<void>
  /** Figures of which the largest counts instead of the median. */
  readonly worst?: readonly string[]
  readonly rounds: number
  readonly save: boolean
}

/** The first run of each place is not counted. */
async function runsOf(places: Readonly<Record<string, () => Promise<Run>>>, rounds: number) {
  const runs = new Map(Object.keys(places).map((name) => [name, [] as Run[]]))
  for (let round = 0; round <= rounds; round++)
    for (const [name, run] of Object.entries(places)) {
      const result = await run()
      if (round > 0) runs.get(name)!.push(result)
    }
  return runs
}

export async function measure(cases: readonly Case[], options: Measurement): Promise<void> {
  const { name, prepare, worst = [], rounds, save } = options
  const chromium = await startChromium({ '/models': kModels })
  console.log(`${machine()}, Chromium ${chromium.version}, Node ${process.versions.node}`)
  const rows: ResultRow[] = []
  try {
    for (const { title, files, threads } of cases) {
      const page = await chromium.open(prepare, {
        module: `${chromium.url}/ours/engine/index.js`,
        files: files.map((path) => `${chromium.url}/models/${basename(path)}`),
        threads,
      })
      const module = pathToFileURL(join(kRoot, 'wasm/dist/node.js')).href
      await prepare({ module, files, threads })
      const { run, close } = globalThis as unknown as Global
      const inPage = () => page.evaluate(() => (globalThis as unknown as Global).run())
      for (const [contender, list] of await runsOf({ Chromium: inPage, Node: run }, rounds)) {
        const figures = Object.keys(list[0]!).map((figure) => {
          const values = list.map((run) => run[figure]!)
          return [figure, worst.includes(figure) ? Math.max(...values) : median(values)] as const
        })
        rows.push({ case: title, contender, ...Object.fromEntries(figures) })
        console.log(
          title,
          contender,
          figures.map(([figure, ms]) => `${figure} ${ms.toFixed(0)} ms`).join(', '),
        )
      }
      close()
      await page.close()
    }
    if (save) saveResults(name, { chromium: chromium.version }, rows)
  } finally {
    await chromium.close()
  }
}
