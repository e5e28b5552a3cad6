// Repositories on hubs: their names, their files, and opening their models, against a server that speaks the protocols.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { shards, smallModel } from '../fixtures/models.ts'
import { startHub, type HubServer } from '../server/hub.ts'
import { loadHub, loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'

const { open } = await loadNodePackage()
const {
  findProjector,
  findVariant,
  listRepository,
  parseHubAddress,
  pickProjector,
  pickVariant,
  quantizationOf,
  searchModels,
  variantsOf,
} = await loadHub()

const whole = writeGguf(smallModel())
const parts = shards(smallModel(), 3, 'large-Q8_0')
const sizes = { size: 4_000_000_000 }
const folder = mkdtempSync(join(tmpdir(), 'hub-'))
let hub: HubServer
before(async () => {
  hub = await startHub([
    {
      id: 'someone/small-GGUF',
      downloads: 70,
      files: {
        'README.md': new Uint8Array(10),
        'small-Q4_K_M.gguf': whole,
        'small-IQ2_XXS.gguf': { size: 1_000_000 },
        'mmproj-small-f16.gguf': { size: 500 },
        'imatrix.gguf': { size: 400 },
        'big/large-Q8_0-00001-of-00003.gguf': writeGguf(parts[0]!.model),
        'big/large-Q8_0-00002-of-00003.gguf': writeGguf(parts[1]!.model),
        'big/large-Q8_0-00003-of-00003.gguf': writeGguf(parts[2]!.model),
        'cut/x-BF16-00001-of-00002.gguf': sizes,
      },
    },
    { id: 'someone/gated-small', token: 'secret', downloads: 90, files: { 'gated-Q8_0.gguf': whole } },
    {
      id: 'library/tiny',
      files: { 'model.gguf': whole, 'mmproj.gguf': { size: 9 }, LICENSE: new Uint8Array(3) },
    },
    { id: 'someone/none', files: { 'README.md': new Uint8Array(1) } },
  ])
})
after(async () => {
  await hub.close()
  rmSync(folder, { recursive: true })
})

test('repositories are recognized in every spelling, files are not', () => {
  const id = 'o-1/n.2'
  const cases: Record<string, object | undefined> = {
    'o-1/n.2': { hub: 'huggingface', id },
    ' o-1/n.2:q4_k_m ': { hub: 'huggingface', id, quantization: 'q4_k_m' },
    'hf:o-1/n.2': { hub: 'huggingface', id },
    'hf:o-1/n.2@dev:Q8_0': { hub: 'huggingface', id, revision: 'dev', quantization: 'Q8_0' },
    'hf.co/o-1/n.2:Q4_0': { hub: 'huggingface', id, quantization: 'Q4_0' },
    'https://huggingface.co/o-1/n.2/': { hub: 'huggingface', id },
    'https://huggingface.co/o-1/n.2/tree/dev/folder': { hub: 'huggingface', id, revision: 'dev' },
    'https://huggingface.co/o-1/n.2?x=1#y': { hub: 'huggingface', id },
    'https://hf-mirror.com/o-1/n.2': { hub: 'huggingface', id, server: 'https://hf-mirror.com' },
    'ms:o-1/n.2': { hub: 'modelscope', id },
    'https://modelscope.cn/models/o-1/n.2': { hub: 'modelscope', id },
    'https://modelscope.cn/models/o-1/n.2/files': { hub: 'modelscope', id },
    'ollama:tiny': { hub: 'ollama', id: 'library/tiny', revision: 'latest' },
    'ollama:o-1/n.2:7b': { hub: 'ollama', id, revision: '7b' },
    'llama3.2:1b': { hub: 'ollama', id: 'library/llama3.2', revision: '1b' },
    'https://ollama.com/library/tiny:1b': { hub: 'ollama', id: 'library/tiny', revision: '1b' },
    'hf:o-1/n.2/x.gguf': undefined,
    'https://huggingface.co/o-1/n.2/resolve/main/x.gguf': undefined,
    'https://huggingface.co/o-1/n.2/blob/main/x.gguf': undefined,
    'https://example.org/o-1/n.2': undefined,
    'folder/model.gguf': undefined,
    'C:\\models\\x.gguf': undefined,
    'C:x': undefined,
    './a/b': undefined,
    '/a/b': undefined,
    '../b': undefined,
    'model.gguf': undefined,
    'http://127.0.0.1:80/a/b': undefined,
    '': undefined,
    'a b/c': undefined,
  }
  for (const [text, wanted] of Object.entries(cases)) {
    const found = parseHubAddress(text)
    assert.deepEqual(found && JSON.parse(JSON.stringify(found)), wanted, text)
  }
})

test('quantizations are read from the names that people give files', () => {
  const cases: Record<string, string | undefined> = {
    'Llama-3.2-1B-Instruct-Q4_K_M.gguf': 'Q4_K_M',
    'llama-2-7b.Q5_K_S.gguf': 'Q5_K_S',
    'model-q4_0.gguf': 'Q4_0',
    'x-UD-Q2_K_XL.gguf': 'UD-Q2_K_XL',
    'x-IQ3_XXS.gguf': 'IQ3_XXS',
    'x-IQ4_NL-00001-of-00009.gguf': 'IQ4_NL',
    'Q8_0/x-Q8_0-00001-of-00002.gguf': 'Q8_0',
    'x.f16.gguf': 'F16',
    'x-bf16.gguf': 'BF16',
    'x-fp16.gguf': 'F16',
    'gpt-oss-20b-MXFP4.gguf': 'MXFP4',
    'x-Q4_0_4_8.gguf': 'Q4_0_4_8',
    'x-TQ1_0.gguf': 'TQ1_0',
    'x-Q6_K_L.gguf': 'Q6_K_L',
    'x-Q3_K.gguf': 'Q3_K',
    'model.gguf': undefined,
    'Qwen2-7B.gguf': undefined,
    'f16model.gguf': undefined,
  }
  for (const [path, wanted] of Object.entries(cases)) assert.equal(quantizationOf(path), wanted, path)
})

test('the projector of a model is the one in its folder, F16 first', () => {
  const variants = variantsOf(
    [
      'mmproj-x-Q8_0.gguf',
      'mmproj-x-F16.gguf',
      'mmproj-x-F32.gguf',
      'x-Q4_K_M.gguf',
      'a/mmproj.gguf',
      'b/mmproj-Q4_0.gguf',
      'b/mmproj-BF16.gguf',
    ].map((path) => ({ path, size: path.length, url: path })),
  )
  const cases: Record<string, string | undefined> = {
    'x-Q4_K_M.gguf': 'mmproj-x-F16.gguf',
    'a/x.gguf': 'a/mmproj.gguf',
    'b/x.gguf': 'b/mmproj-BF16.gguf',
    'c/x.gguf': 'mmproj-x-F16.gguf',
    '': 'mmproj-x-F16.gguf',
  }
  for (const [path, wanted] of Object.entries(cases))
    assert.equal(pickProjector(variants, path)?.files[0]!.path, wanted, path)
  assert.equal(
    pickProjector(
      variants.filter(({ kind }) => kind === 'model'),
      'x.gguf',
    ),
    undefined,
  )
})

test('findProjector takes the address of a file or of a repository', async () => {
  const server = hub.url
  const file = `${server}/someone/small-GGUF/resolve/main/small-Q4_K_M.gguf`
  assert.equal((await findProjector(file))?.files[0]!.path, 'mmproj-small-f16.gguf')
  assert.equal((await findProjector('someone/small-GGUF', { server }))?.files[0]!.size, 500)
  assert.equal((await findProjector('ollama:tiny', { server }))?.files[0]!.size, 9)
  assert.equal(await findProjector('https://example.org/model.gguf'), undefined)
  assert.equal(await findProjector(`${server}/someone/missing/resolve/main/x.gguf`), undefined)
  const gated = `${server}/someone/gated-small/resolve/main/gated-Q8_0.gguf`
  await assert.rejects(findProjector(gated), { code: 'unauthorized' })
  assert.equal(await findProjector(gated, { token: 'secret' }), undefined)
})

test('a repository lists its models, with shards joined and other kinds apart', async () => {
  const found = await listRepository('someone/small-GGUF', { server: hub.url })
  assert.equal(found.files.length, 8)
  assert.equal(found.page, `${hub.url}/someone/small-GGUF`)
  const told = found.variants.map(({ name, kind, files, missing }) => [name, kind, files.length, missing])
  // By kind, then by size.
  assert.deepEqual(told, [
    ['Q4_K_M', 'model', 1, 0],
    ['Q8_0', 'model', 3, 0],
    ['IQ2_XXS', 'model', 1, 0],
    ['BF16', 'model', 1, 1],
    ['F16', 'projector', 1, 0],
    ['imatrix', 'imatrix', 1, 0],
  ])
  assert.match(found.files[0]!.sha256!, /^[0-9a-f]{64}$/)
  const three = found.variants.find(({ name }) => name === 'Q8_0')!
  await using_(await open(three.files.map(({ url }) => url)), (file) => assert.equal(file.shards.length, 3))
})

async function using_<T extends { close(): void }>(file: T, check: (file: T) => void) {
  try {
    check(file)
  } finally {
    file.close()
  }
}

test('a name selects a model by quantization, or the default one', async () => {
  const server = hub.url
  assert.equal((await findVariant('someone/small-GGUF', { server })).name, 'Q4_K_M')
  assert.equal((await findVariant('someone/small-GGUF:q8_0', { server })).files.length, 3)
  await assert.rejects(
    findVariant('someone/small-GGUF:Q3_K_M', { server }),
    (error: { code: string; message: string }) =>
      error.code === 'not-found' && /Q3_K_M/.test(error.message) && /IQ2_XXS/.test(error.message),
  )
  // A model with missing shards is not chosen.
  await assert.rejects(findVariant('someone/small-GGUF:BF16', { server }), { code: 'not-found' })
  const file = (path: string) => ({ path, size: 1, url: '' })
  assert.equal(pickVariant(variantsOf([file('a-UD-Q4_K_XL.gguf')]), 'q4_k_xl')?.name, 'UD-Q4_K_XL')
  assert.deepEqual(
    variantsOf([file('7b/x-Q4_0.gguf'), file('13b/x-Q4_0.gguf')]).map(({ name }) => name),
    ['13b/x-Q4_0', '7b/x-Q4_0'],
  )
})

test('repositories of ModelScope and Ollama are read', async () => {
  const scope = await listRepository('ms:someone/small-GGUF', { server: hub.url })
  assert.equal(scope.revision, 'master')
  assert.equal(scope.files.length, 8)
  await using_(await open(pickVariant(scope.variants)!.files[0]!.url), (file) =>
    assert.equal(file.tensors.length, smallModel().tensors!.length),
  )
  const ollama = await listRepository('ollama:tiny', { server: hub.url })
  assert.deepEqual(
    ollama.variants.map(({ kind }) => kind),
    ['model', 'projector'],
  )
  await using_(await open(ollama.variants[0]!.files[0]!.url), (file) =>
    assert.equal(file.tensors.length, smallModel().tensors!.length),
  )
})

test('a token is sent to the hub, not to the host of the files', async () => {
  const server = hub.url
  await assert.rejects(listRepository('someone/gated-small', { server }), {
    code: 'unauthorized',
    status: 401,
  })
  const variant = await findVariant('someone/gated-small', { server, token: 'secret' })
  hub.fetched.length = 0
  const headers = { Authorization: 'Bearer secret' }
  await using_(await open(variant.files[0]!.url, { headers }), (file) => assert.ok(file.tensors.length > 0))
  assert.ok(hub.fetched.length > 0)
  assert.deepEqual(
    hub.fetched.filter(({ authorization }) => authorization !== undefined),
    [],
  )
})

test('models are searched, those with most downloads first', async () => {
  const found = await searchModels('small', { server: hub.url, limit: 5 })
  assert.deepEqual(
    found.map(({ id, gated }) => [id, gated]),
    [
      ['someone/gated-small', true],
      ['someone/small-GGUF', false],
    ],
  )
  await assert.rejects(searchModels('x', { server: hub.url, limit: 0 }), { code: 'invalid-argument' })
})

test('errors for addresses that are no repository, or not one of models', async () => {
  const server = hub.url
  await assert.rejects(listRepository('nobody/nothing', { server }), { code: 'no-such-file', status: 404 })
  await assert.rejects(listRepository('someone/none', { server }), { code: 'not-found' })
  await assert.rejects(listRepository('x.gguf', { server }), { code: 'invalid-argument' })
  // A server that answers with its start page.
  await assert.rejects(listRepository('someone/small-GGUF', { server: `${server}/elsewhere` }), {
    code: 'html',
  })
  const control = new AbortController()
  control.abort(new Error('enough'))
  await assert.rejects(listRepository('someone/small-GGUF', { server, signal: control.signal }), /enough/)
  await hub.close().catch(() => {})
  await assert.rejects(listRepository('someone/small-GGUF', { server }), { code: 'network' })
  hub = await startHub([
    { id: 'someone/small-GGUF', files: { 'small-Q4_K_M.gguf': whole, 'x-Q8_0.gguf': { size: 5 } } },
  ])
})

const run = (args: string[], env: Record<string, string> = {}) =>
  runCli(args, { cwd: folder, env: { HF_ENDPOINT: hub.url, HF_TOKEN: '', ...env } })

test('the command line takes repositories where it takes files', async () => {
  const info = await run(['info', 'someone/small-GGUF:Q4_K_M', '--json'])
  assert.equal(info.status, 0, info.err)
  assert.ok(info.out.includes('llama'))
  const list = await run(['files', 'hf:someone/small-GGUF'])
  assert.equal(list.status, 0, list.err)
  assert.match(list.out, /Q4_K_M +model/)
  const found = await run(['search', 'small'])
  assert.match(found.out, /someone\/small-GGUF/)
  const missing = await run(['info', 'someone/small-GGUF:Q2_K'])
  assert.equal(missing.status, 1)
  assert.match(missing.err, /has no Q2_K. It has: .*Q4_K_M/)
  // An existing folder is a path, so no server is asked.
  mkdirSync(join(folder, 'someone'))
  const asked = hub.requests.length
  const path = await run(['info', 'someone/small-GGUF'])
  assert.notEqual(path.status, 0)
  assert.match(path.err, /small-GGUF/)
  assert.equal(hub.requests.length, asked)
})
