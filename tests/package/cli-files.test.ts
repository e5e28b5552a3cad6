// What the command line says of files: differences of arrays, files of other kinds, its own option names, sizes, and
// llama-quantize's options.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { array, floatBytes, shards, smallModel, text } from '../fixtures/models.ts'
import { runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'cli-files-'))
after(() => rmSync(folder, { recursive: true }))
const write = (name: string, bytes: Uint8Array) => writeFileSync(join(folder, name), bytes)
const run = (...args: string[]) => runCli(args, { cwd: folder })

test('compare shows the first element that differs, with those around it, and how many differ', async () => {
  const words = Array.from({ length: 20_000 }, (_, i) => `w${i}`)
  const model = (names: string[]): Model => ({
    metadata: [
      ['general.architecture', text('llama')],
      ['names', array('string', names)],
    ],
    tensors: [],
  })
  write('a.gguf', writeGguf(model(words)))
  const one = words.with(12_345, 'other').with(19_999, 'last')
  write('b.gguf', writeGguf(model(one)))
  write('c.gguf', writeGguf(model(words.slice(0, -3))))
  const { out, status } = await run('compare', 'a.gguf', 'b.gguf')
  assert.equal(status, 1)
  assert.match(out, /names: 2 elements of 20.000 differ, first at 12.345\n/)
  assert.match(out, /- \.\.\., "w12343", "w12344", > "w12345", "w12346", "w12347", \.\.\.\n/)
  assert.match(out, /\+ \.\.\., "w12343", "w12344", > "other", "w12346", "w12347", \.\.\.\n/)
  const shorter = (await run('compare', 'a.gguf', 'c.gguf')).out
  assert.match(shorter, /3 elements of 20.000 and 19.997 differ, first at 19.997\n/)
  assert.match(shorter, /\+ \.\.\., "w19995", "w19996", > \(no element\)/)
  const json = JSON.parse((await run('compare', 'a.gguf', 'b.gguf', '--json')).out) as { keys: object[] }
  assert.partialDeepStrictEqual(json.keys, [{ key: 'names', index: 12_345, count: 2 }])
})

test('files of other kinds, and zeros, are named', async () => {
  const entry = (name: string, values: number[]) => {
    const head = Buffer.alloc(4)
    head.writeInt32LE(name.length)
    const numbers = Buffer.alloc(8 + 4 * values.length)
    numbers.writeInt32LE(2)
    numbers.writeInt32LE(values.length, 4)
    values.forEach((value, i) => numbers.writeFloatLE(value, 8 + 4 * i))
    return Buffer.concat([head, Buffer.from(name), numbers])
  }
  const count = Buffer.from([2, 0, 0, 0])
  write(
    'imatrix.dat',
    Buffer.concat([count, entry('blk.0.a.weight', [1, 2, 3]), entry('blk.0.b.weight', [1, 2])]),
  )
  const { out, status, err } = await run('info', 'imatrix.dat')
  assert.equal(status, 0, err)
  assert.match(out, /kind +importance matrix/)
  assert.match(out, /blk\.0\.a\.weight +3\n/)
  const json = JSON.parse((await run('info', 'imatrix.dat', '--json')).out) as { entries: unknown[] }
  assert.deepEqual(json.entries[1], { name: 'blk.0.b.weight', columns: 2 })
  write('small.gguf', writeGguf(smallModel()))
  const both = JSON.parse((await run('info', 'imatrix.dat', 'small.gguf', '--json')).out) as {
    status: number
  }[]
  assert.deepEqual(
    both.map((one) => one.status),
    [0, 0],
  )
  write('zeros.gguf', new Uint8Array(5000))
  write('text.gguf', Buffer.from('some text'))
  for (const command of ['info', 'lint', 'tensors']) {
    const zeros = await run(command, 'zeros.gguf')
    assert.equal(zeros.status, 1)
    assert.match(zeros.err, /begins with zeros: it was not written whole.*\[bad-magic\]/)
    assert.match((await run(command, 'text.gguf')).err, /letters GGUF/)
  }
})

test('a pipe that nobody writes, a folder and a circle of links are refused', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe.gguf')])
  const { status, err } = await run('info', 'pipe.gguf')
  assert.deepEqual([status, /pipe\.gguf is no regular file/.test(err)], [1, true], err)
  mkdirSync(join(folder, 'models.gguf'))
  const inside = await run('info', 'models.gguf')
  assert.match(inside.err, /models\.gguf is a folder\. Name a file in it\./)
  assert.equal(inside.status, 1)
  symlinkSync('circle.gguf', join(folder, 'circle.gguf'))
  assert.match((await run('info', 'circle.gguf')).err, /links lead in a circle: .*\[invalid-argument\]/)
})

test('links that lead nowhere beside a model are no projectors', async () => {
  write('model.gguf', writeGguf(smallModel()))
  symlinkSync('nowhere', join(folder, 'mmproj-model.gguf'))
  const { status, err } = await run('speak', 'model.gguf', 'Hi', '--output', 'hi.wav')
  assert.deepEqual([status, /\[(\w|-)+\]$/.test(err.trim()), /ENOENT/.test(err)], [1, true, false], err)
})

test("messages name the command line's options", async () => {
  for (const part of shards(smallModel(), 3, 'part'))
    if (part.name !== 'part-00002-of-00003.gguf') write(part.name, writeGguf(part.model))
  const missing = await run('info', 'part-00001-of-00003.gguf')
  assert.match(missing.err, /can be opened with --allow-missing-shards/)
  assert.doesNotMatch(missing.err, /allowMissingShards/)
  write('q.gguf', writeGguf(quantizable('Q8_0')))
  const again = await run('quantize', 'q.gguf', 'Q4_0', '--output', 'x.gguf')
  assert.match(again.err, /\(--allow-requantize\)/)
  const bare = await run('quantize', 'f.gguf', 'IQ1_S', '--output', 'x.gguf')
  assert.match(bare.err, /without --imatrix/)
  assert.doesNotMatch(bare.err, /importance; --imatrix/)
  for (const [name, value] of [
    ['context', '0'],
    ['batch', '0'],
    ['context', '99999999999'],
  ] as const) {
    const { err, status } = await run('memory', 'q.gguf', `--${name}`, value)
    assert.equal(status, 2)
    assert.match(err, new RegExp(`^ggufscope: --${name} must be a whole number .*, not ${value}\\.`))
  }
})

const kWeights = ['token_embd', 'blk.0.attn_q', 'blk.0.ffn_down', 'blk.10.attn_q', 'output']
const quantizable = (type: 'F32' | 'Q8_0'): Model => ({
  metadata: [['general.architecture', text('llama')]],
  tensors: [
    ...kWeights.map((name, i) => ({
      name: `${name}.weight`,
      shape: [256, 4],
      type,
      ...(type === 'F32' ? { data: floatBytes(1024, i) } : {}),
    })),
    { name: 'blk.0.attn_norm.weight', shape: [256], type: 'F32' },
  ],
})
write('f.gguf', writeGguf(quantizable('F32')))

test("llama-quantize's options work, or are answered with this command's way", async () => {
  const types = async (...args: string[]) => {
    const { out, status, err } = await run('quantize', 'f.gguf', ...args, '--dry-run', '--json')
    assert.equal(status, 0, err)
    const { tensors } = JSON.parse(out) as { tensors: { name: string; to: string }[] }
    return tensors
      .slice(0, 5)
      .map(({ to }) => to)
      .join(' ')
  }
  assert.equal(await types('7'), 'Q8_0 Q8_0 Q8_0 Q8_0 Q8_0')
  assert.equal(await types('2', '--pure'), 'Q4_0 Q4_0 Q4_0 Q4_0 Q4_0')
  assert.equal(await types('Q8_0', '--leave-output-tensor'), 'Q8_0 Q8_0 Q8_0 Q8_0 F32')
  assert.equal(await types('Q8_0', '--output-tensor-type', 'q5_0'), 'Q8_0 Q8_0 Q8_0 Q8_0 Q5_0')
  assert.equal(await types('Q8_0', '--token-embedding-type', 'F16'), 'F16 Q8_0 Q8_0 Q8_0 Q8_0')
  assert.equal(
    await types('Q8_0', '--tensor-type', 'blk\\.0\\.(attn_q|ffn_down)=q4_0', '--tensor-type', '^tok.*d=q5_0'),
    'Q5_0 Q4_0 Q4_0 Q8_0 Q8_0',
  )
  assert.equal(await types('Q8_0', '--tensor-type', 'blk.0.*=F16'), 'Q8_0 F16 F16 Q8_0 Q8_0')
  const copy = await run('quantize', 'f.gguf', 'COPY', '--dry-run')
  assert.equal(copy.status, 2)
  assert.match(copy.err, /ggufscope merge MODEL --output FILE/)
  assert.match((await run('quantize', 'f.gguf', '999', '--dry-run')).err, /999/)
  assert.match(
    (await run('quantize', 'f.gguf', 'Q8_0', '--dry-run', '--tensor-type', '(x=q8_0')).err,
    /No tensor's name matches/,
  )
})

test('sizes are in powers of 1000, or of 1024 with an i; a tensor without elements has no minimum', async () => {
  for (const [size, status] of [
    ['1MiB', 0],
    ['0.5gib', 0],
    ['2K', 0],
    ['1iB', 2],
    ['1XB', 2],
  ] as const) {
    const { status: got, err } = await run('split', 'f.gguf', '--max-size', size, '--output', `s-${size}`)
    assert.equal(got, status, `${size}: ${err}`)
  }
  write('empty.gguf', writeGguf({ metadata: [], tensors: [{ name: 'none', shape: [0], type: 'F32' }] }))
  const { out } = await run('stats', 'empty.gguf', 'none')
  assert.match(out, /none +F32 +0 +0 +0 +0\n/)
  assert.match(out, /absolute maximum: none/)
  const [stats] = JSON.parse((await run('stats', 'empty.gguf', '--json')).out) as [
    { min: unknown; mean: unknown },
  ]
  assert.deepEqual([stats.min, stats.mean], ['NaN', 'NaN'])
})
