// Joins the modules of wasm/dist that a page needs together into one file each: without a bundler every file is a round
// trip, and those that it imports are the next one.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
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

// The engine's variants, each behind the one whose glue starts it.
const kVariants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads']

/** Glue without the names that a minifier made and without its module's. */
const plain = (name: string): string =>
  readFileSync(join(dist, `engine/engine-${name}.js`), 'utf8').replaceAll(/engine-[a-z-]+|[\w$]{1,3}/g, '')
for (const end of ['', '-threads'])
  if (plain(`simd${end}`) !== plain(`relaxed${end}`))
    throw new Error(`The glue of engine-relaxed${end}.wasm is not that of engine-simd${end}.wasm any more.`)

/** How another module is named in the file at that path. */
function named(target: string, from: string): string {
  const path = relative(dirname(from), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** Imports of modules that were joined lead to where they are now; those that `isInside` come into the file. */
function imports(out: string, isInside: (path: string) => boolean): Plugin {
  return {
    name: 'imports',
    setup({ onLoad, onResolve }) {
      // The glue is given its module: the address that it would look at is none for bundlers to find.
      onLoad({ filter: /[/\\]engine-(simd|relaxed)[a-z-]*\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replaceAll(
          /new URL\("[\w-]+\.wasm",import\.meta\.url\)\.href|import\.meta\.url/g,
          '""',
        ),
      }))
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
    // Some comments are for bundlers.
    minify: contents !== undefined || !readFileSync(out, 'utf8').includes('@vite-ignore'),
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    logLevel: 'error',
    plugins: [imports(out, isInside)],
  })
}

// Left of an earlier build: what has no source any more.
const source = join(dist, '../src')
const hasSource = (name: string): boolean =>
  [name.replace(/js$/, 'ts'), name.replace(/js$/, 'd.ts')].some((path) => existsSync(join(source, path)))
const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.js'))
  .filter((name) => {
    const stays = hasSource(name) || name.startsWith('engine/engine-relaxed')
    if (!stays) rmSync(join(dist, name))
    return stays
  })
  .map((name) => join(dist, name))

// What open() needs: open.js. Every entry of the package finds it there, so there is one GgufError.
const index = join(dist, 'index.js')
const opened = join(dist, 'open.js')
const shared = reach(index)
shared.delete(index)

// Generated, and by another tool than what is written here.
const glue = new Set(
  ['inspect.js', 'text.js', ...kVariants.map((name) => `engine/engine-${name}.js`)].map((name) =>
    join(dist, name),
  ),
)

// The engine's own: one file each for its page, its workers, and for where there are none. The worker's needs nothing of
// open.js and imports nothing: it may become a classic script, and may lie anywhere.
const engine = ['index.js', 'engine-worker.js', 'in-place.js'].map((name) => join(dist, 'engine', name))
const [page, worker, inPlace] = engine as [string, string, string]
const inside = new Set(engine.flatMap((path) => [...reach(path)]).filter((path) => !shared.has(path)))

// What makes prompts, with the first of them.
const prompts = join(dist, 'text/render-chat.js')
const ofPrompts = new Set([...reach(prompts)].filter((path) => !shared.has(path) && path !== prompts))

// Workers bring their own copies.
await write(worker, () => true)
for (const path of [inPlace, page, prompts]) await write(path, (path) => !shared.has(path))
for (const path of scripts)
  if (
    ![shared, inside, ofPrompts].some((joined) => joined.has(path)) &&
    path !== prompts &&
    imported(path).some((target) => shared.has(target))
  )
    await write(path, () => false)
const exports = [...shared].map((path) => `export * from ${JSON.stringify(named(path, index))}`)
await write(opened, (path) => shared.has(path), exports.join('\n'))

// What is left of modules that held types is empty. Glue stays for the next build, which may not make it again; the
// package goes without it (package.json).
for (const path of scripts) {
  const isJoined =
    [shared, inside, ofPrompts].some((joined) => joined.has(path)) && ![opened, ...engine].includes(path)
  if ((isJoined && !glue.has(path)) || statSync(path).size === 0) rmSync(path)
}
