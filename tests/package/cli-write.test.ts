// The commands that write: set, split, merge, convert, quantize; and lint --strict.
import assert from 'node:assert/strict'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { LazyArray, MetadataValue } from 'ggufscope'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { array, floatBytes, smallModel, text, u32 } from '../fixtures/models.ts'
import { readPlain } from '../fixtures/reader.ts'
import { startServer } from '../server/server.ts'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'

const { open } = await loadNodePackage()
const folder = mkdtempSync(join(tmpdir(), 'cli-write-'))
const server = await startServer()
server.mount('/', folder)
after(async () => {
  rmSync(folder, { recursive: true })
  await server.close()
})
const at = (name: string) => join(folder, name)

const run = (...args: string[]) => runCli(args, { cwd: folder })
/** Runs a command with --json and returns the parsed output. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { status, out, err } = await run(...args, '--json')
  assert.equal(status, 0, err)
  return JSON.parse(out) as Record<string, unknown>
}
async function fails(status: number, message: RegExp, ...args: string[]): Promise<void> {
  const result = await run(...args)
  assert.equal(result.status, status, `${args.join(' ')}: ${result.err}`)
  assert.match(result.err, message)
  assert.doesNotMatch(result.err, /\n\s+at /)
}

const model = smallModel()
const bytes = writeGguf(model)
writeFileSync(at('small.gguf'), bytes)
const made = (value: MetadataValue | undefined) =>
  typeof value === 'object' ? [...(value as LazyArray)] : value

test('set: keys of every kind, renamed, removed', async () => {
  writeFileSync(at('template.jinja'), '{{ messages }}\n')
  const words = [
    ['general.name=A new = name', 'general.name', 'A new = name', 'string'],
    ['llama.block_count=7', 'llama.block_count', 7, 'u32'],
    ['llama.scale:f64=0.25', 'llama.scale', 0.25, 'f64'],
    ['new.flag=true', 'new.flag', true, 'bool'],
    ['new.word=true story', 'new.word', 'true story', 'string'],
    ['new.text:string=5', 'new.text', '5', 'string'],
    ['new.big:u64=18446744073709551615', 'new.big', 18446744073709551615n, 'u64'],
    ['new.list=[1,2]', 'new.list', [1, 2], 'array'],
    ['new.words=["a","b"]', 'new.words', ['a', 'b'], 'array'],
    ['new.bytes:u8[]=[1,255]', 'new.bytes', [1, 255], 'array'],
    ['new.large:i64[]=[9007199254740993]', 'new.large', [9007199254740993n], 'array'],
    ['test.i32.array=[5]', 'test.i32.array', [5], 'array'],
    ['new.infinite:f32=-inf', 'new.infinite', -Infinity, 'f32'],
  ] as const
  const result = await json(
    ...['set', 'small.gguf', '-o', 'set.gguf', '--file', 'tokenizer.chat_template=template.jinja'],
    ...['--rename', 'test.u8.0=test.renamed', '--remove', 'test.u8.1'],
    ...['--rename-tensor', 'output_norm.weight=norm', '--remove-tensor', 'token_embd.weight'],
    ...words.map(([word]) => word),
  )
  assert.equal(result['output'], 'set.gguf')
  using file = await open(at('set.gguf'))
  assert.equal(file.size, result['size'])
  for (const [word, key, value, type] of words) {
    assert.deepEqual(made(file.metadata.get(key)), value, word)
    assert.equal(file.metadata.type(key), type, word)
  }
  assert.equal((file.metadata.get('new.bytes') as LazyArray).type, 'u8')
  assert.equal(file.metadata.get('tokenizer.chat_template'), '{{ messages }}\n')
  assert.equal(file.metadata.get('test.renamed'), 0)
  assert.equal(file.metadata.has('test.u8.1'), false)
  assert.equal(file.tensor('token_embd.weight'), undefined)
  const norm = model.tensors!.find(({ name }) => name === 'output_norm.weight')!
  assert.deepEqual(await file.read('norm'), norm.data)
})

test('set --in-place replaces the file when all is written, and keeps its permissions', async () => {
  copyFileSync(at('small.gguf'), at('place.gguf'))
  chmodSync(at('place.gguf'), 0o640)
  symlinkSync(at('place.gguf'), at('link.gguf'))
  const { status, out, err } = await run('set', 'link.gguf', 'general.name=here', '--in-place')
  assert.equal(status, 0, err)
  assert.match(out, /place\.gguf: /)
  using file = await open(at('place.gguf'))
  assert.equal(file.metadata.get('general.name'), 'here')
  assert.equal(statSync(at('place.gguf')).mode & 0o777, 0o640)
  assert.equal(readFileSync(at('link.gguf')).length, readFileSync(at('place.gguf')).length)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  )
})

test('set reads from an address, and removing the key again restores the file byte for byte', async () => {
  const { err, status } = await run(
    'set',
    `${server.url}/small.gguf`,
    'general.name=small',
    '-o',
    'fetched.gguf',
  )
  assert.equal(status, 0, err)
  assert.deepEqual(new Uint8Array(readFileSync(at('fetched.gguf'))), bytes)
})

test('split and merge', async () => {
  const parts = (await json('split', 'small.gguf', '--max-tensors', '2')) as unknown as { output: string }[]
  assert.deepEqual(
    parts.map(({ output }) => output),
    [1, 2, 3].map((i) => `small-0000${i}-of-00003.gguf`),
  )
  await json('merge', 'small-00002-of-00003.gguf', '-o', 'merged.gguf')
  const one = await run('split', 'small.gguf', '-o', 'whole')
  assert.match(one.err, /there is one file/)
  const same = await run('set', 'small.gguf', '-o', 'same.gguf')
  assert.match(same.err, /changes nothing/)
  const copied = await run('merge', 'small.gguf', '-o', 'copied.gguf')
  assert.match(copied.err, /small\.gguf is no part of a split model: the output is a copy/)
  assert.deepEqual(new Uint8Array(readFileSync(at('merged.gguf'))), bytes)
  // A single file of a set can be edited.
  const { status } = await run('set', 'small-00001-of-00003.gguf', 'general.name=first', '--in-place')
  assert.equal(status, 0)
  using file = await open(at('small-00003-of-00003.gguf'))
  assert.equal(file.metadata.get('general.name'), 'first')
  assert.deepEqual([file.shards.length, file.tensors.length], [3, model.tensors!.length])
  const few = (await json(
    'split',
    'small.gguf',
    '--max-size',
    '0.4K',
    '-o',
    'few.gguf',
  )) as unknown as unknown[]
  assert.ok(few.length > 1 && existsSync(at(`few-00001-of-0000${few.length}.gguf`)))
  await fails(1, /there already/, 'split', 'small.gguf', '--max-tensors', '2')
  assert.equal((await run('split', 'small.gguf', '--max-tensors', '2', '--force')).status, 0)
})

test('convert: byte order, version, .npy, .safetensors', async () => {
  const tensor = 'output_norm.weight'
  await json('convert', 'small.gguf', '-o', 'big.gguf', '--endian', 'big')
  await json('convert', 'big.gguf', '-o', 'two.gguf', '--endian', 'little', '--version', '2')
  assert.equal(readPlain(readFileSync(at('big.gguf'))).bigEndian, true)
  assert.equal(readPlain(readFileSync(at('two.gguf'))).version, 2)
  await json('convert', 'two.gguf', '-o', 'three.gguf', '--version', '3')
  assert.deepEqual(new Uint8Array(readFileSync(at('three.gguf'))), bytes)
  for (const [isCopy, ...call] of [
    [true, 'small.gguf'],
    [true, 'small.gguf', '--endian', 'little', '--version', '3'],
    [true, 'two.gguf'],
    [false, 'two.gguf', '--version', '3'],
    [false, 'small.gguf', '--endian', 'big'],
  ] as const) {
    const { status, err } = await run('convert', ...call, '-o', 'same.gguf', '--force')
    assert.equal(status, 0)
    assert.equal(err.includes('the output is a copy'), isCopy, call.join(' '))
  }
  await json('convert', 'small.gguf', tensor, '-o', 'norm.npy')
  assert.equal(readFileSync(at('norm.npy')).subarray(1, 6).toString(), 'NUMPY')
  const { format } = await json('convert', 'small.gguf', '-o', 'all.safetensors')
  assert.equal(format, 'safetensors')
  const all = readFileSync(at('all.safetensors'))
  assert.equal(
    Object.keys(JSON.parse(all.subarray(8, 8 + all.readUInt32LE(0)).toString()) as object).length,
    1 + model.tensors!.length,
  )
  await json('convert', 'small.gguf', tensor, '-o', 'one.bin', '--format', 'safetensors')
  assert.ok(statSync(at('one.bin')).size < all.length)
})

test('quantize', async () => {
  const tensors = ['token_embd', 'blk.0.attn_q', 'blk.0.attn_v'].map((name, i) => {
    return { name: `${name}.weight`, shape: [256, 4], type: 'F32', data: floatBytes(1024, i) }
  })
  writeFileSync(
    at('wide.gguf'),
    writeGguf({
      metadata: [
        ['general.architecture', text('llama')],
        ['llama.block_count', u32(8)],
      ],
      tensors,
    }),
  )
  const types = async (...args: string[]) => {
    const { tensors } = await json('quantize', 'wide.gguf', ...args, '-o', 'narrow.gguf', '--force')
    using file = await open(at('narrow.gguf'))
    const listed = (tensors as { type: string }[]).map(({ type }) => type)
    assert.deepEqual(
      file.tensors.map(({ type }) => type),
      listed,
    )
    return listed
  }
  assert.deepEqual(await types('q4_k_m'), ['Q6_K', 'Q4_K', 'Q6_K'])
  assert.deepEqual(await types('Q4_K_M', '--pure'), ['Q4_K', 'Q4_K', 'Q4_K'])
  assert.deepEqual(await types('Q8_0', '--tensor-type', 'attn_v=F16', '--tensor-type', 'token*=Q5_0'), [
    'Q5_0',
    'Q8_0',
    'F16',
  ])
  const importance = [['token_embd', 'blk.0.attn_q', 'blk.0.attn_v'].map((name) => `${name}.weight`)].flat()
  writeFileSync(
    at('imatrix.gguf'),
    writeGguf({
      metadata: [
        ['general.type', text('imatrix')],
        ['imatrix.datasets', array('string', ['x'])],
      ],
      tensors: importance.flatMap((name) => [
        {
          name: `${name}.in_sum2`,
          shape: [256],
          type: 'F32',
          data: new Uint8Array(new Float32Array(256).fill(2).buffer),
        },
        {
          name: `${name}.counts`,
          shape: [1, 1],
          type: 'F32',
          data: new Uint8Array(Float32Array.of(2).buffer),
        },
      ]),
    }),
  )
  await fails(1, /imatrix/, 'quantize', 'wide.gguf', 'IQ2_XS', '-o', 'none.gguf')
  const entries = importance.map((name) => {
    const [size, counts] = [Int32Array.of(name.length), Int32Array.of(1, 256)]
    const values = new Float32Array(256).fill(1)
    return Buffer.concat(
      [size, Buffer.from(name), counts, values].map((part) =>
        Buffer.from(part.buffer, part.byteOffset, part.byteLength),
      ),
    )
  })
  writeFileSync(
    at('imatrix.dat'),
    Buffer.concat([Buffer.from(Int32Array.of(entries.length).buffer), ...entries]),
  )
  assert.deepEqual(await types('IQ2_XS', '--imatrix', 'imatrix.dat', '--pure'), [
    'IQ2_XS',
    'IQ2_XS',
    'IQ2_XS',
  ])
  const data = () => readFileSync(at('narrow.gguf')).subarray(-3 * 4 * 74)
  const older = data()
  assert.deepEqual(await types('IQ2_XS', '--imatrix', 'imatrix.gguf', '--pure'), [
    'IQ2_XS',
    'IQ2_XS',
    'IQ2_XS',
  ])
  assert.deepEqual(data(), older)
})

test('refused calls write nothing', async () => {
  const before = readdirSync(folder)
  const wrong: [status: number, message: RegExp, ...args: string[]][] = [
    [2, /which file/, 'set'],
    [2, /an output is needed/, 'set', 'small.gguf', 'a=b'],
    [2, /small\.gguf is a file that is read/, 'set', 'small.gguf', 'a=b', '-o', './small.gguf', '--force'],
    [1, /there already/, 'set', 'small.gguf', 'a=b', '-o', 'big.gguf'],
    [2, /one of them/, 'set', 'small.gguf', 'a=b', '-o', 'x.gguf', '--in-place'],
    [2, /on disk/, 'set', `${server.url}/small.gguf`, 'a=b', '--in-place'],
    [2, /KEY=VALUE/, 'set', 'small.gguf', 'word', '-o', 'x.gguf'],
    [2, /no type/, 'set', 'small.gguf', 'a:u99=1', '-o', 'x.gguf'],
    [2, /no JSON/, 'set', 'small.gguf', 'a=[1', '-o', 'x.gguf'],
    [
      1,
      /--file a: There is no such file: none.txt/,
      'set',
      'small.gguf',
      '--file',
      'a=none.txt',
      '-o',
      'x.gguf',
    ],
    [2, /is no u32/, 'set', 'small.gguf', 'llama.block_count=many', '-o', 'x.gguf'],
    [1, /no key "none"/, 'set', 'small.gguf', '--remove', 'none', '-o', 'x.gguf'],
    [2, /is no key/, 'set', 'small.gguf', 'a b=c', '-o', 'x.gguf'],
    [1, /no tensor "none"/, 'set', 'small.gguf', '--remove-tensor', 'none', '-o', 'x.gguf'],
    [1, /there is no folder no.such/, 'set', 'small.gguf', 'a=b', '-o', 'no/such/x.gguf'],
    [2, /a power of two, not 7:/, 'set', 'small.gguf', 'general.alignment=7', '-o', 'x.gguf'],
    [2, /number/, 'split', 'small.gguf', '--max-tensors', 'x'],
    [2, /--max-size takes a size above 0/, 'split', 'small.gguf', '--max-size', '0'],
    [2, /not a size/, 'split', 'small.gguf', '--max-size', 'big'],
    [2, /an output is needed/, 'merge', 'small.gguf'],
    [2, /little or big/, 'convert', 'small.gguf', '-o', 'x.gguf', '--endian', 'middle'],
    [2, /2 or 3/, 'convert', 'small.gguf', '-o', 'x.gguf', '--version', '1'],
    [2, /no format/, 'convert', 'small.gguf', '-o', 'x.onnx'],
    [2, /name it/, 'convert', 'small.gguf', '-o', 'x.npy'],
    [1, /no tensor "none"/, 'convert', 'small.gguf', 'none', '-o', 'x.npy'],
    [2, /which type/, 'quantize', 'small.gguf', '-o', 'x.gguf'],
    [2, /the type is F32, .* not "Q9"/, 'quantize', 'small.gguf', 'Q9', '-o', 'x.gguf'],
    [2, /NAME=TYPE/, 'quantize', 'small.gguf', 'Q8_0', '--tensor-type', 'x', '-o', 'x.gguf'],
  ]
  await Promise.all(wrong.map((one) => fails(...one)))
  assert.deepEqual(readdirSync(folder), before)
})

test('lint --strict', async () => {
  const finding = (level: string) => [at(`${level}.gguf`), 'lint', at(`${level}.gguf`)] as const
  const files: [level: string, metadata: NonNullable<Model['metadata']>][] = [
    [
      'fine',
      [
        ['general.architecture', text('llama')],
        ['general.type', text('vocab')],
      ],
    ],
    [
      'spec',
      [
        ['general.architecture', text('llama')],
        ['Upper.Case', u32(1)],
      ],
    ],
  ]
  for (const [level, metadata] of files) {
    const [path, ...args] = finding(level)
    writeFileSync(path, writeGguf({ metadata }))
    const { status, out } = await run(...args, '--strict', '--json')
    const levels = (JSON.parse(out) as { level: string }[]).map((one) => one.level)
    assert.ok(!levels.includes('error'), out)
    assert.equal(status, levels.includes('spec') ? 1 : 0, level)
    assert.equal((await run(...args)).status, 0)
  }
  assert.equal((await run('lint', at('spec.gguf'), '--strict')).status, 1)
})
