// Stores what a benchmark measured as data beside the documentation. The README's table is made of it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'

/** The benchmarks whose results the README shows. */
export type ResultName =
  | 'agreement'
  | 'decide'
  | 'draft'
  | 'engine'
  | 'image'
  | 'kokoro'
  | 'native'
  | 'preview'
  | 'speak'
  | 'speech'
  | 'tokenize'
  | 'unseen'

/** Figures of one contender in one case, medians: milliseconds, tokens a second, bytes, by their names. */
export interface ResultRow {
  readonly case: string
  readonly contender: string
  readonly [figure: string]: string | number
}
export interface Results {
  /** the day, YYYY-MM-DD */
  readonly measured: string
  readonly machine: string
  readonly command: string
  /** versions of the contenders and of what runs them */
  readonly versions: Readonly<Record<string, string>>
  readonly rows: readonly ResultRow[]
}

const kFolder = join(import.meta.dirname, '../../../web/docs/performance/results')
const pathOf = (name: ResultName) => join(kFolder, `${name}.json`)

/** Rounds to four digits, because no run repeats more. */
const rounded = (row: ResultRow): ResultRow =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      typeof value === 'number' ? Number(value.toPrecision(4)) : value,
    ]),
  ) as ResultRow

/** Replaces the stored results of a benchmark. The command is this process's, without what names a place of the machine. */
export function saveResults(
  name: ResultName,
  versions: Results['versions'],
  rows: readonly ResultRow[],
): void {
  const options = process.argv
    .slice(2)
    .filter((word) => word !== '--save')
    .map((word) => (/(?:^| )\//.test(word) ? 'PATH' : word))
  const results: Results = {
    measured: new Date().toISOString().slice(0, 10),
    machine: `${cpus()[0]?.model.trim() ?? 'processor'}, ${availableParallelism()} cores`,
    command: ['npm run bench --', name, ...(options.length > 0 ? ['--'] : []), ...options].join(' '),
    versions: { node: process.versions.node, ...versions },
    rows: rows.map(rounded),
  }
  mkdirSync(kFolder, { recursive: true })
  writeFileSync(pathOf(name), `${JSON.stringify(results, null, 2)}\n`)
}

export const readResults = (name: ResultName): Results =>
  JSON.parse(readFileSync(pathOf(name), 'utf8')) as Results

/** Versions of development dependencies, as package.json pins them. */
export function pinnedVersions(...names: readonly string[]): Record<string, string> {
  const manifest = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')
  const { devDependencies } = JSON.parse(manifest) as { devDependencies: Record<string, string> }
  return Object.fromEntries(names.map((name) => [name, devDependencies[name] ?? 'unknown']))
}
