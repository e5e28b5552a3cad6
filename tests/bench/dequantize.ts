// Floats written per second by every dequantizer, as wasm in Node and in Chromium on one thread, compared with memcpy
// of the same output bytes, the scalar reference and the limit of memory in the same run (tests/bench/dequantize.cpp).
// If Python finds gguf-py (PYTHONPATH), its rates are shown, too.
//   npm run bench -- dequantize -- Q4_0 Q6_K 16    with 16 KiB of floats per call, which fit in the L1 cache
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { machine } from './common/figures.ts'
import { build, runInChromium, runInNode } from './common/program.ts'

interface Row {
  type: string
  /** bytes of output */
  bytes: number
  /** GB/s */
  simd: number
  /** the reference, compiled without vectorization */
  scalar: number
  /** the reference as the package compiles it */
  reference: number
  memcpy: number
  /** rate of a loop that only loads the type's bytes and stores as many floats */
  traffic: number
  /** simd relative to the others: medians of the rounds' ratios */
  of_memcpy: number
  of_scalar: number
  of_traffic: number
}
/** gguf-py's GB/s by type and output bytes; empty if it is missing. */
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

// The project's goals: these types reach 35 % of memcpy; the others are three times as fast as their scalar reference.
const kFastTypes = ['Q4_0', 'Q8_0', 'Q4_K', 'Q6_K', 'MXFP4']

/**
 * Whether a type reaches its goal. A kernel as fast as the loop that only moves the bytes is at the limit of memory.
 */
function verdict({ type, of_memcpy, of_scalar, of_traffic }: Row): string {
  const fast = kFastTypes.includes(type)
  const bar = fast ? '35 % of memcpy' : '3 x scalar'
  if (fast ? of_memcpy >= 0.35 : of_scalar >= 3) return `${bar}: met`
  return `${bar}: ${of_traffic >= 0.8 ? "at memory's limit" : 'missed'} (${(100 * of_traffic).toFixed(0)} % of traffic)`
}

function report(title: string, lines: string[], peers: Map<string, number>): void {
  const rows = lines.map((line) => JSON.parse(line) as Row)
  for (const bytes of new Set(rows.map((row) => row.bytes))) {
    console.log(
      `\n${title}, ${bytes / 2 ** 10} KiB of floats a call; GB/s, medians of 25 interleaved slices\n`,
    )
    console.log(
      '| type | SIMD | scalar | -O3 | memcpy | traffic | gguf-py | SIMD / memcpy | SIMD / scalar | bar |',
    )
    console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |')
    for (const row of rows.filter((one) => one.bytes === bytes)) {
      const { type, simd, scalar, reference, memcpy, traffic, of_memcpy, of_scalar } = row
      const peer = peers.get(`${type} ${bytes}`)
      const cells = [
        ...[simd, scalar, reference, memcpy, traffic].map((rate) => rate.toFixed(1)),
        peer?.toFixed(2) ?? '',
      ]
      console.log(
        `| ${type} | ${cells.join(' | ')} | ${(100 * of_memcpy).toFixed(0)} % | ${of_scalar.toFixed(1)} | ${verdict(row)} |`,
      )
    }
  }
}

build('dequantize')
console.log(machine())
const wanted = process.argv.slice(2)
const nodeLines: string[] = []
await runInNode('dequantize', wanted, (line) => nodeLines.push(line))
const peers = ofGgufPy()
report(`Node ${process.version}`, nodeLines, peers)
const { version, lines } = await runInChromium('dequantize', wanted)
report(`Chromium ${version}`, lines, peers)
console.log(`\n${machine()} at the end`)
