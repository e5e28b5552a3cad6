// What load() refuses, lint reports: wrong values of keys in models, projectors and adapters.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Finding, GgufFile } from 'ggufscope'
import type { WriteType, WriteValue, WrittenFile } from 'ggufscope/edit'
import { writeGguf, writeHeader, type Model, type Value } from '../fixtures/gguf.ts'
import { kMadeProjectors, madeProjector } from '../fixtures/made-projectors.ts'
import { array, f32, shards, smallModel, text } from '../fixtures/models.ts'
import { everyNth } from '../fixtures/short.ts'
import { llamaModel } from '../fixtures/synthetic.ts'
import { sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { engine, stories } from './engine.ts'
import { kLacks64, kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'
import { smallBert } from './small-bert.ts'

const { open, lintAdapter } = await loadNodePackage()
const { load, lintLoad } = engine
const timeout = 3_600_000

const errorsIn = (findings: readonly Finding[]): Finding[] =>
  findings.filter(({ level }) => level === 'error')

async function lint(file: GgufFile): Promise<Finding[]> {
  const found = errorsIn(file.lint())
  return found.length > 0 ? found : await lintLoad(file)
}

type GgufBuilder = Awaited<ReturnType<GgufFile['edit']>>
/** One change of a key. */
interface Change {
  readonly name: string
  readonly apply: (builder: GgufBuilder) => void
}

async function bytesOf(written: WrittenFile): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  for await (const piece of written.pieces()) pieces.push(piece)
  return new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer())
}

async function changed(file: GgufFile, { apply }: Change): Promise<Uint8Array<ArrayBuffer>> {
  const builder = await file.edit()
  apply(builder)
  return await bytesOf(await builder.build())
}

// The first test: code that was fetched once stays in the process.
test('a set is not taken as checked where the code that merges its headers cannot be fetched', async () => {
  const files = shards(smallModel(), 2, 'small').map(
    ({ name, model }) => new File([new Uint8Array(writeGguf(model))], name),
  )
  await assert.rejects(load(files, { assets: { 'edit.wasm': new Uint8Array(8) } }), { code: 'wasm' })
  await assert.rejects(load(files), ({ code }: { code: string }) => code !== 'wasm')
})

// Wrong values by type. Longer lists are vocabularies.
const kWrong: Readonly<Record<string, readonly number[]>> = {
  f32: [0, -1, NaN, 3e38],
  u32: [0, 3, 4294967295],
  u64: [0, 3, 2 ** 40],
  i32: [0, -1, 2147483647],
}
const kLists = { f32: Float32Array, u32: Uint32Array, i32: Int32Array } as const
const kMaxList = 64

/** A key is removed, has another type, or wrong values of its own type. */
function changesOf(file: GgufFile, key: string): Change[] {
  const value = file.metadata.get(key)
  const isList = typeof value === 'object'
  const type = isList ? value.type : file.metadata.type(key)!
  const changes: Change[] = [{ name: 'removed', apply: (builder) => void builder.remove(key) }]
  const set = (to: WriteValue, as?: WriteType): void =>
    void changes.push({
      name: `= ${String(to)} (${JSON.stringify(as ?? 'list')})`,
      apply: (builder) => void builder.set(key, to, as),
    })
  if (type !== 'string') set('x', 'string')
  if (type === 'string' || type === 'f32') set(7, 'u32')
  if (!isList) set([1, 2], { arrayOf: 'u32' })
  if (type === 'bool' && !isList) set(value !== true, 'bool')
  if (type === 'string' && !isList) for (const text of ['', 'nobody']) set(text, 'string')
  for (const number of kWrong[type] ?? [])
    if (!isList) set(number, type as 'u32')
    else if (value.length <= kMaxList && type in kLists)
      set(new kLists[type as keyof typeof kLists](value.length).fill(number))
  if (isList && value.length <= kMaxList && value.length > 1 && type in kLists)
    set(new kLists[type as keyof typeof kLists](value.length - 1).fill(1))
  return changes
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

const kVectors = ['arch', 'new/arch'].map((name) => join(kShared, '../vectors', name))
const kGolden = join(kRoot, 'tests/fixtures/golden/arch')
const models = (kVectors.every(existsSync) ? kVectors : [kGolden]).flatMap((folder) =>
  readdirSync(folder).flatMap((name): [string, string][] => {
    const path = join(folder, name, 'model.gguf')
    return existsSync(path) ? [[name, path]] : []
  }),
)

/** Which changes of a file's keys are refused by loading, but not by lint. */
async function silentChanges(
  name: string,
  file: GgufFile,
  loading: (bytes: Uint8Array<ArrayBuffer>) => Promise<{ close(): void }>,
): Promise<{ n: number; silent: string[] }> {
  const silent: string[] = []
  let n = 0
  const all = keysOf(file).flatMap((key) => changesOf(file, key).map((change) => [key, change] as const))
  for (const [key, change] of everyNth(all, 4)) {
    n++
    const bytes = await changed(file, change)
    using made = await open(bytes)
    // What lint itself refuses need not be loaded.
    if (errorsIn(made.lint()).length > 0) continue
    const refused = await refusal(loading(bytes))
    if (refused !== undefined && (await lint(made)).length === 0)
      silent.push(`${name}: ${key} ${change.name}: ${refused}`)
  }
  return { n, silent }
}

test('whatever change of a key load() refuses, lint reports', { timeout }, async (t) => {
  const all: string[] = []
  let count = 0
  for (const [name, path] of everyNth(models, 300)) {
    using file = await open(path)
    const { n, silent } = await silentChanges(name, file, (bytes) =>
      load(bytes, { contextLength: 64, threads: 1 }),
    )
    all.push(...silent)
    count += n
  }
  assert.ok(count > 10, `${count}`)
  assert.deepEqual(all, [])
  t.diagnostic(`${count} changes, ${all.length} of which lint says nothing`)
})

test('whatever change of a projector load() refuses, lint reports', { timeout }, async (t) => {
  const all: string[] = []
  let count = 0
  for (const name of everyNth(kMadeProjectors, 100)) {
    const { projector, model } = madeProjector(name)
    using file = await open(projector)
    const { n, silent } = await silentChanges(name, file, (bytes) =>
      load(model, { projector: bytes, contextLength: 256, threads: 1 }),
    )
    all.push(...silent)
    count += n
  }
  assert.ok(count > 15, `${count}`)
  assert.deepEqual(all, [])
  t.diagnostic(`${count} changes, ${all.length} of which lint says nothing`)
})

test('the models and projectors themselves have no finding', { timeout }, async () => {
  for (const [name, path] of everyNth(models, 100)) {
    using file = await open(path)
    assert.deepEqual(errorsIn(await lintLoad(file)), [], name)
  }
  for (const name of everyNth(kMadeProjectors, 30)) {
    const made = madeProjector(name)
    using projector = await open(made.projector)
    assert.deepEqual(errorsIn(await lintLoad(projector)), [], name)
    using model = await open(made.model)
    assert.deepEqual(await lintLoad(model, { projector }), [], name)
  }
})

test('a projector of another model is a finding of lintLoad(), as load() refuses it', async () => {
  const made = madeProjector(kMadeProjectors[0]!)
  using model = await open(stories)
  using projector = await open(made.projector)
  const [finding, ...more] = await lintLoad(model, { projector })
  assert.match(finding?.message ?? '', /have 256: they do not belong together$/)
  assert.equal(finding?.error, 'other-model')
  assert.deepEqual(more, [])
  await assert.rejects(load(stories, { projector, threads: 1 }), ({ message }: Error) =>
    message.startsWith(finding!.message),
  )
  await assert.rejects(lintLoad(model, { projector: {} as GgufFile }), { code: 'invalid-argument' })
})

// Tensors without which the engine would compute something else: another feed-forward network, other experts.
const kRequired: readonly (readonly [model: string, tensor: string])[] = [
  ['hrm_text', 'blk.0.ffn_gate.weight'],
  ['maple', 'blk.3.ffn_gate_exps.weight'],
  ['hy_v4', 'blk.1.ffn_gate_shexp.weight'],
  ['qwen4exp', 'blk.0.ffn_gate_inp_shexp.weight'],
  ['qwen4exp-ple', 'blk.3.indexer.k_norm.weight'],
  ['glm5-next', 'blk.1.exp_probs_b.bias'],
  ['gemma-embedding2', 'blk.4.attn_v.weight'],
]

async function without(file: GgufFile, tensor: string): Promise<Uint8Array<ArrayBuffer>> {
  return await changed(file, { name: tensor, apply: (builder) => void builder.removeTensor(tensor) })
}

const lacks = (tensor: string) => ({
  code: 'not-found',
  message: `The input is damaged: llama.cpp requires tensor ${tensor}. It cannot be run: get the whole model.`,
})

test('lintLoad() leaves to lint() what a file lacks', async () => {
  using cut = await open(stories.slice(0, 900_000))
  assert.deepEqual(
    errorsIn(cut.lint()).map(({ code }) => code),
    ['data-truncated'],
  )
  assert.deepEqual(await lintLoad(cut), [])
  using whole = await open(stories)
  using less = await open(await without(whole, 'blk.1.ffn_up.weight'))
  assert.deepEqual(
    errorsIn(less.lint()).map(({ code }) => code),
    ['tensor-missing'],
  )
  assert.deepEqual(await lintLoad(less), [])
})

async function assertRequired(path: string, tensor: string): Promise<void> {
  using file = await open(path)
  const bytes = await without(file, tensor)
  await assert.rejects(load(bytes, { contextLength: 64, threads: 1 }), lacks(tensor), path)
  await assert.rejects(load(stories, { draft: bytes, contextLength: 64, threads: 1 }), lacks(tensor), path)
  using made = await open(bytes)
  const found = errorsIn(made.lint()).map(({ message }) => message)
  assert.ok(found.includes(`llama.cpp requires tensor ${tensor}`), `${path}: ${found.join()}`)
}

test('load() refuses a file without a tensor that lint requires', async () => {
  const path = join(kGolden, 'qwen3moe/model.gguf')
  using file = await open(path)
  for (const { name } of everyNth(file.tensors, 9)) {
    using made = await open(await without(file, name))
    if (errorsIn(made.lint()).some(({ code }) => code === 'tensor-missing')) await assertRequired(path, name)
  }
})

const filesOf = async (set: readonly WrittenFile[]): Promise<File[]> =>
  await Promise.all(set.map(async (written) => new File([await bytesOf(written)], written.name!)))

test('a tensor that no file of a split model has, or one too many, is found', async (t) => {
  const path = join(kGolden, 'qwen3moe/model.gguf')
  const changes = {
    'blk.1.ffn_down_exps.weight': (builder: GgufBuilder, name: string) => builder.removeTensor(name),
    'blk.1.ffn_gate.bias': (builder: GgufBuilder, name: string) =>
      builder.addTensor(name, [4], 'F32', new Float32Array(4)),
  }
  using whole = await open(path)
  for (const change of [undefined, ...Object.entries(changes)]) {
    const builder = await whole.edit()
    change?.[1](builder, change[0])
    const files = await filesOf(await builder.split('model', { maxTensors: 9 }))
    assert.ok(files.length > 2)
    using set = await open(files)
    assert.deepEqual(errorsIn(set.lint()), [])
    const lints = t.mock.method(set, 'lint')
    const found = errorsIn(await lintLoad(set)).map(({ code, message }) => `${code}: ${message}`)
    assert.equal(lints.mock.callCount(), 1)
    if (!change) {
      assert.deepEqual(found, [])
      ;(await load(files, { contextLength: 64, threads: 1 })).close()
      continue
    }
    const [name] = change
    const isMissing = name.endsWith('.weight')
    assert.equal(found.length, 1, found.join())
    assert.match(
      found[0]!,
      isMissing ? /^tensor-missing: llama\.cpp requires tensor blk\.1\./ : /^tensor-unknown: .*gate\.bias/,
    )
    const refusal = isMissing ? lacks(name) : { code: 'surplus-tensor' }
    await assert.rejects(load(files, { contextLength: 64, threads: 1 }), refusal)
  }
})

test(
  'a tensor that the engine can do without is required as in llama.cpp',
  { skip: kVectors.every(existsSync) ? false : 'without the reference models' },
  async () => {
    for (const [model, tensor] of kRequired)
      await assertRequired(join(kVectors[1]!, model, 'model.gguf'), tensor)
  },
)

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

// Faults of an adapter for the sample, each of which setAdapters() may refuse.
const kAdapterFaults: Readonly<Record<string, (model: Writable) => void>> = {
  none: () => {},
  'no alpha': ({ metadata }) => void metadata.splice(3, 1),
  ...Object.fromEntries(
    [0, -1, NaN, Infinity, 3e38, 1e9].map((alpha) => [
      `alpha ${alpha}`,
      ({ metadata }: Writable) => void (metadata[3] = ['adapter.lora.alpha', f32(alpha)]),
    ]),
  ),
  'alpha as a text': ({ metadata }) => void (metadata[3] = ['adapter.lora.alpha', text('16')]),
  'no architecture': ({ metadata }) => void metadata.splice(0, 1),
  'another architecture': ({ metadata }) => void (metadata[0] = ['general.architecture', text('gemma')]),
  'no type': ({ metadata }) => void metadata.splice(1, 1),
  'another type': ({ metadata }) => void (metadata[1] = ['general.type', text('model')]),
  'no type of adapter': ({ metadata }) => void metadata.splice(2, 1),
  'another type of adapter': ({ metadata }) => void (metadata[2] = ['adapter.type', text('ia3')]),
  ...Object.fromEntries(
    ['I8', 'I16', 'I32', 'I64', 'F64', 'Q8_0'].map((type) => [
      `matrices of ${type}`,
      ({ tensors }: Writable) => tensors.forEach((tensor) => void (tensor.type = type)),
    ]),
  ),
  'no tensors': ({ tensors }) => void tensors.splice(0),
  'no a': ({ tensors }) => void tensors.splice(0, 1),
  'no b': ({ tensors }) => void tensors.splice(1, 1),
  'wrong input': ({ tensors }) => void (tensors[0]!.shape = [32, 4]),
  'wrong output': ({ tensors }) => void (tensors[1]!.shape = [4, 32]),
  'two ranks': ({ tensors }) => void (tensors[0]!.shape = [64, 8]),
  'rank 0': ({ tensors }) => void ((tensors[0]!.shape = [64, 0]), (tensors[1]!.shape = [0, 64])),
  'a huge rank': ({ tensors }) =>
    void ((tensors[0]!.shape = [64, 70_000]), (tensors[1]!.shape = [70_000, 64])),
  'a third dimension': ({ tensors }) => void (tensors[0]!.shape = [64, 4, 2]),
  'one dimension': ({ tensors }) => void (tensors[0]!.shape = [64]),
  'a layer that is not there': (model) => rename(model, 'blk.99.attn_q.weight'),
  'a tensor of nobody': (model) => rename(model, 'nobody.weight'),
  'a norm': (model) => rename(model, 'blk.0.attn_norm.weight'),
  'the embedding': (model) => rename(model, 'token_embd.weight'),
  'a name without its end': ({ tensors }) => void (tensors[0]!.name = 'blk.0.attn_q.weight'),
  'a further tensor': ({ tensors }) =>
    void tensors.push({ name: 'blk.0.attn_k.weight', shape: [64, 64], type: 'F32' }),
  'one pair twice': ({ tensors }) => void tensors.push(...structuredClone(tensors)),
  'tokens that are not there': ({ metadata }) =>
    void metadata.push(['adapter.alora.invocation_tokens', array('u32', [4_000_000])]),
  'no tokens': ({ metadata }) => void metadata.push(['adapter.alora.invocation_tokens', array('u32', [])]),
}
interface Writable {
  metadata: [string, Value][]
  tensors: { name: string; shape: number[]; type: string }[]
}
function rename({ tensors }: Writable, to: string): void {
  for (const tensor of tensors) tensor.name = tensor.name.replace('blk.0.attn_q.weight', to)
}

test('whatever adapter setAdapters() refuses, lint, lintLoad() or lintAdapter() reports', async (t) => {
  const base = join(kRoot, 'tests/fixtures/stories.gguf')
  using file = await open(base)
  const width = file.tensor('blk.0.attn_q.weight')!.shape
  const model = await load(new Blob([readFileSync(base)]), { contextLength: 64, threads: 1 })
  const silent: string[] = []
  let refusals = 0
  try {
    for (const [name, fault] of Object.entries(kAdapterFaults)) {
      const made = structuredClone(adapter(16, 'F32')) as unknown as Writable
      made.tensors[0]!.shape = [width[0]!, 4]
      made.tensors[1]!.shape = [4, width[1]!]
      fault(made)
      const bytes = writeGguf(made as unknown as Model)
      const refused = await model.setAdapters([{ source: bytes }]).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      assert.ok(name !== 'none' || refused === undefined, refused)
      if (refused === undefined) continue
      refusals++
      let found: Finding[]
      try {
        using made = await open(bytes)
        found = [...(await lint(made)), ...errorsIn(lintAdapter(made, file))]
      } catch (error) {
        found = [{ level: 'error', code: 'open', message: String(error), shard: 0 }]
      }
      if (found.length === 0) silent.push(`${name}: ${refused}`)
    }
  } finally {
    model.close()
  }
  assert.deepEqual(silent, [])
  assert.ok(refusals > 20, `${refusals}`)
  t.diagnostic(
    `${refusals} of ${Object.keys(kAdapterFaults).length} adapters are refused, ${silent.length} in silence`,
  )
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

test('a model that loads and continues no text has a note, unless it says that it embeds', async () => {
  using whole = await open(join(kRoot, 'tests/fixtures/stories.gguf'))
  const bytes = await changed(whole, {
    name: 'not causal',
    apply: (builder) => void builder.set('llama.attention.causal', false),
  })
  using file = await open(bytes)
  const [note, ...others] = await lintLoad(file)
  using model = await load(bytes)
  assert.ok(!model.info.abilities.includes('generate'), 'no door offers what it refuses')
  await assert.rejects(
    async () => {
      for await (const _ of model.generate('Bees')) assert.fail('it generates')
    },
    { code: 'unsupported', message: note!.message },
  )
  assert.deepEqual([note!.level, others], ['note', []])
  const builder = await file.edit()
  using embeds = await open(await (await builder.set('llama.pooling_type', 1, 'u32').build()).bytes())
  assert.deepEqual(await lintLoad(embeds), [])
  // The architecture of an encoder says it.
  using bert = await open(await smallBert(1))
  using unsaid = await open(
    await changed(bert, { name: 'no pooling', apply: (all) => void all.remove('bert.pooling_type') }),
  )
  assert.deepEqual(await lintLoad(unsaid), [])
})

test('a matrix beyond 32-bit addresses is checked with 64-bit memory, which load() takes for it', async () => {
  const shape = { name: 'wide', width: 2048, blocks: 1, heads: 16, kvHeads: 16, vocabulary: 300 }
  const { header, size } = writeHeader(llamaModel({ ...shape, feedForward: 2 ** 18 }, 'Q8_0'))
  const server = await startServer()
  try {
    server.add('/wide.gguf', sparseContent(header, size))
    using file = await open(`${server.url}/wide.gguf`)
    const found = (await lintLoad(file)).map(({ level, code }) => `${level}: ${code}`)
    assert.deepEqual(found, kLacks64 ? ['note: load'] : [])
  } finally {
    await server.close()
  }
})

test('the command lint and the MCP tool find it, and take a file without faults', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-lint-load-'))
  try {
    using whole = await open(join(kRoot, 'tests/fixtures/stories.gguf'))
    const path = join(folder, 'wrong.gguf')
    writeFileSync(
      path,
      await changed(whole, {
        name: 'negative',
        apply: (builder) => void builder.set('llama.attention.layer_norm_rms_epsilon', -1, 'f32'),
      }),
    )
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
