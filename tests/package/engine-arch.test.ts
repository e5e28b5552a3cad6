// The engine's modules, each with and without threads, against llama.cpp's logits of every architecture.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { everyNth, kAll } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine } from './engine.ts'
import { kShared } from './packed.ts'
import { difference } from './vectors.ts'

const { load, GgufError } = engine

const kVectors = join(kShared, '../vectors')
const kPacks = ['arch', 'new/arch']
const skip = skipWithout(join(kVectors, 'arch'))
// Hundreds of models are loaded, which takes two minutes on a busy machine.
const timeout = 600_000

interface Meta {
  reference_run: string
  tolerance: { compare_with: string; max_abs: number }
  noise: { exact?: { max: number } }
}

function floats(path: string): Float32Array {
  const bytes = readFileSync(path)
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** The prompt's logits; undefined if the architecture is not supported. */
async function logits(
  name: string,
  options: Engine.LoadOptions,
): Promise<{ got: Float32Array; info: Engine.ModelInfo } | undefined> {
  const folder = join(kVectors, name)
  const tokens = JSON.parse(readFileSync(join(folder, 'tokens.json'), 'utf8')) as number[]
  const meta = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')) as Meta
  try {
    using model = await load(new Uint8Array(readFileSync(join(folder, 'model.gguf'))), {
      contextLength: 256,
      cacheType: 'f32',
      sparseAttention: meta.reference_run.includes('flash attention on'),
      ...options,
    })
    return { got: await model.evaluate(tokens), info: model.info }
  } catch (error) {
    if (error instanceof GgufError && error.code === 'unsupported') return undefined
    throw error
  }
}

// An encoder with a decoder (T5) takes two texts, which evaluate() does not.
const names = skip
  ? []
  : kPacks
      .filter((pack) => existsSync(join(kVectors, pack)))
      .flatMap((pack) =>
        readdirSync(join(kVectors, pack), { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => `${pack}/${name}`),
      )
      .filter((name) => readFileSync(join(kVectors, name, 'tokens.json'), 'utf8').startsWith('['))

const kVariants = ['simd', 'relaxed'] as const
const kExact = { precision: 'exact' } as const

test(
  'every architecture, exact, by relaxed SIMD and several threads, as llama.cpp',
  { skip, timeout },
  async () => {
    let ran = 0
    for (const name of everyNth(names, 16)) {
      const meta = JSON.parse(readFileSync(join(kVectors, name, 'meta.json'), 'utf8')) as Meta
      const want = floats(join(kVectors, name, meta.tolerance.compare_with))
      // Relaxed SIMD and threads, which the core's tests do not cover in wasm.
      const threads = ran % 3 === 0 ? 4 : 2
      const made = await logits(name, { ...kExact, variant: 'relaxed', threads })
      if (!made) continue
      ran++
      assert.equal(made.info.variant, 'relaxed')
      assert.equal(made.info.threads, threads)
      const d = difference(made.got, want)
      assert.ok(d <= meta.tolerance.max_abs, `${name}: differs by ${d} > ${meta.tolerance.max_abs}`)
    }
    assert.ok(ran >= (kAll ? 60 : 6), `only ${ran} models ran`)
  },
)

test(
  'the llama files in every module, fast and exact, bit for bit whatever the threads',
  { skip, timeout },
  async () => {
    const llamas = names.filter((name) => /^arch\/llama(-|$)/.test(name))
    assert.ok(llamas.length >= 12)
    for (const name of everyNth(llamas, 6)) {
      const meta = JSON.parse(readFileSync(join(kVectors, name, 'meta.json'), 'utf8')) as Meta
      const want = floats(join(kVectors, name, meta.tolerance.compare_with))
      for (const variant of kVariants) {
        for (const precision of ['fast', 'exact'] as const) {
          const moved = precision === 'fast' ? 2 * (meta.noise.exact?.max ?? 0) : 0
          const tolerance = Math.max(meta.tolerance.max_abs, moved)
          const one = await logits(name, { variant, precision, threads: 1 })
          if (!one) continue
          const d = difference(one.got, want)
          assert.ok(d <= tolerance, `${name}, ${variant}, ${precision}: differs by ${d} > ${tolerance}`)
          const more = await logits(name, { variant, precision, threads: 3 })
          assert.equal(more!.info.threads, 3)
          assert.deepEqual(more!.got, one.got, `${name}, ${variant}, ${precision}, 3 threads`)
        }
      }
    }
  },
)
