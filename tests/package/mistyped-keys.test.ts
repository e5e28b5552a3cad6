// Keys that differ by a letter or two from known ones: notes of lint, and the refusal of the command set.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Edit from 'ggufscope/edit'
import { writeHeader } from '../fixtures/gguf.ts'
import { array, text, u32 } from '../fixtures/models.ts'
import { everyNth } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { fixOf, meantKey } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof Edit
const folder = mkdtempSync(join(tmpdir(), 'mistyped-keys-'))
after(() => rmSync(folder, { recursive: true }))

const kCases: readonly (readonly [key: string, meant: string | undefined])[] = [
  ['llama.rope.freq_bas', 'llama.rope.freq_base'],
  ['llama.context_lenght', 'llama.context_length'],
  ['llama.rope_freq_base', 'llama.rope.freq_base'],
  ['llama.ropeFreqBase', 'llama.rope.freq_base'],
  ['llama.attention.head_count_vk', 'llama.attention.head_count_kv'],
  ['lama.block_count', 'llama.block_count'],
  ['general.licence', 'general.license'],
  ['general.nmae', 'general.name'],
  ['generl.name', 'general.name'],
  ['general.base_model.0.licence_url', undefined],
  ['general.base_model.0.organisation', 'general.base_model.0.organization'],
  ['tokenizer.ggml.bos_tokn_id', 'tokenizer.ggml.bos_token_id'],
  ['tokenizer.chat_templat', 'tokenizer.chat_template'],
  ['tokenizer.chat_templat.rag', 'tokenizer.chat_template.rag'],
  ['adapter.lora.alhpa', 'adapter.lora.alpha'],
  ['clip.vision.patchsize', 'clip.vision.patch_size'],
  // Known ones, and names of vendors.
  ['llama.context_length', undefined],
  ['tokenizer.chat_template.rag', undefined],
  ['comfy.gguf.orig_shape.a.b', undefined],
  ['general.sampling.top_a', undefined],
  ['llama.dense_9_feat_out', undefined],
  ['qwen2.context_length', undefined],
  ['llama.attention.head_count_q', undefined],
  ['acme.context_length', undefined],
  ['acme.contxt_length', undefined],
  ['general.hash', undefined],
  ['mradermacher.quantize_version', undefined],
  ['llama.vision.tower', undefined],
]

test('names of keys that are near to known ones', () => {
  for (const [key, meant] of kCases) assert.equal(meantKey(key, 'llama'), meant, key)
  assert.equal(meantKey('qwen2.context_length', 'qwen3'), undefined)
  assert.equal(meantKey('a.b.contxt_length', 'a.b'), 'a.b.context_length')
})

const model = (...keys: readonly string[]): Uint8Array =>
  writeHeader({
    metadata: [
      ['general.architecture', text('llama')],
      ['llama.block_count', u32(1)],
      ...keys.map((key) => [key, text('x')] as const),
    ],
  }).header

test('lint notes each, at its place, and its fix renames the key', async () => {
  using file = await open(model('llama.rope.freq_bas', 'general.licence', 'general.license', 'acme.x'))
  const findings = await file.lintKeys()
  assert.deepEqual(
    findings.map(({ level, code, offset }) => [level, code, offset]),
    ['llama.rope.freq_bas', 'general.licence'].map((key) => [
      'note',
      'mistyped-key',
      file.metadata.offset(key),
    ]),
  )
  assert.match(findings[0]!.message, /llama\.rope\.freq_bas.*: llama\.rope\.freq_base was/)
  assert.match(findings[1]!.message, /license was probably meant, which is there too/)
  const changes = [{ change: 'remove', key: 'general.licence' }]
  assert.deepEqual((await fixOf(file, findings[1]!))?.changes, changes)
  using other = await open(model('general.licence'))
  const rename = [{ change: 'rename', key: 'general.licence', to: 'general.license' }]
  assert.deepEqual((await fixOf(other, (await other.lintKeys())[0]!))?.changes, rename)
  // Without a key before which the architecture's name stands, another rule speaks.
  using renamed = await open(
    writeHeader({
      metadata: [
        ['general.architecture', text('lama')],
        ['llama.block_count', u32(1)],
      ],
    }).header,
  )
  assert.deepEqual(await renamed.lintKeys(), [])
})

const cli = (...args: readonly string[]) =>
  spawnSync(process.execPath, [packedFile('wasm/dist/cli.js'), ...args], { encoding: 'utf8' })

test('set refuses a new key that looks mistyped, unless it is forced', async () => {
  const [path, output] = [join(folder, 'model.gguf'), join(folder, 'output.gguf')]
  writeFileSync(path, model('general.licence', 'acme.x'))
  for (const words of [
    ['llama.context_lenght=128'],
    ['--rename', 'acme.x=general.nmae'],
    ['--file', `tokenizer.chat_templat=${path}.txt`],
  ]) {
    writeFileSync(`${path}.txt`, 'hello')
    const { status, stderr } = cli('set', path, ...words, '--output', output)
    assert.equal(status, 2, stderr)
    assert.match(
      stderr,
      /did you mean (llama\.context_length|general\.name|tokenizer\.chat_template)\?.*--force/,
    )
    assert.ok(!existsSync(output))
  }
  // The key that is there already may be changed.
  assert.equal(cli('set', path, 'general.licence=mit', '--output', output).status, 0)
  assert.equal(cli('set', path, 'llama.context_lenght=128', '--output', output, '--force').status, 0)
  const lint = cli('lint', output)
  assert.match(lint.stdout, /mistyped-key.*llama\.context_length/)
  assert.equal(lint.status, 0)
})

test('models of every architecture have no such finding', { skip: skipWithout(kShared) }, async () => {
  const roots = [kShared, join(kShared, '..', 'vectors')]
  const paths = roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.gguf') && !/malformed|hostile|field/.test(name))
      .map((name) => join(root, name)),
  )
  assert.ok(paths.length > 200)
  let opened = 0
  for (const path of everyNth(paths, 3)) {
    const file = await open(path).catch(() => undefined)
    if (!file) continue
    opened++
    using one = file
    const findings = await one.lintKeys()
    assert.deepEqual(findings, [], path)
  }
  assert.ok(opened > 50)
})

test('a SentencePiece vocabulary needs a token for each byte, as llama.cpp does', async () => {
  const hex = (byte: number, upper = true): string => {
    const digits = byte.toString(16).padStart(2, '0')
    return `<0x${upper ? digits.toUpperCase() : digits}>`
  }
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const all = ['<unk>', '<s>', '</s>', '\u2581a', 'b']
  const cases: [model: string, tokens: string[], lacking: string | undefined][] = [
    ['llama', [...all, ...bytes.map((byte) => hex(byte))], undefined],
    ['llama', all, '240 of 241), <0x01> first'],
    [
      'llama',
      [...all, ...bytes.filter((byte) => byte !== 0xc3).map((byte) => hex(byte))],
      '1 of 241), <0xC3> first',
    ],
    // llama.cpp looks for capital letters; a byte of ASCII may be a token itself.
    ['llama', [...all, ...bytes.map((byte) => hex(byte, byte !== 0xab))], '1 of 241), <0xAB> first'],
    ['llama', [...all, '\n', ...bytes.filter((byte) => byte !== 10).map((byte) => hex(byte))], undefined],
    ['gpt2', all, undefined],
    ['t5', all, undefined],
  ]
  for (const [model, tokens, lacking] of cases) {
    using file = await open(
      writeHeader({
        metadata: [
          ['general.architecture', text('llama')],
          ['tokenizer.ggml.model', text(model)],
          ['tokenizer.ggml.tokens', array('string', tokens)],
        ],
      }).header,
    )
    const [found, ...more] = await file.lintKeys()
    assert.deepEqual(more, [])
    assert.equal(found?.code, lacking === undefined ? undefined : 'byte-tokens-missing')
    if (lacking !== undefined)
      assert.ok(found?.level === 'error' && found.message.includes(lacking), found?.message)
  }
})
