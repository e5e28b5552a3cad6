// What load() refuses, lint reports: wrong values of keys in models, projectors and adapters.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Finding, GgufFile, LazyArray, MetadataValue } from 'ggufscope'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { kMadeProjectors, madeProjector } from '../fixtures/made-projectors.ts'
import { f32, text } from '../fixtures/models.ts'
import { everyNth } from '../fixtures/short.ts'
import { engine } from './engine.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { load, lintLoad } = engine
const timeout = 900_000

const errorsIn = (findings: readonly Finding[]): Finding[] =>
  findings.filter(({ level }) => level === 'error')

async function lint(file: GgufFile): Promise<Finding[]> {
  const found = errorsIn(file.lint())
  return found.length > 0 ? found : await lintLoad(file)
}

/** The file with another value of a key, of the same type. */
async function changed(file: GgufFile, key: string, value: MetadataValue): Promise<Uint8Array<ArrayBuffer>> {
  const builder = await file.edit()
  builder.set(
    key,
    value as number,
    file.metadata.type(key) === 'array' ? undefined : (file.metadata.type(key) as 'u32'),
  )
  const written = await builder.build()
  const pieces: Uint8Array[] = []
  for await (const piece of written.pieces()) pieces.push(piece)
  return new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer())
}

/** Wrong values of a number or a list of numbers. */
function wrongValues(file: GgufFile, key: string): MetadataValue[] {
  const value = file.metadata.get(key)
  const type = typeof value === 'object' ? value.type : file.metadata.type(key)
  const numbers =
    type === 'f32'
      ? [0, -1, NaN, 3e38]
      : type === 'u32'
        ? [0, 3, 4294967295]
        : type === 'i32'
          ? [0, -1, 2147483647]
          : []
  if (typeof value !== 'object') return numbers
  const length = (value as LazyArray).length
  return length > 64
    ? []
    : numbers.map((number) => {
        const list = type === 'f32' ? Float32Array : type === 'u32' ? Uint32Array : Int32Array
        return new list(length).fill(number) as unknown as MetadataValue
      })
}

const keysOf = (file: GgufFile): string[] =>
  [...file.metadata.keys()].filter((key) => !/^(general|tokenizer|split)\./.test(key))

async function refusal(loading: Promise<{ close(): void }>): Promise<string | undefined> {
  try {
    ;(await loading).close()
    return undefined
  } catch (error) {
    return String(error)
  }
}

const kArch = join(kShared, '../vectors/arch')
const models = existsSync(kArch)
  ? readdirSync(kArch).map((name) => [name, join(kArch, name, 'model.gguf')] as const)
  : ['llama', 'mamba', 'qwen3moe'].map(
      (name) => [name, join(kRoot, 'tests/fixtures/golden/arch', name, 'model.gguf')] as const,
    )

test('whatever value of a key load() refuses, lint reports', { timeout }, async () => {
  const silent: string[] = []
  let n = 0
  const cases = models.flatMap(([name, path]) => (existsSync(path) ? [[name, path] as const] : []))
  for (const [name, path] of everyNth(cases, 200)) {
    using file = await open(path)
    for (const key of keysOf(file))
      for (const wrong of wrongValues(file, key)) {
        const bytes = await changed(file, key, wrong)
        using made = await open(bytes)
        const refused = await refusal(load(bytes, { contextLength: 64 }))
        n++
        if (refused !== undefined && (await lint(made)).length === 0)
          silent.push(`${name}: ${key} = ${String(wrong)}: ${refused}`)
      }
  }
  assert.ok(n > 20, `${n}`)
  assert.deepEqual(silent, [])
})

test('whatever value of a projector load() refuses, lint reports', { timeout }, async () => {
  const silent: string[] = []
  let n = 0
  for (const name of everyNth(kMadeProjectors, 40)) {
    const { projector, model } = madeProjector(name)
    using file = await open(projector)
    for (const key of keysOf(file))
      for (const wrong of wrongValues(file, key)) {
        const bytes = await changed(file, key, wrong)
        using made = await open(bytes)
        const refused = await refusal(load(model, { projector: bytes, contextLength: 256 }))
        n++
        if (refused !== undefined && (await lint(made)).length === 0)
          silent.push(`${name}: ${key} = ${String(wrong)}: ${refused}`)
      }
  }
  assert.ok(n > 20, `${n}`)
  assert.deepEqual(silent, [])
})

test('the models and projectors themselves have no finding', { timeout }, async () => {
  for (const [name, path] of everyNth(models, 100)) {
    using file = await open(path)
    assert.deepEqual(errorsIn(await lintLoad(file)), [], name)
  }
  for (const name of everyNth(kMadeProjectors, 30)) {
    using file = await open(madeProjector(name).projector)
    assert.deepEqual(errorsIn(await lintLoad(file)), [], name)
  }
})

const adapter = (alpha: number, type: string): Model => ({
  metadata: [
    ['general.architecture', text('llama')],
    ['general.type', text('adapter')],
    ['adapter.type', text('lora')],
    ['adapter.lora.alpha', f32(alpha)],
  ],
  tensors: [
    { name: 'blk.0.attn_q.weight.lora_a', shape: [64, 4], type },
    { name: 'blk.0.attn_q.weight.lora_b', shape: [4, 64], type },
  ],
})

test('a scale or a type that no adapter can have is an error', async () => {
  const codes = async (model: Model) => {
    using file = await open(writeGguf(model))
    return (await lintLoad(file)).map(({ level, message }) => `${level}: ${message}`)
  }
  assert.deepEqual(await codes(adapter(16, 'F32')), [])
  assert.match(
    (await codes(adapter(NaN, 'F32'))).join(),
    /^error: adapter\.lora\.alpha is not a finite number/,
  )
  assert.match(
    (await codes(adapter(3e38, 'F32'))).join(),
    /^error: adapter\.lora\.alpha is not .* or too large/,
  )
  assert.match((await codes(adapter(1e9, 'F32'))).join(), /^error: adapter\.lora\.alpha over the rank/)
  assert.match((await codes(adapter(16, 'I32'))).join(), /^error: Tensor .* and 1 more are of type I32/)
})

test('the command lint and the MCP tool find it, and take a file without faults', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-lint-load-'))
  try {
    using whole = await open(join(kRoot, 'tests/fixtures/stories.gguf'))
    const path = join(folder, 'wrong.gguf')
    writeFileSync(path, await changed(whole, 'llama.attention.layer_norm_rms_epsilon', -1))
    const cli = (args: string[], input = '') =>
      spawnSync(process.execPath, [packedFile('wasm/dist/cli.js'), ...args], { encoding: 'utf8', input })
    const { status, stdout } = cli(['lint', path])
    assert.equal(status, 1, stdout)
    assert.match(stdout, /error +load +the epsilon of the norms is negative/)
    assert.equal(cli(['lint', join(kRoot, 'tests/fixtures/stories.gguf')]).status, 0)
    const params = { name: 'lint', arguments: { file: path } }
    const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    assert.match(cli(['serve', '--mcp'], `${request}\n`).stdout, /the epsilon of the norms is negative/)
  } finally {
    rmSync(folder, { recursive: true })
  }
  assert.ok(
    readFileSync(join(kRoot, 'web/docs/reference/lint-rules-of-package.json'), 'utf8').includes('"load"'),
  )
})

test('arguments are checked', async () => {
  using file = await open(writeGguf(adapter(16, 'F32')))
  await assert.rejects(lintLoad({} as GgufFile), { code: 'invalid-argument' })
  await assert.rejects(lintLoad(file, { strict: true } as object), { code: 'invalid-argument' })
  using model = await open(join(kRoot, 'tests/fixtures/stories.gguf'))
  await assert.rejects(lintLoad(model, { signal: AbortSignal.abort() }), { name: 'AbortError' })
})
