// The GPU in Chromium: models of real shapes with random weights, in ggufscope and in wllama 3.13, the same files. Each model
// and engine has a browser of its own, without Playwright. Results are lines of JSON on the output and in a file.
//   node browser.mjs --root FOLDER [--out FILE] [--small] [--software] [--shapes 1B] [--types Q4_K_M] [--engines ggufscope]
// FOLDER: where run.sh unpacked the parts. wllama needs shader-f16: see kCardFlags.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { characterOf, promptOf, syntheticFile, type Mix } from '../../fixtures/synthetic.ts'
import { startServer } from '../../server/server.ts'
import { median } from '../common/figures.ts'
import type { Task } from './page.ts'
import { kCardShapes } from './shapes.ts'

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    out: { type: 'string' },
    small: { type: 'boolean', default: false },
    software: { type: 'boolean', default: false },
    shapes: { type: 'string' },
    types: { type: 'string', default: 'Q4_K_M' },
    engines: { type: 'string', default: 'ggufscope,ggufscope-fast,wllama' },
  },
})
const kRuns = 4
const kTimeoutMs = 400_000
const kLoopback = '127.0.0.1'

// Without --use-angle=vulkan, Chromium takes its own software without a word. Dawn hides shader-f16 on NVIDIA.
const kFlags = [
  '--no-sandbox',
  '--disable-gpu-sandbox',
  '--enable-unsafe-webgpu',
  '--use-angle=vulkan',
  '--enable-features=Vulkan',
  '--disable-vulkan-surface',
  '--enable-webgpu-developer-features',
  '--no-first-run',
  '--disable-background-networking',
]
const kCardFlags = ['--enable-dawn-features=vulkan_enable_f16_on_nvidia']
const kSoftwareFlags = ['--use-webgpu-adapter=swiftshader', '--enable-dawn-features=disable_workgroup_init']

function say(what: object): void {
  const line = JSON.stringify(what)
  console.log(line)
  if (values.out !== undefined) appendFileSync(values.out, `${line}\n`)
}

interface Result {
  readonly error?: string
  readonly adapter?: object
  readonly bytes?: number
  readonly loadMs?: number
  readonly runs?: readonly (readonly number[])[]
}

const server = await startServer({ isolated: true })
server.mount('/ggufscope', join(values.root, 'node_modules/ggufscope/wasm/dist'))
server.mount('/wllama', join(values.root, 'wllama'))
server.add('/page.js', readFileSync(join(values.root, 'page.mjs')))
server.add('/index.html', '<!doctype html><title>bench</title><script type="module" src="page.js"></script>')

let take = (_: Result): void => {}
const results = createServer((request, response) => {
  let body = ''
  request.on('data', (piece: Buffer) => (body += piece.toString()))
  request.on('end', () => {
    response.writeHead(204, { 'access-control-allow-origin': '*' }).end()
    take(JSON.parse(body) as Result)
  })
})
await new Promise<void>((ready) => results.listen(0, kLoopback, ready))

/** Runs a task in a browser of its own, and ends it. */
async function inBrowser(task: Omit<Task, 'results'>): Promise<Result> {
  const profile = mkdtempSync(join(tmpdir(), 'gpu-browser-'))
  const whole: Task = {
    ...task,
    results: `http://${kLoopback}:${(results.address() as AddressInfo).port}/`,
  }
  const flags = [...kFlags, ...(values.software ? kSoftwareFlags : kCardFlags), `--user-data-dir=${profile}`]
  const address = `${server.url}/index.html#${encodeURIComponent(JSON.stringify(whole))}`
  const child = spawn(
    join(values.root, 'chromium/chromium-headless-shell'),
    [...flags, '--remote-debugging-port=0', address],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LD_LIBRARY_PATH: join(values.root, 'chromium/lib') },
    },
  )
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => (errors = (errors + piece.toString()).slice(-2000)))
  const exited = new Promise<void>((done) => child.once('exit', () => done()))
  try {
    return await new Promise<Result>((done) => {
      take = done
      const failed = (why: string): void => done({ error: `${why}: ${errors}` })
      setTimeout(() => failed('no result in time'), kTimeoutMs).unref()
      child.once('error', (error) => failed(String(error)))
      void exited.then(() => failed('the browser ended'))
    })
  } finally {
    child.kill()
    await exited
    rmSync(profile, { recursive: true, force: true })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'gpu-models-'))
server.mount('/models', folder)
const [promptLength, tokens] = values.small ? [32, 6] : [2048, 128]
for (const name of (values.shapes ?? (values.small ? 'stories15M' : 'SmolLM2-135M,1B')).split(','))
  for (const mix of values.types.split(',')) {
    const shape = kCardShapes.find((one) => one.name === name)
    if (shape === undefined) throw new Error(`There is no shape ${name}.`)
    const path = await syntheticFile(folder, shape, mix as Mix)
    const prompts = Array.from({ length: kRuns }, (_, i) =>
      promptOf(i, promptLength, shape.vocabulary).map(characterOf).join(''),
    )
    for (const engine of values.engines.split(',') as Task['engine'][]) {
      const { runs, ...result } = await inBrowser({
        engine,
        model: path.replace(folder, '/models'),
        context: promptLength + 256,
        prompts,
        tokens,
        software: values.software,
      })
      // The first run compiles what is compiled on demand.
      const measured = (runs ?? []).slice(1)
      const of = (what: (times: readonly number[]) => number) => median(measured.map(what))
      say({
        browser: engine,
        model: name,
        mix,
        ...result,
        ...(measured.length > 0 && {
          promptTokensPerSecond: (1000 * promptLength) / of((times) => times[0]!),
          msPerToken: of((times) => (times.at(-1)! - times[0]!) / (times.length - 1)),
        }),
      })
    }
  }
rmSync(folder, { recursive: true })
process.exit(0)
