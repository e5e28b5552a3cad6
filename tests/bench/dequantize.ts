// Floats written per second by every dequantizer, as wasm in Node and in Chromium on one thread, against memcpy of the
// same output bytes, the scalar reference and what memory allows in the same run (tests/bench/dequantize.cpp). Where
// Python finds gguf-py (PYTHONPATH), its rates stand beside them.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from '@playwright/test'
import { startServer } from '../server/server.ts'
import { kBrowser } from '../web/browser.ts'

interface Row {
  type: string
  /** of output */
  bytes: number
  /** GB/s */
  simd: number
  scalar: number
  memcpy: number
  /** of a loop that only loads the type's bytes and stores as many floats */
  traffic: number
}
type Create = (options: { print(line: string): void }) => Promise<unknown>

const kRoot = join(import.meta.dirname, '..', '..')
const kBuild = join(kRoot, 'build/wasm')

function build(): void {
  const quiet = { cwd: kRoot, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  const { CMAKE_CXX_COMPILER_LAUNCHER: _, ...env } = process.env
  execFileSync('emcmake', ['cmake', '-S', '.', '-B', kBuild, '-G', 'Ninja', '-DGGUFSCOPE_TESTS=ON'], {
    ...quiet,
    env,
  })
  execFileSync('ninja', ['-C', kBuild, 'bench_dequantize'], { ...quiet, env })
}

async function inNode(): Promise<string[]> {
  const lines: string[] = []
  const { default: create } = (await import(pathToFileURL(join(kBuild, 'bench_dequantize.mjs')).href)) as {
    default: Create
  }
  await create({ print: (line) => lines.push(line) })
  return lines
}

async function inChromium(): Promise<{ version: string; lines: string[] }> {
  const server = await startServer({ isolated: true })
  server.mount('/', kBuild)
  server.add('/page.html', '<!doctype html><title>benchmark</title>')
  const browser = await chromium.launch(kBrowser)
  try {
    const page = await browser.newPage()
    await page.goto(`${server.url}/page.html`)
    const lines = await page.evaluate(async (address) => {
      const printed: string[] = []
      const { default: create } = (await import(address)) as { default: Create }
      await create({ print: (line) => printed.push(line) })
      return printed
    }, `${server.url}/bench_dequantize.mjs`)
    return { version: browser.version(), lines }
  } finally {
    await browser.close()
    await server.close()
  }
}

/** GB/s by type and output bytes; empty where there is no gguf-py. */
function ofGgufPy(): Map<string, number> {
  const script = join(import.meta.dirname, 'peers/gguf_py.py')
  const { status, stdout, stderr } = spawnSync('python3', [script], { encoding: 'utf8' })
  if (status !== 0) {
    console.log(
      `gguf-py: skipped (${stderr?.trim().split('\n').at(-1) ?? 'no python3'}); PYTHONPATH can name its folder`,
    )
    return new Map()
  }
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; bytes: number; rate: number })
  return new Map(rows.map(({ type, bytes, rate }) => [`${type} ${bytes}`, rate]))
}

// The bars of the project: these at 35 % of memcpy; the others three times their scalar reference, or what it says.
const kFastTypes = ['Q4_0', 'Q8_0', 'Q4_K', 'Q6_K', 'MXFP4']

/** How a type stands; what moves its bytes as fast as a loop that does nothing else is at the limit. */
function verdict({ type, simd, scalar, memcpy, traffic }: Row): string {
  if (kFastTypes.includes(type)) return `35 % of memcpy: ${simd / memcpy >= 0.35 ? 'met' : 'missed'}`
  if (simd / scalar >= 3) return '3 x scalar: met'
  const share = simd / traffic
  return `3 x scalar: ${share >= 0.8 ? "at memory's limit" : 'missed'} (${(100 * share).toFixed(0)} % of traffic)`
}

function report(title: string, lines: string[], peers: Map<string, number>): void {
  const rows = lines.map((line) => JSON.parse(line) as Row)
  for (const bytes of new Set(rows.map((row) => row.bytes))) {
    console.log(
      `\n${title}, ${bytes / 2 ** 20} MiB of floats a call; GB/s, medians of 25 interleaved slices\n`,
    )
    console.log('| type | SIMD | scalar | memcpy | traffic | gguf-py | SIMD / memcpy | SIMD / scalar | bar |')
    console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --- |')
    for (const row of rows.filter((one) => one.bytes === bytes)) {
      const { type, simd, scalar, memcpy, traffic } = row
      const peer = peers.get(`${type} ${bytes}`)
      const cells = [
        ...[simd, scalar, memcpy, traffic].map((rate) => rate.toFixed(1)),
        peer?.toFixed(2) ?? '',
      ]
      const [share, ratio] = [(100 * simd) / memcpy, simd / scalar]
      console.log(
        `| ${type} | ${cells.join(' | ')} | ${share.toFixed(0)} % | ${ratio.toFixed(1)} | ${verdict(row)} |`,
      )
    }
  }
}

build()
console.log(`${cpus()[0]?.model ?? 'processor'}, load ${loadavg()[0]!.toFixed(1)} of ${cpus().length}`)
const nodeLines = await inNode()
const peers = ofGgufPy()
report(`Node ${process.version}`, nodeLines, peers)
const { version, lines } = await inChromium()
report(`Chromium ${version}`, lines, peers)
console.log(`\nload ${loadavg()[0]!.toFixed(1)} at the end`)
