// Kills writing commands at random moments, and runs them on a full disk. Inputs must stay unchanged, no truncated
// output may have its final name, and leftover temporary files must be recognizable by their names.
//   node tests/faults/outputs.ts [kills=200] [megabytes=48] [seed]
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGguf } from '../fixtures/gguf.ts'
import { floatBytes, shards, text, u32 } from '../fixtures/models.ts'
import { packedFile } from '../package/packed.ts'

const kRows = 256
const kPartName = /^\.(.+)\.[0-9a-f]{12}\.part$/
const kIn = ['in-00001-of-00002.gguf', 'in-00002-of-00002.gguf'] as const

interface Case {
  readonly name: string
  readonly args: readonly string[]
  readonly outputs: readonly string[]
}

const kCases: readonly Case[] = [
  { name: 'dequantize', args: [kIn[0], 'token_embd.weight', '-o', 'out'], outputs: ['out'] },
  { name: 'set', args: ['whole.gguf', 'general.name=x', '-o', 'out'], outputs: ['out'] },
  { name: 'set', args: ['place.gguf', 'general.name=x', '--in-place'], outputs: ['place.gguf'] },
  { name: 'merge', args: [kIn[0], '-o', 'out'], outputs: ['out'] },
  {
    name: 'split',
    args: ['whole.gguf', '--max-tensors', '1', '-o', 'out'],
    outputs: [1, 2].map((i) => `out-0000${i}-of-00002.gguf`),
  },
  { name: 'quantize', args: [kIn[0], 'Q8_0', '-o', 'out'], outputs: ['out'] },
  {
    name: 'convert',
    args: ['whole.gguf', '--endian', 'big', '--format', 'gguf', '-o', 'out'],
    outputs: ['out'],
  },
  { name: 'convert', args: ['whole.gguf', '--format', 'safetensors', '-o', 'out'], outputs: ['out'] },
]

const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Writes a model of about this many bytes, as one file and as two. */
function makeInputs(folder: string, bytes: number): void {
  const columns = Math.max(256, Math.floor(bytes / 2 / 4 / kRows / 256) * 256)
  const tensors = ['token_embd', 'blk.0.attn_q'].map((name, i) => {
    return {
      name: `${name}.weight`,
      shape: [columns, kRows],
      type: 'F32',
      data: floatBytes(columns * kRows, i),
    }
  })
  const metadata = [
    ['general.architecture', text('llama')],
    ['llama.block_count', u32(1)],
  ] as [string, ReturnType<typeof text>][]
  const model = { metadata, tensors }
  writeFileSync(join(folder, 'whole.gguf'), writeGguf(model))
  for (const part of shards(model, 2, 'in')) writeFileSync(join(folder, part.name), writeGguf(part.model))
}

interface Ended {
  readonly status: number | null
  readonly err: string
  readonly ms: number
}

/** Runs the command line and kills it after this time. */
function run(folder: string, args: readonly string[], killMs = Infinity, shell?: string): Promise<Ended> {
  const begun = performance.now()
  const words = [process.execPath, packedFile('wasm/dist/cli.js'), ...args]
  const [program, ...rest] =
    shell === undefined ? words : ['bash', '-c', `${shell}; exec "$0" "$@"`, ...words]
  const child = spawn(program!, rest, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const timer = killMs === Infinity ? undefined : setTimeout(() => child.kill('SIGKILL'), killMs)
  let err = ''
  child.stderr.on('data', (data: Buffer) => (err += data.toString()))
  return new Promise((done) =>
    child.on('close', (status) => {
      clearTimeout(timer)
      done({ status, err, ms: performance.now() - begun })
    }),
  )
}

/** Reproducible pseudorandom numbers (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface Figures {
  kills: number
  /** kills before an output existed, without or with a leftover part */
  nothing: number
  parts: number
  /** kills after all outputs were complete, or some files of a set */
  whole: number
  someOfSet: number
  /** runs on a full disk */
  full: number
  readonly fullBy: string[]
}

/** Kills each command this many times, alternating between an existing output and a new one. */
async function killAll(folder: string, kills: number, random: () => number, figures: Figures): Promise<void> {
  const inputs = ['whole.gguf', ...kIn]
  const before = inputs.map((name) => hash(join(folder, name)))
  const known = new Set([...inputs, 'place.gguf', 'run'])
  const clean = (): void => {
    for (const name of readdirSync(folder))
      if (!known.has(name)) rmSync(join(folder, name), { recursive: true })
    copyFileSync(join(folder, 'whole.gguf'), join(folder, 'place.gguf'))
  }
  for (const [index, { name, args, outputs }] of kCases.entries()) {
    clean()
    const whole = await run(folder, [name, ...args])
    assert.equal(whole.status, 0, `${name}: ${whole.err}`)
    // The least time of a whole run: the first one also waits for the disk, and for what else runs.
    let ms = whole.ms
    const right = outputs.map((output) => hash(join(folder, output)))
    const share = Math.floor(kills / kCases.length) + (index < kills % kCases.length ? 1 : 0)
    // A process that ended before it was killed does not count.
    for (let i = 0, killed = 0; killed < share; i++) {
      assert.ok(i < 10 * share + 10, `${name} ends before it can be killed`)
      clean()
      const replaced = i % 2 === 1 && !args.includes('--in-place')
      if (replaced) for (const output of outputs) writeFileSync(join(folder, output), 'older')
      const old = outputs.map((output) =>
        existsSync(join(folder, output)) ? hash(join(folder, output)) : undefined,
      )
      const ended = await run(
        folder,
        [name, ...args, ...(replaced ? ['--force'] : [])],
        (0.2 + 0.85 * random()) * ms,
      )
      const where = `${name} ${args.join(' ')}, kill ${i}`
      assert.deepEqual(
        inputs.map((input) => hash(join(folder, input))),
        before,
        where,
      )
      const now = outputs.map((output) =>
        existsSync(join(folder, output)) ? hash(join(folder, output)) : undefined,
      )
      now.forEach((one, k) => assert.ok(one === old[k] || one === right[k], `${where}: ${outputs[k]} is cut`))
      const left = readdirSync(folder).filter((file) => !known.has(file) && !outputs.includes(file))
      for (const file of left)
        assert.ok(outputs.includes(kPartName.exec(file)?.[1] ?? ''), `${where}: ${file}`)
      const done = now.filter((one, k) => one === right[k]).length
      if (ended.status !== null) {
        ms = Math.min(ms, ended.ms)
        continue
      }
      killed++
      figures.kills++
      if (done === outputs.length) figures.whole++
      else if (done > 0) figures.someOfSet++
      else if (left.length > 0) figures.parts++
      else figures.nothing++
    }
  }
  clean()
}

/** Mounts a small file system; undefined if this process may not do that. */
function smallDisk(folder: string, bytes: number): (() => void) | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'ignore' })
    return () => void execFileSync('umount', [folder])
  } catch {
    return undefined
  }
}

/** Writes outputs that do not fit on the disk: each command must fail and leave nothing. */
async function fillDisk(folder: string, bytes: number, figures: Figures): Promise<void> {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  // A file of half that size fits, so the first file of a set may be complete.
  const room = Math.ceil(bytes * 0.15)
  const unmount = smallDisk(disk, room)
  const limits = [`ulimit -f ${Math.ceil(room / 1024)}`, ...(unmount ? [undefined] : [])]
  try {
    for (const limit of limits) {
      for (const { name, args } of kCases) {
        if (args.includes('--in-place')) continue
        const target = limit === undefined ? join(disk, 'out') : 'out'
        const words = args.map((word) => (word === 'out' ? target : word))
        const before = readdirSync(folder)
        const { status, err } = await run(folder, [name, ...words, '--json'], Infinity, limit)
        assert.equal(status, 1, `${name}: ${err}`)
        assert.equal((JSON.parse(err) as { error: { code: string } }).error.code, 'quota', err)
        assert.deepEqual(readdirSync(folder), before, name)
        assert.deepEqual(readdirSync(disk), [], name)
        figures.full++
      }
      figures.fullBy.push(limit === undefined ? 'tmpfs' : 'ulimit')
    }
  } finally {
    unmount?.()
    rmSync(disk, { recursive: true })
  }
}

/** Throws an AssertionError at the first fault. */
export async function testOutputs(kills: number, bytes: number, seed: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'outputs-'))
  const figures: Figures = { kills: 0, nothing: 0, parts: 0, whole: 0, someOfSet: 0, full: 0, fullBy: [] }
  try {
    makeInputs(folder, bytes)
    await killAll(folder, kills, randomFrom(seed), figures)
    await fillDisk(folder, bytes, figures)
    return figures
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const [kills = 200, megabytes = 48, seed = Date.now() % 1e9] = process.argv.slice(2).map(Number)
  console.log(`${kills} kills, inputs of ${megabytes} MB, seed ${seed}`)
  console.log(await testOutputs(kills, megabytes * 1e6, seed))
}
