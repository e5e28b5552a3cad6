// The package as users get it: packed by npm, and unpacked into node_modules of an empty folder below build/.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { kAll } from '../fixtures/short.ts'

export const kRoot = join(import.meta.dirname, '..', '..')
export const kShared = join(kRoot, '..', 'shared', 'data')

/** The time of the latest change to the files that would be packed. */
function stamp(): string {
  const files = readdirSync(join(kRoot, 'wasm/dist'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const newest = Math.max(...[...files, join(kRoot, 'package.json')].map((file) => statSync(file).mtimeMs))
  return String(Math.round(newest))
}

let root: string | undefined

/** A folder whose node_modules contains the packed package. Parallel test processes may create it at the same time. */
export function packedRoot(): string {
  if (root) return root
  const parent = join(kRoot, 'build/packed')
  root = join(parent, stamp())
  if (existsSync(root)) return root
  mkdirSync(parent, { recursive: true })
  const work = mkdtempSync(join(parent, 'making-'))
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', work], {
      cwd: kRoot,
      encoding: 'utf8',
    }),
  ) as [{ filename: string }]
  execFileSync('tar', ['-xzf', packed.filename], { cwd: work })
  mkdirSync(join(work, 'node_modules'))
  renameSync(join(work, 'package'), join(work, 'node_modules/ggufscope'))
  try {
    renameSync(work, root)
  } catch (error) {
    if (!existsSync(root)) throw error
    rmSync(work, { recursive: true, force: true })
  }
  return root
}

/** A file of the packed package. */
export function packedFile(path: string): string {
  return join(packedRoot(), 'node_modules/ggufscope', path)
}

/** Why tests of the 64-bit engine are skipped: scripts/build-package.sh left an empty module. false: they run. */
export const kLacks64 =
  !kAll &&
  statSync(packedFile('wasm/dist/engine/engine-memory64.wasm')).size <= 8 &&
  'the package was built without the 64-bit engine: npm run build'

/** The packed package as a page imports it. */
export async function loadPackage(): Promise<typeof import('ggufscope')> {
  return (await import(pathToFileURL(packedFile('wasm/dist/index.js')).href)) as typeof import('ggufscope')
}

/** The packed package as Node programs import it. */
export async function loadNodePackage(): Promise<typeof import('ggufscope/node')> {
  return (await import(
    pathToFileURL(packedFile('wasm/dist/node.js')).href
  )) as typeof import('ggufscope/node')
}

export async function loadHub(): Promise<typeof import('ggufscope/hub')> {
  return (await import(
    pathToFileURL(packedFile('wasm/dist/hub/index.js')).href
  )) as typeof import('ggufscope/hub')
}

/** The Node that runs the tests, and the machine's own if it is another one. */
export const kNodes = [
  process.execPath,
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((path) => path && !path.includes('node_modules'))
    .map((path) => join(path, 'node'))
    .filter((path) => existsSync(path) && realpathSync(path) !== realpathSync(process.execPath))
    .slice(0, 1),
]
