// Repositories on hubs: their names, their files, and opening their models, against a server that speaks the protocols.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { writeGguf } from '../fixtures/gguf.ts'
import { shards, smallModel } from '../fixtures/models.ts'
import { startHub, type HubServer } from '../server/hub.ts'
import { loadHub, loadNodePackage, packedFile } from './packed.ts'
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
const kPages = {
  id: 'someone/pages-GGUF',
  files: {
    'n-Q4_K_M.gguf': whole,
    'n-UD-Q3_K_XL.gguf': whole,
    'BF16/n-BF16-00001-of-00002.gguf': { size: 5 },
    'BF16/n-BF16-00002-of-00002.gguf': { size: 5 },
  },
}
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
    kPages,
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
    'https://huggingface.co/o-1/n.2/tree/dev/folder': {
      hub: 'huggingface',
      id,
      revision: 'dev',
      folder: 'folder',
    },
    'https://huggingface.co/o-1/n.2/tree/main/a%20b/c/': {
      hub: 'huggingface',
      id,
      revision: 'main',
      folder: 'a b/c',
    },
    'https://huggingface.co/o-1/n.2/tree/refs%2Fpr%2F1': { hub: 'huggingface', id, revision: 'refs/pr/1' },
    'https://huggingface.co/o-1/n.2/tree/refs/pr/1/x': {
      hub: 'huggingface',
      id,
      revision: 'refs/pr/1',
      folder: 'x',
    },
    'https://huggingface.co/o-1/n.2/tree/refs%252fpr%252f12': {
      hub: 'huggingface',
      id,
      revision: 'refs/pr/12',
    },
    'https://huggingface.co/o-1/n.2/tree/my%2Fbranch/x': {
      hub: 'huggingface',
      id,
      revision: 'my/branch',
      folder: 'x',
    },
    'hf:o-1/n.2@refs/pr/1:Q8_0': {
      hub: 'huggingface',
      id,
      revision: 'refs/pr/1',
      quantization: 'Q8_0',
    },
    'hf:o-1/n.2@my/branch': { hub: 'huggingface', id, revision: 'my/branch' },
    'o-1/n.2@my/branch-1.0:Q8_0': {
      hub: 'huggingface',
      id,
      revision: 'my/branch-1.0',
      quantization: 'Q8_0',
    },
    'hf:o-1/n.2@my/branch/x.gguf': undefined,
    'o-1/n.2@my/branch': undefined,
    'o-1/n.2@refs%2Fpr%2F1': { hub: 'huggingface', id, revision: 'refs/pr/1' },
    'o-1/n.2@refs/pr/1:Q8_0': { hub: 'huggingface', id, revision: 'refs/pr/1', quantization: 'Q8_0' },
    'https://huggingface.co/o-1/n.2?show_file_info=n-Q4.gguf': { hub: 'huggingface', id, file: 'n-Q4.gguf' },
    'huggingface.co/o-1/n.2?a=b&show_tensors=a%2Fn%20Q4.gguf#top': {
      hub: 'huggingface',
      id,
      file: 'a/n Q4.gguf',
    },
    'https://huggingface.co/o-1/n.2/tree/dev/a?show_file_info=a%2Fn.gguf': {
      hub: 'huggingface',
      id,
      revision: 'dev',
      folder: 'a',
      file: 'a/n.gguf',
    },
    'https://huggingface.co/o-1/n.2?show_file_info=x': { hub: 'huggingface', id, file: 'x' },
    'https://huggingface.co/o-1/n.2?show_tensors=true': { hub: 'huggingface', id },
    'o-1/n.2:a/b c+d-Q4_0': { hub: 'huggingface', id, quantization: 'a/b c+d-Q4_0' },
    'o-1/n.2:a/b.gguf': { hub: 'huggingface', id, quantization: 'a/b.gguf' },
    'hf:o-1/n.2@refs/pr/1/x.gguf': undefined,
    'https://huggingface.co/o-1/n.2?x=1#y': { hub: 'huggingface', id },
    'https://hf-mirror.com/o-1/n.2': { hub: 'huggingface', id, server: 'https://hf-mirror.com' },
    'ms:o-1/n.2': { hub: 'modelscope', id },
    'https://modelscope.cn/models/o-1/n.2': { hub: 'modelscope', id },
    'https://modelscope.cn/models/o-1/n.2/files': { hub: 'modelscope', id },
    'ollama:tiny': { hub: 'ollama', id: 'library/tiny', revision: 'latest' },
    'ollama:o-1/n.2:7b': { hub: 'ollama', id, revision: '7b' },
    'llama3.2:1b': { hub: 'ollama', id: 'library/llama3.2', revision: '1b' },
    'https://ollama.com/library/tiny:1b': { hub: 'ollama', id: 'library/tiny', revision: '1b' },
    'https://ollama.com/library/tiny/tags': { hub: 'ollama', id: 'library/tiny', revision: 'latest' },
    'https://ollama.com/o-1/n.2/tags': { hub: 'ollama', id, revision: 'latest' },
    'https://ollama.com/library/tiny:1b/blobs/0a1b': { hub: 'ollama', id: 'library/tiny', revision: '1b' },
    'https://huggingface.co/o-1/n.2/discussions/7': { hub: 'huggingface', id },
    'https://huggingface.co/o-1/n.2/commit/0a1b': { hub: 'huggingface', id, revision: '0a1b' },
    'https://huggingface.co/o-1/n.2/commits/dev': { hub: 'huggingface', id, revision: 'dev' },
    'https://huggingface.co/o-1/n.2/edit/main/a/x.gguf': {
      hub: 'huggingface',
      id,
      revision: 'main',
      file: 'a/x.gguf',
    },
    'https://huggingface.co/api/models/o-1/n.2': { hub: 'huggingface', id },
    'hf://models/o-1/n.2': { hub: 'huggingface', id },
    'hf://huggingface.co/o-1/n.2': { hub: 'huggingface', id },
    '//huggingface.co/o-1/n.2': { hub: 'huggingface', id },
    '<https://hf.co/o-1/n.2>': { hub: 'huggingface', id },
    '"hf:o-1/n.2:Q4_0"': { hub: 'huggingface', id, quantization: 'Q4_0' },
    'https://huggingface.co/datasets/o-1': undefined,
    'https://huggingface.co/docs/hub': undefined,
    'https://huggingface.co/spaces/o-1/n.2': undefined,
    'ms://o-1/n.2': { hub: 'modelscope', id },
    'ms://o-1/n.2/a/x.gguf': { hub: 'modelscope', id, file: 'a/x.gguf' },
    'ms:o-1/n.2@v1/x.gguf': { hub: 'modelscope', id, revision: 'v1', file: 'x.gguf' },
    'hf.co/o-1/n.2/x.gguf': { hub: 'huggingface', id, file: 'x.gguf' },
    'https://modelscope.cn/api/v1/models/o-1/n.2': { hub: 'modelscope', id },
    'https://www.modelscope.cn/models/o-1/n.2/feedback': { hub: 'modelscope', id },
    'https://modelscope.cn/datasets/o-1/n.2': undefined,
    'ollama.com/library/llama3.2': { hub: 'ollama', id: 'library/llama3.2', revision: 'latest' },
    'ollama://llama3.2:1b': { hub: 'ollama', id: 'library/llama3.2', revision: '1b' },
    'ollama://registry.ollama.ai/library/tiny:1b': { hub: 'ollama', id: 'library/tiny', revision: '1b' },
    'https://registry.ollama.ai/v2/library/tiny/manifests/1b': {
      hub: 'ollama',
      id: 'library/tiny',
      revision: '1b',
    },
    'https://registry.ollama.ai/v2/library/tiny/blobs/sha256:0a1b': undefined,
    'https://ollama.com/search?q=tiny': undefined,
    'https://ollama.com/library': undefined,
    'https://ollama.com/blog/x': undefined,
    'https://github.com/o-1/n.2/releases/tag/v1.0': { hub: 'github', id, revision: 'v1.0' },
    'https://github.com/o-1/n.2/releases/tag/v1%2Fb': { hub: 'github', id, revision: 'v1/b' },
    'https://github.com/o-1/n.2/releases/latest': { hub: 'github', id },
    'github.com/o-1/n.2/releases': { hub: 'github', id },
    'https://github.com/o-1/n.2.git': { hub: 'github', id },
    'github:o-1/n.2@v1:Q4_0': { hub: 'github', id, revision: 'v1', quantization: 'Q4_0' },
    'https://github.com/o-1/n.2/releases/download/v1/x.gguf': undefined,
    'https://github.com/o-1/n.2/blob/main/x.gguf': undefined,
    'https://github.com/topics/gguf': undefined,
    'ollama run tiny': { hub: 'ollama', id: 'library/tiny', revision: 'latest' },
    '$ ollama pull o-1/n.2:7b': { hub: 'ollama', id, revision: '7b' },
    'ollama run hf.co/o-1/n.2:Q4_0': { hub: 'huggingface', id, quantization: 'Q4_0' },
    'docker model run hf.co/o-1/n.2:Q4_0': { hub: 'huggingface', id, quantization: 'Q4_0' },
    'llama-server -hf o-1/n.2:Q4_0 --jinja': { hub: 'huggingface', id, quantization: 'Q4_0' },
    'llama-cli --hf-repo o-1/n.2 -p hello': { hub: 'huggingface', id },
    'hf download o-1/n.2 --local-dir x': { hub: 'huggingface', id },
    'huggingface-cli download o-1/n.2 a/x.gguf': { hub: 'huggingface', id, quantization: 'a/x.gguf' },
    'llama-server -hf "o-1/n.2:Q4_0" --jinja': { hub: 'huggingface', id, quantization: 'Q4_0' },
    'llama-cli --hf-repo o-1/n.2 --hf-file a/x.gguf': { hub: 'huggingface', id, quantization: 'a/x.gguf' },
    'llama-cli -hff x.gguf --hf-repo=o-1/n.2:Q8_0': { hub: 'huggingface', id, quantization: 'x.gguf' },
    'hf download o-1/n.2 --include "*Q8_0*" --local-dir x': { hub: 'huggingface', id, quantization: 'Q8_0' },
    "hf download o-1/n.2 --include 'BF16/*'": { hub: 'huggingface', id, quantization: 'BF16' },
    'hf download o-1/n.2 --include=*-Q4_K_M.gguf': { hub: 'huggingface', id, quantization: 'Q4_K_M' },
    'hf download o-1/n.2 --include "*Q?_0*"': undefined,
    'hf download o-1/n.2 x.gguf --revision v1': {
      hub: 'huggingface',
      id,
      revision: 'v1',
      quantization: 'x.gguf',
    },
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
    'x-Q8_0_L.gguf': 'Q8_0_L',
    'x-Q3_K_HIFI.gguf': 'Q3_K_HIFI',
    'x-Q4_0_R8.gguf': 'Q4_0_R8',
    'x-IQ4_NL_4_4.gguf': 'IQ4_NL_4_4',
    'x-IQ4_KSS.gguf': 'IQ4_KSS',
    'x-IQ2_KL.gguf': 'IQ2_KL',
    'x-Q4_0_v2.gguf': 'Q4_0',
    'x-Q4_K_M-output-f16.gguf': 'Q4_K_M',
    'x.q6_k.f16.gguf': 'Q6_K',
    'Q8_0/x-F16.gguf': 'F16',
    'Q8_0/x.gguf': 'Q8_0',
    'x.Q8_0.gguf.part1of2': 'Q8_0',
    'x.Q8_0.gguf-split-a': 'Q8_0',
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

const listed = (...paths: readonly (string | readonly [path: string, size: number])[]) =>
  variantsOf(
    paths.map((one) => {
      const [path, size] = typeof one === 'string' ? [one, 100] : one
      return { path, size, url: path }
    }),
  )

test('the projector is that of the model, by the name', () => {
  // [files, { model: projector }]
  const cases: [readonly string[], Record<string, string | undefined>][] = [
    [
      [
        'gemma-4-E2B-it-Q4_K_M.gguf',
        'gemma-4-E4B-it-Q4_K_M.gguf',
        'mmproj-gemma-4-E2B-it-F16.gguf',
        'mmproj-gemma-4-E4B-it-F16.gguf',
      ],
      {
        'gemma-4-E2B-it-Q4_K_M.gguf': 'mmproj-gemma-4-E2B-it-F16.gguf',
        'gemma-4-E4B-it-Q4_K_M.gguf': 'mmproj-gemma-4-E4B-it-F16.gguf',
      },
    ],
    [
      ['gemma-4-E4B-it-Q4_K_M.gguf', 'mmproj-gemma-4-E2B-it-F16.gguf'],
      { 'gemma-4-E4B-it-Q4_K_M.gguf': undefined },
    ],
    [
      ['Qwen2-VL-7B-Instruct.gguf', 'Qwen2.5-VL-7B-Instruct.gguf', 'mmproj-Qwen2.5-VL-7B-Instruct-f16.gguf'],
      {
        'Qwen2-VL-7B-Instruct.gguf': undefined,
        'Qwen2.5-VL-7B-Instruct.gguf': 'mmproj-Qwen2.5-VL-7B-Instruct-f16.gguf',
      },
    ],
    [
      ['SmolVLM-500M-Q8_0.gguf', 'SmolVLM2-500M-Q8_0.gguf', 'mmproj-SmolVLM2-500M-Q8_0.gguf'],
      { 'SmolVLM-500M-Q8_0.gguf': undefined, 'SmolVLM2-500M-Q8_0.gguf': 'mmproj-SmolVLM2-500M-Q8_0.gguf' },
    ],
    [
      [
        'Qwen3-VL-8B-Thinking-Q4_0.gguf',
        'mmproj-Qwen3-VL-8B-Instruct-F16.gguf',
        'mmproj-Qwen3-VL-8B-Thinking-BF16.gguf',
      ],
      { 'Qwen3-VL-8B-Thinking-Q4_0.gguf': 'mmproj-Qwen3-VL-8B-Thinking-BF16.gguf' },
    ],
    [['llama-3-8b-Q4_0.gguf', 'mmproj-qwen2-vl-7b-f16.gguf'], { 'llama-3-8b-Q4_0.gguf': undefined }],
    [
      ['llama-3-8b-Q4_0.gguf', 'pixtral-Q4_0.gguf', 'pixtral.mmproj-f16.gguf'],
      { 'llama-3-8b-Q4_0.gguf': undefined },
    ],
    // Names that say nothing, and fine-tuned models.
    [
      ['llava-v1.6-7b.Q4_K_M.gguf', 'mmproj-model-f16.gguf'],
      { 'llava-v1.6-7b.Q4_K_M.gguf': 'mmproj-model-f16.gguf' },
    ],
    [
      ['Llama-3.2-1B-Instruct-Q4_K_M.gguf', 'mmproj-ultravox-v0_5-llama-3_2-1b-f16.gguf'],
      { 'Llama-3.2-1B-Instruct-Q4_K_M.gguf': 'mmproj-ultravox-v0_5-llama-3_2-1b-f16.gguf' },
    ],
    [
      ['gemma-3-4b-it-tuned.i1-Q4_K_M.gguf', 'mmproj/mmproj-gemma-3-4b-it-f16.gguf'],
      { 'gemma-3-4b-it-tuned.i1-Q4_K_M.gguf': 'mmproj/mmproj-gemma-3-4b-it-f16.gguf' },
    ],
  ]
  for (const [files, projectors] of cases)
    for (const [model, wanted] of Object.entries(projectors))
      assert.equal(pickProjector(listed(...files), model)?.files[0]!.path, wanted, model)
})

test('the projector of a local model is the one in its folder with its name', async () => {
  const { localProjector } = (await import(
    pathToFileURL(packedFile('wasm/dist/sources/node-projector.js')).href
  )) as { localProjector(model: unknown, projector: 'auto'): Promise<{ name: string } | undefined> }
  const { NodeFileSource } = (await import(
    pathToFileURL(packedFile('wasm/dist/sources/node-file.js')).href
  )) as { NodeFileSource: new (path: string) => unknown }
  const place = mkdtempSync(join(folder, 'local-'))
  const names = ['g-E2B-Q4_0', 'g-E4B-Q4_0', 'g-12B-Q4_0', 'mmproj-g-E2B-F16', 'mmproj-g-E4B-F16']
  for (const name of names) writeFileSync(join(place, `${name}.gguf`), whole)
  const found = async (model: string) =>
    (await localProjector(new NodeFileSource(join(place, `${model}.gguf`)), 'auto'))?.name
  assert.equal(await found('g-E2B-Q4_0'), 'mmproj-g-E2B-F16.gguf')
  assert.equal(await found('g-E4B-Q4_0'), 'mmproj-g-E4B-F16.gguf')
  assert.equal(await found('g-12B-Q4_0'), undefined)
})

test('companions of a model are kinds of their own, whole models are models', () => {
  const cases: Record<string, string> = {
    'mtp-g.gguf': 'draft',
    'MTP/g-Q8_0.gguf': 'draft',
    'g-Q8_0-MTP.gguf': 'draft',
    'mtp-g-mtp-kl-Q8_0.gguf': 'draft',
    'g-mtp-head-Q8_0.gguf': 'draft',
    'g-eagle3-Q8_0.gguf': 'draft',
    'EAGLE3-g-BF16.gguf': 'draft',
    'eagle/g.gguf': 'draft',
    'dflash-g-Q8_0.gguf': 'draft',
    'dspark-g.gguf': 'draft',
    'g-0.5b-draft-Q8_0.gguf': 'draft',
    'draft-g-Q4_0.gguf': 'draft',
    'draft_models/g-Q8_0.gguf': 'draft',
    'g-it-assistant.Q8_0.gguf': 'draft',
    'g-speculator.eagle3-Q8_0.gguf': 'draft',
    't5xxl_fp16.gguf': 'component',
    't5-v1_1-xxl-encoder-Q8_0.gguf': 'component',
    'umt5-xxl-encoder-Q5_K_M.gguf': 'component',
    'clip_l.gguf': 'component',
    'text_encoder_2/x-Q8_0.gguf': 'component',
    'text_encoders/qwen3-Q8_0.gguf': 'component',
    'vae/x.gguf': 'component',
    'WavTokenizer-Large-75-F16.gguf': 'component',
    'x-vision-encoder-f16.gguf': 'projector',
    'mmproj-mtp-g.gguf': 'projector',
    'loras/x.gguf': 'adapter',
    'imatrix-g-BF16.gguf': 'imatrix',
    'g.imatrix.gguf': 'imatrix',
    'g-lora-F16.gguf': 'adapter',
    'control-vector-g-Q8_0.gguf': 'adapter',
    'g-imatrix-Q4_K_M.gguf': 'model',
    'g-Q4_K_M-imatrix.gguf': 'model',
    'g-lora-merged-Q4_K_M.gguf': 'model',
    'g-MTP-Q8_0.gguf': 'model',
    'ornith-9b-mtp-kl-Q8_0.gguf': 'model',
    'g-DFlash-ROCmFP4.gguf': 'model',
    'RWKV-5-Eagle-7B-Q8_0.gguf': 'model',
    'draftsman-7b-Q8_0.gguf': 'model',
    'Home-Assistant-3B-Q4_0.gguf': 'model',
    'flan-t5-small-Q8_0.gguf': 'model',
    'text-model-Q8_0.gguf': 'model',
    'cross-encoder-Q8_0.gguf': 'model',
  }
  for (const [path, kind] of Object.entries(cases)) assert.equal(listed(path)[0]!.kind, kind, path)
  // These show only beside others: a head by its size, a text encoder by the names.
  const kindsOf = (variants: ReturnType<typeof listed>) =>
    Object.fromEntries(variants.map(({ files, kind }) => [files[0]!.path, kind]))
  assert.deepEqual(
    kindsOf(listed(['s-Q4_K_M.gguf', 4000], ['s-mtp-BF16.gguf', 900], ['s-MTP-Q4_K_M.gguf', 4300])),
    {
      's-Q4_K_M.gguf': 'model',
      's-MTP-Q4_K_M.gguf': 'model',
      's-mtp-BF16.gguf': 'draft',
    },
  )
  const small: Record<string, string> = {
    'm-eagle2-Q8_0.gguf': 'draft',
    'm-spec-Q8_0.gguf': 'draft',
    'm-hydra-Q8_0.gguf': 'draft',
    'm-vision-Q8_0.gguf': 'projector',
    'visual_model-Q8_0.gguf': 'projector',
    'ggml-vocab-m-Q8_0.gguf': 'component',
    'm-codec-Q8_0.gguf': 'component',
    // A smaller model by its name, or one of the same size.
    'm-vision-2b-Q8_0.gguf': 'model',
    'm-reranker-Q8_0.gguf': 'model',
  }
  for (const [name, kind] of Object.entries(small))
    assert.equal(kindsOf(listed(['m-8b-Q4_K_M.gguf', 4000], [name, 300]))[name], kind, name)
  assert.equal(
    kindsOf(listed(['m-Q4_K_M.gguf', 4000], ['m-vision-Q8_0.gguf', 7000]))['m-vision-Q8_0.gguf'],
    'model',
  )
  assert.deepEqual(kindsOf(listed('flux-2-klein-4b-Q4_0.gguf', 'Qwen3-4B-Q8_0.gguf')), {
    'flux-2-klein-4b-Q4_0.gguf': 'model',
    'Qwen3-4B-Q8_0.gguf': 'component',
  })
})

test('what a name means is opened, or nothing', () => {
  const drafter = ['g-Q4_K_M.gguf', 'g-Q8_0.gguf', 'mtp-g.gguf', 'MTP/mtp-g-Q8_0.gguf']
  const ends = ['S-APEX-Balanced.gguf', 'S-APEX-Compact.gguf', 'S-APEX-I-Compact.gguf']
  const twice = ['X-F16.gguf', 'X-F16-00001-of-00002.gguf', 'X-F16-00002-of-00002.gguf']
  const flux = ['flux1-dev-Q4_0.gguf', 't5-v1_1-xxl-encoder-Q8_0.gguf']
  // [files, name, the path that opens]
  const cases: [readonly string[], string | undefined, string | undefined][] = [
    [drafter, 'Q8_0', 'g-Q8_0.gguf'],
    [drafter, undefined, 'g-Q4_K_M.gguf'],
    [drafter, 'mtp-g', 'mtp-g.gguf'],
    [drafter, 'MTP/mtp-g-Q8_0', 'MTP/mtp-g-Q8_0.gguf'],
    [drafter, 'mtp-g-q8_0.GGUF', 'MTP/mtp-g-Q8_0.gguf'],
    [['g-Q4_K_M.gguf', 'MTP/g-Q8_0.gguf'], 'Q8_0', undefined],
    [flux, 'Q8_0', undefined],
    [flux, 't5-v1_1-xxl-encoder-q8_0', 't5-v1_1-xxl-encoder-Q8_0.gguf'],
    // A repository of companions.
    [
      ['t5-v1_1-xxl-encoder-Q8_0.gguf', 't5-v1_1-xxl-encoder-Q4_0.gguf'],
      'Q8_0',
      't5-v1_1-xxl-encoder-Q8_0.gguf',
    ],
    [['a-eagle3-Q8_0.gguf'], undefined, 'a-eagle3-Q8_0.gguf'],
    [ends, 'I-Compact', 'S-APEX-I-Compact.gguf'],
    [ends, 'i-compact', 'S-APEX-I-Compact.gguf'],
    [ends, 'Compact', 'S-APEX-Compact.gguf'],
    [ends, 'APEX-Balanced', 'S-APEX-Balanced.gguf'],
    [ends, 'S-APEX', undefined],
    [['x.fp16.gguf'], 'FP16', 'x.fp16.gguf'],
    [['x-FP16.gguf'], 'f16', 'x-FP16.gguf'],
    [['x-F16.gguf'], 'fp16', 'x-F16.gguf'],
    [['x-F16.gguf', 'mmproj-x-F32.gguf'], 'F32', undefined],
    [twice, 'f16', 'X-F16.gguf'],
    [['m-1M-Q6_K.gguf', 'm-1M-MTP-Q6_K.gguf'], 'Q6_K', 'm-1M-Q6_K.gguf'],
    [['7b/x-Q4_0.gguf', '13b/x-Q4_0.gguf'], 'Q4_0', undefined],
    [['7b/x-Q4_0.gguf', '13b/x-Q4_0.gguf'], '7b/x-Q4_0', '7b/x-Q4_0.gguf'],
    [['x-UD-Q4_K_M.gguf', 'x-Q4_K_M.gguf'], 'q4_k_m', 'x-Q4_K_M.gguf'],
    // A part of a quantization's name, and other quantizations that begin with it, are not meant.
    [['x-Q5_K_M.gguf', 'x-Q3_K_M.gguf'], 'K_M', undefined],
    [['x-Q5_K_M.gguf'], 'M', undefined],
    [['x-Q8_0.gguf'], '0', undefined],
    [['x-Q8_0_L.gguf', 'x-Q4_K_M.gguf'], 'Q8_0', undefined],
    [['x-Q8_0_L.gguf', 'x-Q8_0.gguf'], 'Q8_0', 'x-Q8_0.gguf'],
    [['x-Q3_K_HIFI.gguf'], 'Q3_K', undefined],
    [['x-Q4_0_R8.gguf'], 'q4_0_r8', 'x-Q4_0_R8.gguf'],
    [['x-IQ4_NL_4_4.gguf'], 'IQ4_NL', undefined],
    [['x-Q4_K_M-f16-embed.gguf'], 'F16', undefined],
    [['x.q6_k.f16.gguf'], 'f16', undefined],
    [['x.q6_k.f16.gguf'], 'q6_k', 'x.q6_k.f16.gguf'],
    [['x-q4_k_m.gguf', 'X-Q4_K_M.gguf'], 'Q4_K_M', undefined],
    [['m-Q4_K_M-imatrix.gguf', 'imatrix.gguf'], undefined, 'm-Q4_K_M-imatrix.gguf'],
    [['x.Q8_0.gguf.part2of2', 'x.Q8_0.gguf.part1of2'], 'q8_0', 'x.Q8_0.gguf.part1of2'],
    [['x.Q8_0.gguf.part1of2', 'x.Q4_0.gguf'], 'q8_0', undefined],
    [['x.Q8_0.gguf-split-b', 'x.Q8_0.gguf-split-a'], undefined, 'x.Q8_0.gguf-split-a'],
    [['x-UD-Q4_K_M.gguf', 'x-Q4_K_M.gguf'], 'ud-q4_k_m', 'x-UD-Q4_K_M.gguf'],
  ]
  for (const [files, name, wanted] of cases)
    assert.equal(pickVariant(listed(...files), name)?.files[0]!.path, wanted, `${files.join(' ')}: ${name}`)
  // Every name of a list opens its own.
  const lists = [
    drafter,
    ends,
    twice,
    flux,
    [...twice, 'X-F16-00001-of-00003.gguf', 'X-F16-00002-of-00003.gguf', 'X-F16-00003-of-00003.gguf'],
    ['a-Q4_0.gguf', 'A-q4_0.gguf', 'mmproj-Q4_0.gguf', 'b/a-Q4_0.gguf', 'with space-Q4_0.gguf'],
    ['x-F16.gguf', 'mmproj-x-F16.gguf', 'x.imatrix.gguf', 'x-lora-F16.gguf'],
    ['x.Q8_0.gguf', 'x.Q8_0.gguf.part1of2', 'x.Q8_0.gguf.part2of2', 'x.Q8_0.gguf-split-a', 'x-Q8_0_L.gguf'],
  ]
  for (const files of lists) {
    const variants = listed(...files)
    assert.equal(new Set(variants.map(({ name }) => name)).size, variants.length, files.join(' '))
    for (const one of variants) assert.equal(pickVariant(variants, one.name), one, one.name)
  }
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
    ['mmproj-small-f16', 'projector', 1, 0],
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
  await assert.rejects(findVariant('someone/small-GGUF:BF16', { server }), {
    code: 'not-found',
    message: /BF16 .*is not whole: 1 of its 2 files is missing/,
  })
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

test("the files of a release are read, and Ollama's model by its manifest", async () => {
  const latest = await listRepository('https://github.com/someone/small-GGUF/releases', { server: hub.url })
  assert.equal(latest.revision, 'latest')
  assert.match(latest.page, /\/someone\/small-GGUF\/releases\/latest$/)
  assert.match(latest.files[0]!.sha256!, /^[0-9a-f]{64}$/)
  const { files } = await findVariant('github:someone/small-GGUF@v1:Q4_K_M', { server: hub.url })
  assert.match(files[0]!.url, /\/someone\/small-GGUF\/releases\/download\/v1\/small-Q4_K_M\.gguf$/)
  await using_(await open(files[0]!.url), (file) =>
    assert.equal(file.tensors.length, smallModel().tensors!.length),
  )
  await assert.rejects(listRepository('github:someone/nothing', { server: hub.url }), {
    code: 'no-such-file',
  })
  const run = await findVariant('ollama run tiny', { server: hub.url })
  assert.match(run.files[0]!.url, /\/v2\/library\/tiny\/blobs\/sha256:/)
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

test('listings that are made to hurt are read, refused in words, or left out', async () => {
  const says = (body: unknown, headers: Record<string, string> = {}): typeof fetch =>
    (async () =>
      new Response(typeof body === 'string' ? body : JSON.stringify(body), { headers })) as typeof fetch
  const file = (path: unknown, size: unknown = 5) => ({ type: 'file', path, size })
  const listing = [
    file('a-Q8_0.gguf'),
    file('a-Q8_0.gguf', 7), // listed twice
    file('b-Q4_K_M.gguf', -5),
    file('\ud800.gguf'), // no text
    file('../../other/name/c-Q4_0.gguf'),
    file('./d-Q5_0.gguf'),
    file('//host/e-Q5_1.gguf'),
    file({ toString: 1 }),
    file('__proto__/f-Q6_K.gguf', { valueOf: 1 }),
    null,
    7,
    [[]],
  ]
  const link = { link: '<//[bad>; rel="next"' }
  const { files, variants } = await listRepository('someone/small', { fetch: says(listing, link) })
  assert.deepEqual(
    files.map(({ path, size }) => [path, size]),
    [
      ['a-Q8_0.gguf', 5],
      ['b-Q4_K_M.gguf', 0],
      ['__proto__/f-Q6_K.gguf', 0],
    ],
  )
  assert.equal(new Set(variants.map(({ name }) => name)).size, variants.length)
  const models = [{ id: 'a/b', downloads: -1 }, { id: 'a/b' }, { id: '\udfff/x' }, { id: {} }, null]
  const found = await searchModels('x', { fetch: says(models) })
  assert.deepEqual(
    found.map(({ id, downloads }) => [id, downloads]),
    [['a/b', undefined]],
  )
  const layer = (digest: unknown) => ({ mediaType: 'application/vnd.ollama.image.model', digest, size: 3 })
  const layers = { layers: [layer('../../x'), layer('sha256:0a'), layer(5)] }
  const ollama = await listRepository('ollama:tiny', { fetch: says(layers) })
  assert.deepEqual(
    ollama.files.map(({ url }) => url.split('/').at(-1)),
    ['sha256:0a'],
  )
  for (const body of ['[[[', '{}', 'null', '"x"', `${'['.repeat(200_000)}`, '{"__proto__": []}'])
    await assert.rejects(
      listRepository('someone/small', { fetch: says(body) }),
      { name: 'GgufError' },
      body.slice(0, 9),
    )
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
    kPages,
    {
      id: 'someone/names-GGUF',
      files: {
        'a/x y-Q4_0.gguf': whole,
        'b/x y-Q4_0.gguf': whole,
        'mmproj-x-F16.gguf': whole,
        'MTP/x y-Q8_0-MTP.gguf': whole,
      },
    },
  ])
})

test('a page opens the file, the folder and the revision that it shows', async () => {
  const server = hub.url
  const open = async (address: string) =>
    (await findVariant(address, { server })).files[0]!.url.slice(server.length)
  const page = 'https://huggingface.co/someone/pages-GGUF'
  const base = '/someone/pages-GGUF/resolve'
  assert.equal(await open(`${page}?show_file_info=n-UD-Q3_K_XL.gguf`), `${base}/main/n-UD-Q3_K_XL.gguf`)
  assert.equal(await open(`${page}/tree/main/BF16`), `${base}/main/BF16/n-BF16-00001-of-00002.gguf`)
  assert.equal(
    await open(`${page}/tree/refs%2Fpr%2F1?show_file_info=BF16%2Fn-BF16-00002-of-00002.gguf`),
    `${base}/refs%2Fpr%2F1/BF16/n-BF16-00001-of-00002.gguf`,
  )
  assert.equal(await open('hf:someone/pages-GGUF@refs/pr/1:q4_k_m'), `${base}/refs%2Fpr%2F1/n-Q4_K_M.gguf`)
  await assert.rejects(open(`${page}?show_file_info=model.safetensors`), {
    code: 'not-found',
    message: /no file model.safetensors. It has: .*UD-Q3_K_XL/,
  })
  await assert.rejects(open(`${page}/tree/main/Q9`), { code: 'not-found', message: /folder Q9/ })
  await assert.rejects(open(`${page}/tree/main/BF16:Q8_0`), { code: 'not-found' })
})

test('pages of a hub are changed to the addresses of their files', async () => {
  const hf = 'https://huggingface.co/o/n'
  const cases: Record<string, string> = {
    [`${hf}?show_file_info=a%2Fx.gguf`]: `${hf}/resolve/main/a/x.gguf`,
    [`${hf}/tree/refs%2Fpr%2F1?show_file_info=x.gguf`]: `${hf}/resolve/refs%2Fpr%2F1/x.gguf`,
    [`${hf}/blob/refs/pr/1/x.gguf`]: `${hf}/resolve/refs%2Fpr%2F1/x.gguf`,
    [`${hf}/blob/refs%2Fpr%2F1/x.gguf`]: `${hf}/resolve/refs%2Fpr%2F1/x.gguf`,
    [`${hf}/resolve/refs/pr/1/a/x.gguf`]: `${hf}/resolve/refs%2Fpr%2F1/a/x.gguf`,
    [`${hf}/raw/main/x.gguf`]: `${hf}/resolve/main/x.gguf`,
    [`${hf}/tree/main/a/x.gguf`]: `${hf}/resolve/main/a/x.gguf`,
    'hf:o/n@refs/pr/1/a/x.gguf': `${hf}/resolve/refs%2Fpr%2F1/a/x.gguf`,
    'hf.co/o/n/blob/main/x.gguf': 'https://hf.co/o/n/resolve/main/x.gguf',
    'huggingface.co/o/n/resolve/main/x.gguf': `${hf}/resolve/main/x.gguf`,
    'github.com/o/n/releases/download/v1/x.gguf': 'https://github.com/o/n/releases/download/v1/x.gguf',
    [`${hf}?show_file_info=x`]: `${hf}/resolve/main/x`,
    'hf:o/n@refs%2Fpr%2F1/x.gguf': `${hf}/resolve/refs%2Fpr%2F1/x.gguf`,
    'https://modelscope.cn/models/o/n/file/view/master?fileName=a%252Fx.gguf&status=1':
      'https://modelscope.cn/models/o/n/resolve/master/a/x.gguf',
  }
  for (const [page, wanted] of Object.entries(cases)) {
    const asked: string[] = []
    const fetch = (url: string | URL | Request) => {
      asked.push(String(url))
      return Promise.reject(Object.assign(new Error('stop'), { cause: { code: 'ENOTFOUND' } }))
    }
    await assert.rejects(open(page, { fetch: fetch as typeof globalThis.fetch, retries: 0 }))
    assert.equal(asked[0], wanted, page)
  }
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
  // Every name of a list can be opened, and so can the hint's.
  const names = await run(['files', 'someone/names-GGUF'])
  const variants = (
    JSON.parse((await run(['files', 'someone/names-GGUF', '--json'])).out) as { variants: { name: string }[] }
  ).variants
  for (const { name } of variants) {
    const opened = await run(['info', `someone/names-GGUF:${name}`, '--json'])
    assert.equal(opened.status, 0, opened.err)
    assert.equal((JSON.parse(opened.out) as { name: string }).name, `${name.split('/').at(-1)}.gguf`)
  }
  assert.match(names.out, /open one with its name: 'someone\/names-GGUF:a\/x y-Q4_0'/)
  assert.match(
    (await run(['files', 'hf:someone/pages-GGUF@refs/pr/1'])).out,
    /name: someone\/pages-GGUF@refs%2Fpr%2F1:Q4_K_M/,
  )
  assert.match(
    (await run(['info', 'someone/names-GGUF:Q4_0'])).err,
    /may be any of: a\/x y-Q4_0, b\/x y-Q4_0/,
  )
  const shown = await run([
    'info',
    'https://huggingface.co/someone/pages-GGUF?show_file_info=n-UD-Q3_K_XL.gguf',
    '--json',
  ])
  assert.equal((JSON.parse(shown.out) as { name: string }).name, 'n-UD-Q3_K_XL.gguf')
  // A file by its path, with the token.
  for (const word of [
    'hf:someone/pages-GGUF/n-UD-Q3_K_XL.gguf',
    'hf:someone/pages-GGUF@refs/pr/1/n-UD-Q3_K_XL.gguf',
    'https://huggingface.co/someone/pages-GGUF/blob/main/n-UD-Q3_K_XL.gguf',
    'huggingface.co/someone/pages-GGUF/resolve/main/n-UD-Q3_K_XL.gguf?download=true',
  ]) {
    const before = hub.requests.length
    const named = await run(['info', word, '--json'], { HF_TOKEN: 'hf_token' })
    assert.equal(named.status, 0, named.err)
    assert.equal((JSON.parse(named.out) as { name: string }).name, 'n-UD-Q3_K_XL.gguf')
    const sent = hub.requests.slice(before).map(({ authorization }) => authorization)
    assert.ok(sent.length > 0 && sent.every((one) => one === 'Bearer hf_token'), word)
  }
  // An existing folder is a path, so no server is asked.
  mkdirSync(join(folder, 'someone'))
  const asked = hub.requests.length
  const path = await run(['info', 'someone/small-GGUF'])
  assert.notEqual(path.status, 0)
  assert.match(path.err, /small-GGUF/)
  assert.equal(hub.requests.length, asked)
})
