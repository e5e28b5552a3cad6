// Checks the list and size of the packed files: they belong to the package, and what open() loads is within its
// budget.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { gzippedPart } from './module-parts.ts'

const root = join(import.meta.dirname, '..')
// What every page loads, lint with the tensors of each architecture and their types included.
const kBudget = 108_600
// 33 kB of it are for the plans of GPUs, adapters, images and image encoders in them, and their bindings, 34 kB for decisions and the newest
// architectures, 35 kB for speech out, 9 kB for OuteTTS, 25 kB for Kokoro, 10 kB for drafts that propose blocks or read a
// cache, 5 kB for traces, 1 kB for the canvas of MiniCPM-V 4.7, 10 kB for Whisper
// on GPUs, 2 kB for Gemma 4 and T5's encoders there.
const kEngineBudget = 846_000
// What speaks WebGPU, with its kernels.
const kGpuBudget = 40_000
// What lowers models to plans for them (core/gpu), in each engine module.
const kLoweringBudget = 25_000
const kJinjaBudget = 90_000
// What a page with the custom element loads before the element opens a file.
const kElementBudget = 60_000
const allowed = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|wasm\/THIRD_PARTY_NOTICES\.txt|web\/screenshot\.png)$/,
  // What the README links to. The pages of the reference that are generated are not in the repository.
  /^(core\/README|\.github\/CONTRIBUTING|web\/docs\/(?!reference\/(?:api\/|commands|errors|lint-rules|sampling))[\w/-]+)\.md$/,
  /^wasm\/dist\/(?:[a-z-]+\/)*[a-z0-9-]+\.(?:js|js\.map|d\.ts|wasm)$/,
  // The licences of what the custom element contains.
  /^wasm\/dist\/THIRD_PARTY_NOTICES\.txt$/,
]
const required = [
  'element.js',
  'index.js',
  'index.d.ts',
  'open.js',
  'node.js',
  'node.d.ts',
  'cli.js',
  'inspect.wasm',
]

const errors: string[] = []
const report = execFileSync('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
})
const [packed] = JSON.parse(report) as [{ files: { path: string; size: number }[]; size: number }]
const paths = packed.files.map(({ path }) => path)
for (const path of paths)
  if (!allowed.some((pattern) => pattern.test(path))) errors.push(`${path} does not belong in the package`)
for (const name of [
  ...required.map((file) => `wasm/dist/${file}`),
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'wasm/THIRD_PARTY_NOTICES.txt',
])
  if (!paths.includes(name)) errors.push(`${name} is missing from the package`)

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  sideEffects: unknown
  dependencies?: unknown
  exports: Record<string, string | Record<string, string>>
  jsdelivr: unknown
  unpkg: unknown
}
if (manifest.dependencies !== undefined) errors.push('package.json: the package has no dependencies')
// Only the custom element's module does something when it is imported: it defines the element.
if (JSON.stringify(manifest.sideEffects) !== '["./wasm/dist/element.js","./wasm/dist/element/*.js"]')
  errors.push('package.json: only the element may have side effects')
// What content networks give for the package's name is its main entry.
for (const network of ['jsdelivr', 'unpkg'] as const)
  if (manifest[network] !== (manifest.exports['.'] as Record<string, string>)['default'])
    errors.push(`package.json: ${network} is not the main entry`)
for (const target of Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [entry] : Object.values(entry),
))
  if (!paths.includes(target.replace(/^\.\//, '')))
    errors.push(`package.json exports ${target}, which is not packed`)

// npm corrects fields when it publishes, with a warning.
const copy = mkdtempSync(join(tmpdir(), 'ggufscope-'))
copyFileSync(join(root, 'package.json'), join(copy, 'package.json'))
execFileSync('npm', ['pkg', 'fix'], { cwd: copy, stdio: 'ignore' })
if (readFileSync(join(copy, 'package.json'), 'utf8') !== readFileSync(join(root, 'package.json'), 'utf8'))
  errors.push('package.json: npm would correct it; run "npm pkg fix"')
rmSync(copy, { recursive: true })

/** A module and its static imports. Dynamic imports are not needed to open a file. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  const imports = readFileSync(path, 'utf8').matchAll(
    /(?:^|[;}\n])(?:import|export)\b[^'"();]*\bfrom ?['"](\.[^'"]+)['"]/g,
  )
  for (const [, target] of imports) reach(join(path, '..', target!), seen)
  return seen
}
const dist = join(root, 'wasm/dist')
// All entries must import GgufError from this one file (join-modules.ts).
for (const entry of ['index.js', 'engine/index.js'])
  if (
    [...reach(join(dist, entry))].some((path) => ![join(dist, entry), join(dist, 'open.js')].includes(path))
  )
    errors.push(`${entry} and open.js import others: ${[...reach(join(dist, entry))].join(', ')}`)
const workers = ['engine-worker.js', 'engine-gpu-worker.js'].map((name) => join(dist, 'engine', name))
for (const path of workers)
  if (reach(path).size > 1) errors.push(`${path.slice(dist.length + 1)} imports other modules`)
const loaded = [...reach(join(dist, 'index.js')), join(dist, 'inspect.wasm')]
if (!loaded.includes(join(dist, 'open.js'))) errors.push('the list of what open() loads lacks open.js')
const bytes = loaded.reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).length, 0)
const engines = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads', 'memory64'].map(
  (name) => `engine/engine-${name}.wasm`,
)
for (const name of engines) {
  const size = gzipSync(readFileSync(join(dist, name)), { level: 9 }).length
  if (size > kEngineBudget) errors.push(`${name} has ${size} bytes gzipped, more than ${kEngineBudget}`)
}
// With GGUFSCOPE_64=0, scripts/build-package.sh leaves an empty module there.
if (process.env['GGUFSCOPE_64'] !== '0' && statSync(join(dist, engines.at(-1)!)).size <= 8)
  errors.push('engine-memory64.wasm is empty: npm run build makes it')
// The functions of core/gpu, and what the standard library's templates become for its types.
const lowering = gzippedPart(
  readFileSync(join(dist, 'engine/engine-simd.wasm')),
  readFileSync(join(root, 'build/wasm/engine-simd.symbols'), 'utf8'),
  (name) => name.includes('ggufscope::gpu::') && !/^ggufscope::(?!gpu::)/.test(name),
)
if (lowering > kLoweringBudget)
  errors.push(`core/gpu has ${lowering} bytes gzipped in engine-simd.wasm, more than ${kLoweringBudget}`)
const jinja = gzipSync(readFileSync(join(dist, 'jinja.wasm')), { level: 9 }).length
const [cpuWorker, gpuWorker] = workers.map((path) => gzipSync(readFileSync(path), { level: 9 }).length)
if (gpuWorker! - cpuWorker! > kGpuBudget)
  errors.push(`engine-gpu-worker.js has ${gpuWorker! - cpuWorker!} bytes more than engine-worker.js, gzipped`)
if (jinja > kJinjaBudget) errors.push(`jinja.wasm has ${jinja} bytes gzipped, more than ${kJinjaBudget}`)
// The element's own code up to there; what open() loads has a budget of its own.
const early = [join(dist, 'element.js'), ...reach(join(dist, 'element/app.js'))].filter((path) =>
  path.startsWith(join(dist, 'element')),
)
const element = early.reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).length, 0)
if (element > kElementBudget)
  errors.push(
    `the element loads ${element} bytes gzipped before it opens a file, more than ${kElementBudget}`,
  )
if (bytes > kBudget) errors.push(`open() loads ${bytes} bytes gzipped, more than ${kBudget}`)

for (const error of errors) console.error(error)
if (errors.length > 0) process.exit(1)
console.log(
  `package: ${paths.length} files, ${packed.size} bytes packed; open() loads ${bytes} of ${kBudget} bytes gzipped, the element ${element} of ${kElementBudget}`,
)
