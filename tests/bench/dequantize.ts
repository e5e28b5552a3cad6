// Floats written per second by every dequantizer, as wasm in Node and in Chromium on one thread, against memcpy of the
// same output bytes and the scalar reference in the same run (tests/bench/dequantize.cpp).
import { execFileSync } from 'node:child_process'
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
}
type Create = (options: { print(line: string): void }) => Promise<unknown>

const kRoot = join(import.meta.dirname, '..', '..')
const kBuild = join(kRoot, 'build/wasm')

function build(): void {
  const quiet = { cwd: kRoot, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  const { CMAKE_CXX_COMPILER_LAUNCHER: _, ...env } = process.env
  execFileSync('emcmake', ['cmake', '-S', '.', '-B', kBuild, '-G', 'Ninja'], { ...quiet, env })
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

// The bars of the project: these at 35 % of memcpy; the others three times their scalar reference, or what it says.
const kFastTypes = ['Q4_0', 'Q8_0', 'Q4_K', 'Q6_K', 'MXFP4']

function report(title: string, lines: string[]): void {
  const rows = lines.map((line) => JSON.parse(line) as Row)
  for (const bytes of new Set(rows.map((row) => row.bytes))) {
    console.log(
      `\n${title}, ${bytes / 2 ** 20} MiB of floats a call; GB/s, medians of 25 interleaved slices\n`,
    )
    console.log('| type | SIMD | scalar | memcpy | SIMD / memcpy | SIMD / scalar | bar |')
    console.log('| --- | --: | --: | --: | --: | --: | --- |')
    for (const { type, simd, scalar, memcpy } of rows.filter((row) => row.bytes === bytes)) {
      const share = simd / memcpy
      const ratio = simd / scalar
      // Plain conversions and copies are limited by memory, whoever vectorizes them.
      const bar = kFastTypes.includes(type)
        ? share >= 0.35
          ? '35 % of memcpy: met'
          : '35 % of memcpy: missed'
        : ratio >= 3
          ? '3 x scalar: met'
          : share >= 0.5
            ? 'half of memcpy'
            : '3 x scalar: missed'
      const cells = [simd, scalar, memcpy].map((rate) => rate.toFixed(1))
      console.log(
        `| ${type} | ${cells.join(' | ')} | ${(100 * share).toFixed(0)} % | ${ratio.toFixed(1)} | ${bar} |`,
      )
    }
  }
}

build()
console.log(`${cpus()[0]?.model ?? 'processor'}, load ${loadavg()[0]!.toFixed(1)} of ${cpus().length}`)
report(`Node ${process.version}`, await inNode())
const { version, lines } = await inChromium()
report(`Chromium ${version}`, lines)
console.log(`\nload ${loadavg()[0]!.toFixed(1)} at the end`)
