// Runs the command line of the packed package as a process.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { corruptions, soundModel } from '../fixtures/corruptions.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { array, hostileKeys, shards, smallModel, text, u32 } from '../fixtures/models.ts'
import { startServer } from '../server/server.ts'
import { loadNodePackage, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'

const { open } = await loadNodePackage()

const folder = mkdtempSync(join(tmpdir(), 'cli-'))
const server = await startServer()
after(async () => {
  rmSync(folder, { recursive: true })
  await server.close()
})
const model = smallModel()
const path = join(folder, 'small.gguf')
writeFileSync(path, writeGguf(model))
server.mount('/', folder)

const run = (args: string[], env: Record<string, string> = {}) => runCli(args, { env })

test('info: a summary, the mix of types and every key', async () => {
  const { status, out } = await run(['info', path])
  assert.equal(status, 0)
  assert.match(out, /^architecture +llama$/m)
  assert.match(out, /^F32 +6 /m)
  for (const [key] of model.metadata!) assert.ok(out.includes(String(key)), String(key))
  // A description is below each key of the catalogue, and below no other key.
  assert.match(out, /^general\.architecture +string +llama\n {4}\S.+\n {4}\S.+\.$/m)
  assert.match(out, /^test\.u64\.2 .*\ntest\.u64\.array /m)
  assert.match(out, /^test\.u64\.2 +u64 +18446744073709551615$/m)
  assert.doesNotMatch(out, /\x1b/)
  assert.match((await run(['info', path], { FORCE_COLOR: '1', NO_COLOR: '' })).out, /\x1b\[1m/)
  assert.doesNotMatch((await run(['info', path], { FORCE_COLOR: '1', NO_COLOR: '1' })).out, /\x1b/)
})

test('info --json is JSON, arrays whole with --full', async () => {
  const long = join(folder, 'long.gguf')
  const tokens = Array.from({ length: 100 }, (_, i) => `t${i}`)
  writeFileSync(
    long,
    writeGguf({
      metadata: [
        ['general.architecture', text('llama')],
        ['tokenizer.ggml.tokens', array('string', tokens)],
      ],
    }),
  )
  type Info = {
    summary: { vocabularySize: number }
    metadata: { key: string; type: string; value: unknown; meaning?: string; unit?: string }[]
  }
  using file = await open(long)
  const meaning = async (key: string) => {
    const found = await file.metadata.meaning(key)
    assert.ok(found && found.meaning.length > 10, key)
    return found
  }
  const short = JSON.parse((await run(['info', long, '--json'])).out) as Info
  assert.equal(short.summary.vocabularySize, 100)
  assert.deepEqual(short.metadata[1], {
    key: 'tokenizer.ggml.tokens',
    type: 'array',
    value: { type: 'string', length: 100, first: tokens.slice(0, 8) },
    ...(await meaning('tokenizer.ggml.tokens')),
  })
  const full = JSON.parse((await run(['info', long, '--json', '--full'])).out) as Info
  assert.deepEqual(full.metadata[1]!.value, tokens)
  const all = JSON.parse((await run(['info', path, '--json'])).out) as Info
  assert.equal(all.metadata.find(({ key }) => key === 'test.u64.2')!.value, '18446744073709551615')
})

test('tensors: one line each, from a file, an address and shards', async () => {
  for (const source of [path, `${server.url}/small.gguf`]) {
    const { status, out } = await run(['tensors', source])
    assert.equal(status, 0)
    for (const { name } of model.tensors!)
      assert.match(out, new RegExp(`^${name.replaceAll('.', '\\.')} +F32`, 'm'))
  }
  const listed = JSON.parse((await run(['tensors', path, '--json'])).out) as { name: string }[]
  assert.deepEqual(
    listed.map(({ name }) => name),
    model.tensors!.map(({ name }) => name),
  )
  for (const part of shards(model, 2, 'part')) writeFileSync(join(folder, part.name), writeGguf(part.model))
  const { out } = await run(['tensors', join(folder, 'part-00002-of-00002.gguf')])
  assert.match(out, /shard$/m)
  rmSync(join(folder, 'part-00001-of-00002.gguf'))
  const missing = await run(['tensors', join(folder, 'part-00002-of-00002.gguf')])
  assert.equal(missing.status, 1)
  assert.match(missing.err, /part-00001-of-00002\.gguf/)
})

test('text of a hostile file cannot drive the terminal', async () => {
  const hostile = join(folder, 'hostile.gguf')
  writeFileSync(
    hostile,
    writeGguf({
      ...hostileKeys(),
      metadata: [
        ['general.name', text('\x1b[2Jgone\u202e')],
        ['a\x07', u32(1)],
      ],
    }),
  )
  const { out } = await run(['info', hostile])
  assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  assert.match(out, /\\u001b\[2Jgone\\u202e/)
})

test('statuses: 0 fine, 1 a bad file, 2 a wrong call', async () => {
  const broken = join(folder, 'broken.gguf')
  writeFileSync(broken, writeGguf(model).subarray(0, 100))
  const fine = join(folder, 'fine.gguf')
  writeFileSync(fine, writeGguf({ metadata: [['general.architecture', text('llama')]] }))
  const cases: [args: string[], status: number, err: RegExp][] = [
    [['lint', fine], 0, /^$/],
    [['lint', path], 1, /^$/],
    [['info', broken], 1, /truncated/],
    [['info', join(folder, 'none.gguf')], 1, /no such file/i],
    [['info', folder], 1, /folder|regular/],
    [['info', `${server.url}/none.gguf`], 1, /404/],
    [[], 2, /usage/],
    [['info'], 2, /which file/],
    [['inform', path], 2, /no command and no file "inform": did you mean info\?/],
    [['info', path, '--wrong'], 2, /--wrong/],
    [['info', path, '--header', 'x'], 2, /Name: value/],
    [['--help'], 0, /^$/],
    [['info', '--help'], 0, /^$/],
    [['help', 'info'], 0, /^$/],
    [['help', 'inform'], 2, /did you mean info\?/],
    [['info', 'a'.repeat(300)], 1, /The name is too long .*\[invalid-argument\]/],
    [['--version'], 0, /^$/],
  ]
  await Promise.all(
    cases.map(async ([args, status, err]) => {
      const result = await run(args)
      assert.equal(result.status, status, `${args.join(' ')}: ${result.err}`)
      assert.match(result.err, err)
      assert.doesNotMatch(result.err, /\n\s+at /)
    }),
  )
})

test('lint --data reads the tensors', async () => {
  const nan = join(folder, 'nan.gguf')
  const data = new Uint8Array([0, 0, 0, 0, 0, 0, 192, 127])
  writeFileSync(nan, writeGguf({ tensors: [{ name: 'weights', shape: [2], type: 'F32', data }] }))
  assert.doesNotMatch((await run(['lint', nan])).out, /tensor-data-invalid/)
  const { out, status } = await run(['lint', nan, '--data'])
  assert.match(
    out,
    /error +tensor-data-invalid .*'weights' of F32 is damaged in 1 of 2 elements: element 1 of row 0 holds NaN/,
  )
  assert.equal(status, 1)
})

test('a closed pipe is not an error', async () => {
  const many = join(folder, 'many.gguf')
  writeFileSync(
    many,
    writeGguf({
      tensors: Array.from({ length: 20_000 }, (_, i) => ({ name: `tensor.${i}`, shape: [1], type: 'F32' })),
    }),
  )
  const child = spawn(process.execPath, [packedFile('wasm/dist/cli.js'), 'tensors', many], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', (data: Buffer) => (err += data))
  child.stdout.once('data', () => child.stdout.destroy())
  const status = await new Promise((done) => child.on('close', done))
  assert.equal(status, 0)
  assert.equal(err, '')
})

const kFull = '/dev/full'
test('a full disk is named', { skip: !existsSync(kFull) && `no ${kFull}` }, () => {
  const out = openSync(kFull, 'w')
  const cli = packedFile('wasm/dist/cli.js')
  for (const words of [['info', path], ['info', path, '--json'], ['--help']]) {
    const { status, stderr } = spawnSync(process.execPath, [cli, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', out, 'pipe'],
    })
    assert.equal(status, 1)
    assert.match(stderr, /^ggufscope: standard output cannot be written: .*no space left.*\n$/)
  }
  closeSync(out)
})

test('stats of a file with a tensor of an unknown type: all others are counted, and that one is named', async () => {
  const odd = join(folder, 'unknown-type.gguf')
  writeFileSync(odd, corruptions.find(({ name }) => name.endsWith('of type 99'))!.bytes())
  const { status, out, err } = await run(['stats', odd])
  assert.equal(status, 0, err)
  assert.match(err, /blk\.0\.attn_q\.weight is of type \S+, whose layout is not known/)
  assert.equal(err.trim().split('\n').length, 1)
  const rows = out.trim().split('\n').slice(1)
  assert.equal(rows.length, soundModel().tensors!.length - 1)
  assert.doesNotMatch(out, /blk\.0\.attn_q\.weight/)
  // If it is requested by name, the command fails.
  const alone = await run(['stats', odd, 'blk.0.attn_q.weight'])
  assert.equal(alone.status, 1)
  assert.match(alone.err, /layout is not known/)
})

test('info shows the shape that a tensor had in ComfyUI, and the file type of other programs', async () => {
  const comfy = join(folder, 'comfy.gguf')
  writeFileSync(
    comfy,
    writeGguf({
      metadata: [
        ['general.architecture', text('sd1')],
        ['comfy.gguf.orig_shape.input_blocks.0.0.weight', array('i32', [64, 4, 3, 3])],
      ],
      tensors: [{ name: 'input_blocks.0.0.weight', shape: [256, 9], type: 'F32' }],
    }),
  )
  const { out } = await run(['info', comfy])
  assert.match(out, /^comfy\.gguf\.orig_shap\S+ +i32\[4\] +\[64, 4, 3, 3\]\n.*before ComfyUI-GGUF/m)
  const row = (
    JSON.parse((await run(['info', comfy, '--json'])).out) as {
      metadata: { key: string; meaning?: string }[]
    }
  ).metadata[1]!
  assert.match(row.meaning!, /before ComfyUI-GGUF stored it/)
})

test('a command starts without the engine and without what edits files', () => {
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    const imports = /(?:^|[;}\n])(?:import|export)\b[^'"();]*['"](\.[^'"]+)['"]/g
    for (const [, target] of readFileSync(path, 'utf8').matchAll(imports)) load(join(dirname(path), target!))
  }
  const dist = packedFile('wasm/dist')
  load(join(dist, 'cli.js'))
  assert.ok(loaded.has(join(dist, 'open.js')), 'imports are found')
  for (const entry of ['node', 'engine/index', 'edit/index', 'store/index', 'audit/index'])
    assert.ok(!loaded.has(join(dist, `${entry}.js`)), entry)
})
