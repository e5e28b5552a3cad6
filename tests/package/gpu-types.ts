// The WGSL that reads weights, for every type: rows of random blocks through the kernel `embed` equal what the package
// dequantizes. Products of them, in floats, in integers and in binary16, are compared with those in double precision.
// gpu.test.ts runs this file in a process in which WebGPU finds SwiftShader, which has no binary16.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kTypes, writeGguf } from '../fixtures/gguf.ts'
import { kAll } from '../fixtures/short.ts'
import { kComputeStage, kMapModeRead, kReadBack, kUsage } from '../fixtures/webgpu.ts'
import { randomNumbers } from '../server/faults.ts'
import { kernels, layout, openDevice } from './gpu-device.ts'
import { kRoot, loadPackage } from './packed.ts'

const { open } = await loadPackage()
const kRows = 5
const kRowLength = 768
const source = (path: string): string => readFileSync(join(kRoot, path), 'utf8')

const { kFlags, kKernelNames, kMatrixFields, kMatrixWord, kParameterWords, kRowsFields, kWeightTypes } =
  layout

/** Ranges of a block in each of the three streams of a type (core/gpu/streams.inc). */
const kStreams = new Map(
  [...source('core/gpu/streams.inc').matchAll(/^GGUFSCOPE_STREAM\(k(\w+), (S\(.*\))\)/gm)].map(
    ([, name, streams]) => [
      name!,
      [...streams!.matchAll(/S\(((?:R\(\d+, \d+\)(?:, )?)*)\)/g)].map(([, ranges]) =>
        [...ranges!.matchAll(/R\((\d+), (\d+)\)/g)].map(([, offset, bytes]) => [
          Number(offset),
          Number(bytes),
        ]),
      ),
    ],
  ),
)

/** The codes of a codebook: gaps between them are stored as LEB128 (core/quant/iq_grids.inc). */
function codesOf(type: string): Uint16Array<ArrayBuffer> {
  const name = { IQ1_S: 'Iq1', IQ1_M: 'Iq1', IQ2_XXS: 'Iq2Xxs', IQ2_XS: 'Iq2Xs', IQ2_S: 'Iq2S', IQ3_XXS: 'Iq3Xxs', IQ3_S: 'Iq3S' }[type] // prettier-ignore
  if (name === undefined) return new Uint16Array(32)
  const list = new RegExp(`k${name}Gaps\\[\\] = \\{([^}]*)\\}`).exec(source('core/quant/iq_grids.inc'))![1]!
  const codes: number[] = []
  let [gap, shift] = [0, 0]
  for (const byte of list.match(/\d+/g)!.map(Number)) {
    gap |= (byte & 127) << shift
    shift += 7
    if (byte >= 128) continue
    codes.push((codes.at(-1) ?? -1) + 1 + gap)
    gap = shift = 0
  }
  return Uint16Array.from(codes)
}

/** Blocks as the core repacks them: each stream without gaps, padded to 16 bytes. */
function repacked(blocks: Uint8Array, name: string): { bytes: Uint8Array<ArrayBuffer>; starts: number[] } {
  const blockBytes = kTypes[name]![2]
  const n = blocks.length / blockBytes
  const streams = kStreams.get(name)!.map((ranges) => {
    const bytes = Array.from({ length: n }, (_, i) =>
      ranges.map(([offset, size]) =>
        blocks.subarray(i * blockBytes + offset!, i * blockBytes + offset! + size!),
      ),
    )
    const joined = Buffer.concat(bytes.flat())
    return Buffer.concat([joined, Buffer.alloc((16 - (joined.length % 16)) % 16)])
  })
  const starts = streams.map((_, i) => streams.slice(0, i).reduce((sum, { length }) => sum + length, 0))
  return { bytes: Uint8Array.from(Buffer.concat(streams)), starts }
}

function parametersOf(starts: readonly number[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(kParameterWords)
  const at = (name: string): number => kRowsFields.findIndex(([field]) => field === name)
  const ofMatrix = (name: string): number =>
    kMatrixWord + kMatrixFields.findIndex(([field]) => field === name)
  words[at('n_in')] = words[at('n_out')] = kRowLength
  words[at('n_matrices')] = 1
  new Float32Array(words.buffer)[at('out_factor')] = 1
  words[ofMatrix('n_rows')] = kRows
  words[ofMatrix('middles_at')] = starts[1]! / 4
  words[ofMatrix('scales_at')] = starts[2]! / 4
  return words
}

/** A step record whose token t has id t (core/gpu/step.hpp). */
function stepOf(n: number): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(16 + 12 * n)
  words[0] = n
  for (let t = 0; t < n; t++) words[16 + 12 * t] = t
  return words
}

type Words = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer> // prettier-ignore

type Factors = 'floats' | 'halves' | 'integers'

interface Compiled {
  readonly kernel: string
  readonly type: number
  readonly flags: number
  /** default: if the device has them */
  readonly subgroups?: boolean
  readonly factors?: Factors
}

/**
 * Runs a kernel without further flags or types than these: what it writes to its last binding, of so many floats.
 * undefined: a binding that it does not have.
 */
async function runKernel(
  device: GPUDevice,
  { kernel, type, flags, subgroups = device.features.has('subgroups'), factors = 'floats' }: Compiled,
  inputs: readonly (Words | number | undefined)[],
  { floats, groups }: { floats: number; groups: number },
): Promise<Float32Array> {
  const variant = { kernel: kKernelNames.indexOf(kernel as never), epilogue: 0, activation: 0, gating: 0, rope: 0, cacheKeys: 0, cacheValues: 0, types: [type], dK: 0, dV: 0, heads: 0, flags } // prettier-ignore
  const code = kernels.shaderSource(variant, {
    columns: 1,
    subgroups,
    integers: factors === 'integers',
    halves: factors === 'halves',
  })
  const make = (data: Words | number, more: number): GPUBuffer => {
    const size = typeof data === 'number' ? data : Math.ceil(data.byteLength / 16) * 16
    const buffer = device.createBuffer({ size, usage: more | kUsage.copyTarget | kUsage.copySource })
    if (typeof data !== 'number') device.queue.writeBuffer(buffer, 0, data)
    return buffer
  }
  const size = 4 * floats
  const bound = [...inputs, size].flatMap((data, binding) =>
    data === undefined
      ? []
      : [{ binding, buffer: make(data, binding === 0 ? kUsage.uniform : kUsage.storage) }],
  )
  const layout = device.createBindGroupLayout({
    entries: bound.map(({ binding }) => ({
      binding,
      visibility: kComputeStage,
      buffer: {
        type: binding === 0 ? 'uniform' : binding < inputs.length ? 'read-only-storage' : 'storage',
      },
    })),
  })
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: device.createShaderModule({ code }) },
  })
  const encoder = device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  pass.setBindGroup(0, device.createBindGroup({ layout, entries: bound.map(({ binding, buffer }) => ({ binding, resource: { buffer } })) })) // prettier-ignore
  pass.dispatchWorkgroups(groups)
  pass.end()
  const read = device.createBuffer({ size, usage: kReadBack })
  encoder.copyBufferToBuffer(bound.at(-1)!.buffer, 0, read, 0, size)
  device.queue.submit([encoder.finish()])
  await read.mapAsync(kMapModeRead)
  return new Float32Array(read.getMappedRange().slice(0))
}

async function readOnGpu(device: GPUDevice, type: number, blocks: Uint8Array): Promise<Float32Array> {
  const { name } = kWeightTypes.get(type)!
  const { bytes, starts } = repacked(blocks, name)
  // Without flags, embed looks up the row of each token.
  const inputs = [parametersOf(starts), bytes, codesOf(name), stepOf(kRows), 16]
  const floats = kRows * kRowLength
  return await runKernel(device, { kernel: 'embed', type, flags: 0 }, inputs, { floats, groups: kRows })
}

/** Random blocks, whose scales as floats are small numbers; binary16 scales may be anything. */
function randomBlocks(name: string, random: () => number): Uint8Array {
  const [, elements, blockBytes] = kTypes[name]!
  const n = (kRows * kRowLength) / elements
  const bytes = Uint8Array.from({ length: n * blockBytes }, () => Math.floor(256 * random()))
  const view = new DataView(bytes.buffer)
  if (name === 'F32' || name === 'Q8_K')
    for (let i = 0; i < n; i++) view.setFloat32(i * blockBytes, random() - 0.5, true)
  return bytes
}

test('every type of weights is read in WGSL as the package reads it', async () => {
  assert.equal(kWeightTypes.size, kStreams.size)
  const device = await openDevice()
  const random = randomNumbers(11)
  for (const [type, { name }] of kWeightTypes) {
    const data = randomBlocks(name, random)
    const file = await open(
      new Blob([writeGguf({ tensors: [{ name: 't', type: name, shape: [kRowLength, kRows], data }] }) as Uint8Array<ArrayBuffer>]), // prettier-ignore
    )
    const want = await file.dequantize('t')
    const got = await readOnGpu(device, type, data)
    for (let i = 0; i < want.length; i += 16) {
      const part = want.subarray(i, i + 16)
      // Random scales may be infinite, and numbers too small for a normal float may become zero.
      const largest = Math.max(...part.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0)))
      for (const [k, value] of part.entries())
        if (Number.isFinite(value))
          assert.ok(
            Math.abs(got[i + k]! - value) <= 1e-6 * largest + 1e-37,
            `${name}, element ${i + k}: ${got[i + k]}, not ${value}`,
          )
    }
  }
  device.destroy()
})

test('the first of the largest logits is chosen, and none where none is a number', async () => {
  const device = await openDevice()
  const n = 300
  const rows: readonly [filled: number, others: Readonly<Record<number, number>>, want: number][] = [
    [-1e30, { 260: 5, 299: 5, 3: -5 }, 260],
    [NaN, { 7: -3, 270: -Infinity }, 7],
    [-Infinity, { 299: -1e30 }, 299],
    [NaN, {}, -1],
    [-Infinity, { 1: NaN }, -1],
  ]
  const logits = new Float32Array(n * rows.length)
  for (const [i, [filled, others]] of rows.entries()) {
    logits.fill(filled, i * n, (i + 1) * n)
    for (const [at, value] of Object.entries(others)) logits[i * n + Number(at)] = value
  }
  const words = parametersOf([0, 0, 0])
  words[kRowsFields.findIndex(([field]) => field === 'n_out')] = n
  const got = await runKernel(device, { kernel: 'argmax', type: 0, flags: 0 }, [words, logits, undefined], {
    floats: rows.length,
    groups: rows.length,
  })
  assert.deepEqual(
    [...new Int32Array(got.buffer)],
    rows.map(([, , want]) => want),
  )
  device.destroy()
})

const kEps = 0.01
const kTypeOf = new Map([...kWeightTypes].map(([type, { name }]) => [name, type]))
/** Parameters that say where something is in the vectors, or that it is not there. */
const kNothing = 0xffff_ffff

interface Operands {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>
  readonly starts: readonly number[]
  /** three rows of n elements */
  readonly x: Float32Array<ArrayBuffer>
  readonly n: number
}

/** Products of kRows rows of weights with the first row of x by mat_vec, or with three rows by mat_mul. */
async function multiply(
  device: GPUDevice,
  compiled: Omit<Compiled, 'type'>,
  { name, bytes, starts, x, n }: Operands,
  vectors: Words = codesOf(name),
): Promise<Float32Array> {
  const words = parametersOf(starts)
  const ofRows = (field: string): number => kRowsFields.findIndex(([one]) => one === field)
  words[ofRows('n_in')] = words[ofRows('x_stride')] = n
  words[ofRows('n_out')] = kRows
  words[ofRows('n_groups')] = 1
  new Float32Array(words.buffer)[ofRows('eps')] = kEps
  for (const absent of ['bias_at', 'scale_at'])
    words[kMatrixWord + kMatrixFields.findIndex(([field]) => field === absent)] = kNothing
  const tiled = compiled.kernel === 'mat_mul'
  const inputs = tiled
    ? [words, bytes, x, vectors, stepOf(3)]
    : [words, bytes, x, undefined, vectors, stepOf(1)]
  const floats = (tiled ? 3 : 1) * kRows
  return await runKernel(device, { ...compiled, type: kTypeOf.get(name)! }, inputs, { floats, groups: 1 })
}

/** The largest error of products, relative to the root of the sum of their squared parts. */
function errorOf(got: Float32Array, weights: Float32Array, rows: readonly (readonly number[])[]): number {
  let worst = 0
  for (const [i, value] of got.entries()) {
    const [row, out] = [rows[Math.floor(i / kRows)]!, i % kRows]
    const parts = row.map((one, k) => one * weights[out * row.length + k]!)
    const sum = parts.reduce((all, part) => all + part, 0)
    const size = Math.sqrt(parts.reduce((all, part) => all + part * part, 0))
    worst = Math.max(worst, Math.abs(value - sum) / size)
  }
  return worst
}

const rowsOf = (x: Float32Array, n: number): number[][] =>
  [0, 1, 2].map((row) => [...x.subarray(row * n, (row + 1) * n)])

type Bits = readonly (readonly [byte: number, kept: number, set: number])[]
/** binary16 scales of a block at these bytes: 1/16 */
const scales = (...bytes: number[]): Bits =>
  bytes.flatMap((at): Bits => [
    [at, 0, 0],
    [at + 1, 0, 0x2c],
  ])
/** What makes a random block's numbers of one size: bits that are not random. First the types with integers. */
const kOneSize: Readonly<Record<string, Bits>> = {
  Q4_0: scales(0), Q8_0: scales(0), Q4_K: scales(0, 2), Q5_K: scales(0, 2), Q6_K: scales(208),
  Q4_1: scales(0, 2), Q5_0: scales(0), Q5_1: scales(0, 2), Q8_1: scales(0, 2), Q2_K: scales(80, 82), Q3_K: scales(108),
  Q8_K: [], TQ2_0: scales(64),
  F32: [], F16: [[1, 0x83, 0x2c]], BF16: [[1, 0x80, 0x3d]], IQ2_XXS: scales(0), IQ2_XS: scales(0), IQ3_XXS: scales(0),
  IQ1_S: scales(0), IQ4_NL: scales(0), IQ3_S: scales(0), IQ2_S: scales(0), IQ4_XS: scales(0), TQ1_0: scales(52),
  IQ1_M: [[49, 15, 0], [51, 15, 0], [53, 15, 0xc0], [55, 15, 0x20]], MXFP4: [[0, 0, 0x78]], NVFP4: [], Q1_0: scales(0),
  Q2_0: scales(0),
} // prettier-ignore
const kSizedTypes = Object.keys(kOneSize)
const kIntegerTypes = kSizedTypes.slice(0, 13)

/** Random weights of a type, as the GPU has them and as floats. */
async function randomWeights(name: string, n: number, random: () => number) {
  const data = randomBlocks(name, random).subarray(0, (kRows * n * kTypes[name]![2]) / kTypes[name]![1])
  for (let block = 0; block < data.length; block += kTypes[name]![2])
    for (const [at, kept, set] of kOneSize[name]!) data[block + at] = (data[block + at]! & kept) | set
  const file = await open(
    new Blob([writeGguf({ tensors: [{ name: 't', type: name, shape: [n, kRows], data }] }) as Uint8Array<ArrayBuffer>]), // prettier-ignore
  )
  return { ...repacked(data, name), weights: await file.dequantize('t') }
}

/**
 * The largest errors, relative to the root of the sum of the squared parts. In binary16, rounding a number is an error of
 * 2.1e-4 on average. Of sixteen parts, both numbers and their product are rounded, and three sums of four: together
 * sqrt(2 + 1 + 2.25 + 1) = 2.5 times as much. Five times that is in 1 of 10^6 products; a device may cut instead of
 * rounding, too, which doubles it.
 */
const kLargest: Readonly<Record<Factors, number>> = { floats: 5e-6, halves: 2.5e-3, integers: 2e-2 }

test('products are exact, in floats, in binary16 and with activations of 8 bits, with and without subgroups', async (t) => {
  const device = await openDevice()
  assert.equal(kSizedTypes.length, kWeightTypes.size)
  const random = randomNumbers(13)
  const subgroups = device.features.has('subgroups') ? [true, false] : [false]
  const hasHalves = device.features.has('shader-f16')
  if (!hasHalves) t.diagnostic('no products in binary16: this device does not have shader-f16')
  // SwiftShader takes seconds for each kernel.
  const isWhole = kAll || hasHalves
  const integers = { factors: 'integers', subgroups: false } as const
  const ways: Omit<Compiled, 'type' | 'flags'>[] = [
    ...subgroups.map((mode) => ({ kernel: 'mat_vec', subgroups: mode, factors: 'floats' as const })),
    ...['mat_vec', 'mat_mul'].map((kernel) => ({ kernel, ...integers })),
    // The types are read there as in mat_vec.
    ...(isWhole ? [{ kernel: 'mat_mul', factors: 'floats' } as const] : []),
    ...(hasHalves ? [{ kernel: 'mat_mul', factors: 'halves' } as const] : []),
  ]
  for (const name of isWhole ? kSizedTypes : kSizedTypes.slice(0, 5)) {
    // Rows of whole tiles, or not.
    const elements = kTypes[name]![1]
    const n = kRowLength - (elements === 1 ? 8 : elements < 256 ? elements : 0)
    const x = Float32Array.from(
      { length: 3 * n },
      (_, i) => (random() - 0.5) * [1, 1e7, 1e-7][Math.floor(i / n)]!,
    )
    const { weights, ...packed } = await randomWeights(name, n, random)
    for (const { factors = 'floats', ...way } of ways) {
      if (factors === 'integers' && !kIntegerTypes.includes(name)) continue
      const got = await multiply(device, { ...way, factors, flags: 0 }, { name, x, n, ...packed })
      const error = errorOf(got, weights, rowsOf(x, n))
      const text = `${name} ${JSON.stringify({ ...way, factors })}: ${error.toExponential(1)}`
      t.diagnostic(text)
      assert.ok(error > 0 && error <= kLargest[factors], text)
      // Others are not as exact as floats: they were used.
      assert.equal(error > 1e-4, factors !== 'floats', text)
    }
  }
  device.destroy()
})

test('a product keeps its inputs and its outputs within their limits, or normalizes its rows', async (t) => {
  const device = await openDevice()
  const random = randomNumbers(12)
  const numbers = (n: number) => Float32Array.from({ length: n }, () => 4 * random() - 2)
  const floatsOf = (n: number) => ({
    name: 'F32',
    bytes: numbers(kRows * n),
    starts: [0, 0, 0],
    x: numbers(3 * n),
    n,
  })
  const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)
  {
    const factors = floatsOf(40)
    const limits = Float32Array.from([-0.25, 0.5, -1, 1.5])
    const got = await multiply(device, { kernel: 'mat_mul', flags: kFlags.limits }, factors, limits)
    const want = rowsOf(factors.x, 40).flatMap((row) =>
      Array.from({ length: kRows }, (_, out) =>
        clamp(
          row.reduce((sum, value, k) => sum + clamp(value, -0.25, 0.5) * factors.bytes[out * 40 + k]!, 0),
          -1,
          1.5,
        ),
      ),
    )
    assert.ok([-1, 1.5].every((limit) => want.includes(limit)) && new Set(want).size > 2)
    want.forEach((value, i) =>
      assert.ok(Math.abs(got[i]! - value) < 5e-6, `output ${i}: ${got[i]}, not ${value}`),
    )
  }
  const check = async (operands: Operands, weights: Float32Array, factors: Factors): Promise<void> => {
    const norm = numbers(operands.n)
    const got = await multiply(device, { kernel: 'mat_mul', flags: kFlags.norm, factors }, operands, norm)
    const rows = rowsOf(operands.x, operands.n).map((row) => {
      const rms = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / operands.n + kEps)
      return row.map((value, k) => (value * norm[k]!) / rms)
    })
    const error = errorOf(got, weights, rows)
    t.diagnostic(`${operands.name}, normalized rows of ${operands.n}, ${factors}: ${error.toExponential(1)}`)
    assert.ok(error > 0 && error <= kLargest[factors], `${operands.name}: ${error}`)
  }
  for (const n of [40, 4096]) {
    const operands = floatsOf(n)
    await check(operands, operands.bytes, 'floats')
  }
  const { weights, ...packed } = await randomWeights('Q4_K', kRowLength, random)
  const operands = { name: 'Q4_K', ...packed, x: numbers(3 * kRowLength), n: kRowLength }
  await check(operands, weights, 'integers')
  if (device.features.has('shader-f16')) await check(operands, weights, 'halves')
  device.destroy()
})
