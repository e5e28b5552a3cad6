// Joins the modules of wasm/dist that a page needs together into one file each: without a bundler every file is a round
// trip, and those that it imports are the next one.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

const dist = join(import.meta.dirname, '../wasm/dist')

const kImport = /(?:^|[;}\n])(?:import|export)\b[^'"();]*?(?:\bfrom ?)?['"](\.[^'"]+)['"]/g
const imported = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(kImport)].map(([, target]) => join(dirname(path), target!))

/** A module and all that it imports at once. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const target of imported(path)) reach(target, seen)
  return seen
}

/** How another module is named in the file at that path. */
function named(target: string, from: string): string {
  const path = relative(dirname(from), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** Imports of modules that were joined lead to where they are now; those that `isInside` come into the file. */
function imports(out: string, isInside: (path: string) => boolean): Plugin {
  return {
    name: 'imports',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined
        const target = join(resolveDir, path)
        if (kind === 'import-statement' && isInside(target)) return undefined
        return { path: named(shared.has(target) ? opened : target, out), external: true }
      })
    },
  }
}

async function write(out: string, isInside: (path: string) => boolean, contents?: string): Promise<void> {
  await build({
    ...(contents === undefined ? { entryPoints: [out] } : { stdin: { contents, resolveDir: dist } }),
    outfile: out,
    allowOverwrite: true,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    logLevel: 'error',
    plugins: [imports(out, isInside)],
  })
}

const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.js'))
  .map((name) => join(dist, name))

// What open() needs: open.js. Every entry of the package finds it there, so there is one GgufError.
const index = join(dist, 'index.js')
const opened = join(dist, 'open.js')
const shared = reach(index)
shared.delete(index)

// Generated, and by another tool than what is written here.
const glue = new Set(['inspect.js', 'text.js'].map((name) => join(dist, name)))

// The engine's own: one file each for its page, its worker and its threads. The latter two need nothing of open.js.
const engine = ['index.js', 'worker.js', 'thread.js'].map((name) => join(dist, 'engine', name))
const [page, ...workers] = engine
const inside = new Set(engine.flatMap((path) => [...reach(path)]).filter((path) => !shared.has(path)))

// Workers bring their own copies, and so little of them that bundlers need not split what open.js loads later.
const template = join(dist, 'text/template-worker.js')
for (const path of [...workers, template]) await write(path, () => true)
await write(page!, (path) => !shared.has(path))
for (const path of scripts)
  if (
    path !== template &&
    !shared.has(path) &&
    !inside.has(path) &&
    imported(path).some((target) => shared.has(target))
  )
    await write(path, () => false)
const exports = [...shared].map((path) => `export * from ${JSON.stringify(named(path, index))}`)
await write(opened, (path) => shared.has(path), exports.join('\n'))

// What is left of modules that held types is empty. Glue stays for the next build, which may not make it again; the
// package goes without it (package.json).
for (const path of scripts) {
  const isJoined = (shared.has(path) || inside.has(path)) && path !== opened && !engine.includes(path)
  if ((isJoined && !glue.has(path)) || statSync(path).size === 0) rmSync(path)
}
