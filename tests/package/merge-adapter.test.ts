// A merged adapter gives the same logits as an applied one: compared with llama.cpp's and the engine's, with the
// package and with the command.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Edit from 'ggufscope/edit'
import type * as Node from 'ggufscope/node'
import { writeGguf } from '../fixtures/gguf.ts'
import { text } from '../fixtures/models.ts'
import { everyNth } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { packedFile } from './packed.ts'
import { difference, kLora, kVectors, loraMetaOf } from './vectors.ts'

const { load, open, writeFile } = (await import(
  pathToFileURL(packedFile('wasm/dist/node.js')).href
)) as typeof Node
const { lintAdapter } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof Edit

const skip = skipWithout(kLora)
const folder = mkdtempSync(join(tmpdir(), 'merge-'))
after(() => rmSync(folder, { recursive: true }))

type Scaled = readonly [file: string | Uint8Array, scale: number]
const baseOf = (name: string): string => join(kVectors, loraMetaOf(name).base)
const loaded = (path: string): Promise<Node.Model> =>
  load(path, { contextLength: 256, cacheType: 'f32', precision: 'exact', threads: 1 })

async function logits(path: string, tokens: readonly number[]): Promise<Float32Array> {
  using model = await loaded(path)
  return await model.evaluate(tokens)
}

/** The base model with merged adapters. All its tensors get the given type or keep theirs. */
async function merged(
  from: string,
  adapters: readonly Scaled[],
  type?: string,
): Promise<{ path: string; ignored: string[] }> {
  using base = await open(from)
  const builder = await base.edit()
  const opened = await Promise.all(adapters.map(([source]) => open(source)))
  const ignored: string[] = []
  for (const [i, adapter] of opened.entries()) {
    assert.deepEqual(
      lintAdapter(adapter, base).filter(({ level }) => level === 'error'),
      [],
    )
    const report = await builder.mergeAdapter(adapter, { scale: adapters[i]![1] })
    assert.ok(report.merged.length > 0)
    ignored.push(...report.ignored)
  }
  if (type !== undefined) await builder.quantize(type, { allowRequantize: true })
  const path = join(folder, 'merged.gguf')
  await writeFile(path, await builder.build(), { overwrite: true })
  opened.forEach((adapter) => adapter.close())
  return { path, ignored }
}

test('logits of merged models match llama.cpp', { skip, timeout: 300_000 }, async () => {
  for (const name of everyNth(
    readdirSync(kLora)
      .filter((name) => name !== 'odd')
      .toSorted(),
    2,
  )) {
    const { tokens, runs } = loraMetaOf(name)
    for (const run of name === 'llama-mixed' ? Object.values(runs) : [runs['a-1.0-b-0.5']!]) {
      const { adapters, tolerance, ...files } = run
      const scaled = adapters.map(([file, scale]): Scaled => [join(kLora, name, file), scale])
      const { path, ignored } = await merged(baseOf(name), scaled, 'F32')
      assert.deepEqual(ignored, [])
      const expected = readFileSync(join(kLora, name, files[tolerance.compare_with]!))
      const moved = difference(await logits(path, tokens), new Float32Array(new Uint8Array(expected).buffer))
      assert.ok(moved <= tolerance.max_abs, `${name}: ${moved}, ${tolerance.max_abs}`)
    }
  }
})

const tokens = [1, 2, 3, 5, 8, 13, 21, 34]

/**
 * An adapter for every tensor of a model, including norms and tables, but not for embeddings that are also the output.
 */
function adapterOfAll({ tensors, metadata }: Node.GgufFile): Uint8Array {
  let state = 1
  const floats = (count: number, most: number): Uint8Array =>
    new Uint8Array(
      Float32Array.from({ length: count }, () => {
        state = (state * 48271) % 0x7fffffff
        return most * (state / 0x3fffffff - 1)
      }).buffer,
    )
  const rank = 2
  const architecture = metadata.get('general.architecture') as string
  const tied = !architecture.includes('bert') && tensors.every(({ name }) => name !== 'output.weight')
  const changed = tensors.filter(({ name }) => !(tied && name === 'token_embd.weight'))
  return writeGguf({
    metadata: [
      ['general.architecture', text(architecture)],
      ['general.type', text('adapter')],
      ['adapter.type', text('lora')],
    ],
    tensors: changed.flatMap(({ name, shape: [inputs = 1, outputs = 1, ...matrices] }) => {
      const embeds = name === 'token_embd.weight'
      const a = embeds ? [rank, outputs] : [inputs, rank, ...matrices]
      const b = [rank, embeds ? inputs : outputs, ...matrices]
      return [a, b].map((shape, i) => ({
        name: `${name}.lora_${'ab'[i]}`,
        shape,
        type: 'F32',
        data: floats(
          shape.reduce((product, n) => product * n, 1),
          i === 0 ? 0.3 : 0.05,
        ),
      }))
    }),
  })
}

test('merging changes only the tensors that the adapter changes', { skip }, async () => {
  const names = ['mamba2', 'gpt-oss', 'qwen2moe', 'dbrx', 'deepseek2', 'modern-bert', 'nomic-bert-moe']
  for (const name of everyNth([...names, 'stablelm-parallel'], 2)) {
    const path = join(kVectors, 'arch', name, 'model.gguf')
    using base = await open(path)
    const adapter = adapterOfAll(base)
    const { path: written, ignored } = await merged(path, [[adapter, 1]], 'F32')
    using model = await loaded(path)
    const plain = await model.evaluate(tokens)
    const [info] = await model.setAdapters([{ source: adapter }])
    assert.deepEqual(ignored.toSorted(), [...info!.ignored].toSorted(), name)
    const applied = await model.evaluate(tokens)
    const apart = difference(await logits(written, tokens), applied)
    assert.ok(apart < 1e-4 && difference(plain, applied) > 0.1, `${name}: ${apart}`)
  }
})

test(
  'weights keep their types: of halves, and quantized ones with the noise of their type',
  { skip },
  async () => {
    for (const [name, noise] of [
      ['llama-f16', 0.01],
      ['llama-kquant', 0.5],
    ] as const) {
      const from = join(kVectors, 'arch', name, 'model.gguf')
      using before = await open(from)
      const source = adapterOfAll(before)
      const { path } = await merged(from, [[source, 1]])
      using now = await open(path)
      const typesOf = (file: Node.GgufFile) => file.tensors.map(({ name, type }) => `${name} ${type}`)
      assert.deepEqual(typesOf(now), typesOf(before))
      using model = await loaded(from)
      const plain = await model.evaluate(tokens)
      await model.setAdapters([{ source }])
      const applied = await model.evaluate(tokens)
      const apart = difference(await logits(path, tokens), applied) / difference(plain, applied)
      assert.ok(apart < noise, `${name}: ${apart}`)
    }
  },
)

test('adapters that do not match are refused, and lint reports them before', { skip }, async () => {
  const odd = JSON.parse(readFileSync(join(kLora, 'odd', 'meta.json'), 'utf8')) as {
    cases: readonly { file: string; outcome: string }[]
  }
  using base = await open(baseOf('llama-gqa'))
  const tried = async (path: string, against = base) => {
    using adapter = await open(path)
    const [first] = lintAdapter(adapter, against).filter(({ level }) => level === 'error')
    const code = await (await against.edit()).mergeAdapter(adapter).then(
      () => undefined,
      (error: Node.GgufError) => error.code,
    )
    return { lint: first?.code as string | undefined, code }
  }
  for (const { file, outcome } of odd.cases) {
    const { lint, code } = await tried(join(kLora, 'odd', file))
    assert.equal(lint, code, file)
    assert.equal(code === undefined, outcome === 'taken', `${file}: ${code}`)
  }
  assert.deepEqual(await tried(join(kLora, 'gpt2', 'a.gguf')), {
    lint: 'invalid-argument',
    code: 'invalid-argument',
  })
  using llama = await open(baseOf('llama'))
  const vector = await tried(join(kLora, 'llama', 'cvec.gguf'), llama)
  assert.deepEqual(vector, { lint: 'unsupported', code: 'unsupported' })
  // It can be applied, but not merged.
  const activated = await tried(join(kLora, 'llama', 'alora.gguf'), llama)
  assert.deepEqual(activated, { lint: undefined, code: 'unsupported' })
})

test('merge-lora writes the model, in another type if one is given', { skip }, () => {
  const cli = (...args: string[]): string =>
    execFileSync(process.execPath, [packedFile('wasm/dist/cli.js'), ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const base = baseOf('llama-kquant')
  const adapter = join(kLora, 'llama-kquant', 'a.gguf')
  const output = join(folder, 'out.gguf')
  const said = cli('merge-lora', base, `${adapter}=0.5`, '--output', output)
  assert.match(said, /a\.gguf times 0\.5: \d+ tensors changed/)
  const halves = join(folder, 'f16.gguf')
  const report = JSON.parse(
    cli('merge-lora', base, adapter, '-o', halves, '--type', 'f16', '--allow-requantize', '--json'),
  ) as { size: number; adapters: { merged: string[]; scale: number }[] }
  assert.ok(report.adapters[0]!.merged.length > 0 && report.adapters[0]!.scale === 1)
  assert.equal(report.size, readFileSync(halves).length)
  assert.match(cli('tensors', halves), /blk\.0\.attn_q\.weight +F16/)
  assert.throws(() => cli('merge-lora', base, `${adapter}=Infinity`, '-o', output, '--force'), { status: 2 })
  assert.throws(() => cli('merge-lora', base, '-o', output, '--force'), { status: 2 })

  assert.match(cli('lint', adapter, '--base', base), /^0 errors, /m)
  assert.throws(() => cli('lint', adapter, '--base', baseOf('llama')), { status: 1, stdout: /bad-shape/ })
})

test('an aborted merge leaves no file', { skip }, async () => {
  using base = await open(baseOf('llama'))
  using adapter = await open(join(kLora, 'llama', 'a.gguf'))
  const builder = await base.edit()
  await assert.rejects(
    builder.mergeAdapter(adapter, { signal: AbortSignal.abort(new Error('enough')) }),
    /enough/,
  )
  await assert.rejects(builder.mergeAdapter(adapter, { scale: NaN }), { code: 'invalid-argument' })
  await builder.mergeAdapter(adapter)
  const path = join(folder, 'aborted.gguf')
  const signal = AbortSignal.abort(new Error('enough'))
  await assert.rejects(async () => writeFile(path, await builder.build(), { signal }), /enough/)
  assert.ok(!existsSync(path))
})
