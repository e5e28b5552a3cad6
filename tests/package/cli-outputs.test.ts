// Every output of every command: it never overwrites an input, replaces nothing without --force, and leaves nothing
// behind after an error. The test fails for a command with an output that this file does not list.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
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
import { pathToFileURL } from 'node:url'
import { after, test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { array, floatBytes, shards, text, u32 } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { kRoot, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'

interface Option {
  readonly value?: string
  readonly file?: 'read' | 'written'
}
interface Row {
  readonly name: string
  load(): Promise<{ command: { options?: Readonly<Record<string, Option>> } }>
}
const { kCommands } = (await import(pathToFileURL(packedFile('wasm/dist/cli/commands.js')).href)) as {
  kCommands: readonly Row[]
}
const { formatChanges } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')

const folder = mkdtempSync(join(tmpdir(), 'cli-outputs-'))
after(() => rmSync(folder, { recursive: true }))

const run = (args: readonly string[], cwd = folder) => runCli(args, { cwd })

// Rows are long enough for blocks of every type. The tensors are split into two files.
const tensors = ['token_embd', 'blk.0.attn_q'].map((name, i) => {
  return { name: `${name}.weight`, shape: [256, 32], type: 'F32', data: floatBytes(8192, i) }
})
const model = {
  metadata: [
    ['general.architecture', text('llama')],
    ['llama.block_count', u32(1)],
  ] as [string, ReturnType<typeof text>][],
  tensors,
}
const kPart = (i: number) => `in-0000${i}-of-00002.gguf`
for (const { name, model: part } of shards(model, 2, 'in')) writeFileSync(join(folder, name), writeGguf(part))
writeFileSync(join(folder, 'value.txt'), 'a value')
writeFileSync(
  join(folder, 'changes.json'),
  formatChanges([{ change: 'set', key: 'general.author', type: 'string', value: 'a bee' }]),
)
writeFileSync(
  join(folder, 'importance.gguf'),
  writeGguf({
    metadata: [
      ['general.type', text('imatrix')],
      ['imatrix.datasets', array('string', ['x'])],
    ],
    tensors: tensors.flatMap(({ name }) => [
      { name: `${name}.in_sum2`, shape: [256], type: 'F32', data: floats(256, 2) },
      { name: `${name}.counts`, shape: [1, 1], type: 'F32', data: floats(1, 2) },
    ]),
  }),
)
writeFileSync(
  join(folder, 'adapter.gguf'),
  writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['general.type', text('adapter')],
      ['adapter.type', text('lora')],
    ],
    tensors: [256, 32].map((size, i) => ({
      name: `${tensors[1]!.name}.lora_${'ab'[i]}`,
      shape: i === 0 ? [size, 1] : [1, size],
      type: 'F32',
      data: floats(size, 1),
    })),
  }),
)
function floats(count: number, value: number): Uint8Array {
  return new Uint8Array(new Float32Array(count).fill(value).buffer)
}

/** The arguments of each command that writes. Together they use every option that reads a file. */
const kCalls: Readonly<Record<string, readonly string[]>> = {
  dequantize: [kPart(1), tensors[0]!.name],
  set: [kPart(1), 'general.name=x', '--file', 'general.description=value.txt', '--changes', 'changes.json'],
  quantize: [kPart(1), 'Q8_0', '--imatrix', 'importance.gguf'],
  convert: [kPart(1), '--format', 'gguf', '--endian', 'big'],
  split: [kPart(1), '--max-tensors', '1'],
  merge: [kPart(1)],
  'merge-lora': [kPart(1), 'adapter.gguf', '--type', 'Q8_0', '--imatrix', 'importance.gguf'],
}
/** Writing commands with tests of their own: audit has no --output, and no model here speaks. */
const kOthers = ['audit', 'speak']
/** The options of audit that write a file. */
const kReports = ['markdown', 'sarif', 'cyclonedx']
/** The files that a call reads: those in its arguments, and the other shard. The command `set` edits only one file. */
const readBy = (name: string) => [
  ...readdirSync(folder).filter((file) => kCalls[name]!.some((word) => word.split('=').at(-1) === file)),
  ...(name === 'set' ? [] : [kPart(2)]),
]
// Arguments that cause an error only after the output was chosen.
const kFailing: Readonly<Record<string, readonly string[]>> = {
  dequantize: [kPart(1), tensors[0]!.name, '--rows', '30:40'],
  set: [kPart(1), '--remove', 'none'],
  quantize: [kPart(1), 'Q99'],
  convert: [kPart(1), 'none', '--format', 'npy'],
  split: [kPart(1), '--max-tensors', '0'],
  merge: ['in-00009-of-00009.gguf'],
  'merge-lora': [kPart(1), 'adapter.gguf', kPart(1)],
}

async function writing(): Promise<{ name: string; options: Readonly<Record<string, Option>> }[]> {
  const all = await Promise.all(
    kCommands.map(async ({ name, load }) => ({ name, options: (await load()).command.options ?? {} })),
  )
  return all.filter(({ options }) => Object.values(options).some(({ file }) => file === 'written'))
}
const hashes = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  )
/** The value of --output for a wanted path. The command `split` derives the names of its files from it. */
const outputFor = (name: string, path: string) =>
  name === 'split' ? path.replace(/-00001-of-.*$/, '') : path
const written = (name: string, path: string) => (name === 'split' ? `${path}-00001-of-00002.gguf` : path)

test('every writing command is listed here, and reads the inputs that it declares', async () => {
  const commands = await writing()
  assert.deepEqual(commands.map(({ name }) => name).sort(), [...kOthers, ...Object.keys(kCalls)].sort())
  const audit = commands.find(({ name }) => name === 'audit')
  assert.deepEqual(
    Object.entries(audit!.options).flatMap(([option, { file }]) => (file === 'written' ? option : [])),
    kReports,
  )
  for (const { name, options } of commands.filter((command) => !kOthers.includes(command.name))) {
    for (const [option, { file }] of Object.entries(options))
      if (file === 'read') assert.ok(kCalls[name]!.includes(`--${option}`), `${name} --${option}`)
  }
  // An option with this name is an output in every command.
  for (const { name, load } of kCommands) {
    const { options = {} } = (await load()).command
    for (const option of ['output', 'in-place'])
      if (Object.hasOwn(options, option)) assert.ok(Object.hasOwn(kCalls, name) || name === 'speak', name)
  }
})

test('a report of audit replaces no input, and no file without --force', async () => {
  const call = ['audit', kPart(1), '--fail-on', 'never', '--no-load']
  const [hard, soft] = ['hard.report', 'soft.report']
  linkSync(join(folder, kPart(2)), join(folder, hard))
  symlinkSync(kPart(1), join(folder, soft))
  writeFileSync(join(folder, 'there'), 'x')
  const before = hashes()
  for (const [i, option] of kReports.entries()) {
    const spelling = [hard, soft, join(folder, kPart(2))][i]!
    const onInput = await run([...call, `--${option}`, spelling, '--force'])
    assert.equal(onInput.status, 2, onInput.err)
    assert.match(onInput.err, /is a file that is read/)
    const onFile = await run([...call, `--${option}`, 'there'])
    assert.match(onFile.err, /\[file-exists\]/)
  }
  // Two reports in one file, and one of several that cannot be written: nothing is left.
  assert.equal((await run([...call, '--sarif', 'one', '--markdown', './one'])).status, 2)
  assert.equal((await run([...call, '--sarif', 'one', '--markdown', 'there'])).status, 1)
  assert.deepEqual(hashes(), before)
  const forced = await run([...call, '--sarif', 'there', '--force'])
  assert.equal(forced.status, 0, forced.err)
  assert.match(readFileSync(join(folder, 'there'), 'utf8'), /"version": "2\.1\.0"/)
  for (const name of [hard, soft, 'there']) rmSync(join(folder, name))
})

test('a speech replaces no input, and no file without --force', async () => {
  copyFileSync(join(kRoot, 'tests/fixtures/stories.gguf'), join(folder, 'stories.gguf'))
  linkSync(join(folder, 'stories.gguf'), join(folder, 'hard.stories'))
  symlinkSync('stories.gguf', join(folder, 'soft.stories'))
  const before = hashes()
  for (const output of ['stories.gguf', 'hard.stories', 'soft.stories']) {
    const result = await run(['speak', 'stories.gguf', 'Hi', '--output', output, '--force'])
    assert.equal(result.status, 2, result.err)
    assert.match(result.err, /is a file that is read/)
  }
  const refused = await run(['speak', 'stories.gguf', 'Hi', '--output', 'value.txt'])
  assert.equal(refused.status, 1, refused.err)
  assert.match(refused.err, /is there already/)
  assert.match((await run(['speak', 'stories.gguf', 'Hi'])).err, /an output is needed/)
  assert.deepEqual(hashes(), before)
  for (const name of ['stories.gguf', 'hard.stories', 'soft.stories']) rmSync(join(folder, name))
})

test('only save.ts writes: no other file of the command line can', () => {
  const from = join(kRoot, 'wasm/src/cli')
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const code = readFileSync(join(from, name), 'utf8')
    const allowed =
      name === 'save.ts'
        ? ['stat', 'unlink']
        : ['stat', 'realpath', 'open', 'open as openFileOnDisk', 'readFile', 'fstatSync']
    for (const [, names] of code.matchAll(/import (?:type )?\{([^}]*)\} from 'node:fs(?:\/promises)?'/g))
      for (const one of names!.split(',').map((word) => word.trim()))
        assert.ok(allowed.includes(one), `${name} imports ${one}`)
    assert.doesNotMatch(code, /\bwriteFile\b|import\('node:fs(?!\/promises'\)\n)|\bfs\.|openSync/, name)
    if (name !== 'save.ts') assert.doesNotMatch(code, /write-file\.js/, name)
    // All other files are opened only for reading.
    for (const [call] of code.matchAll(/\bopen(?:FileOnDisk)?\([^)]*'[a-z+]+'\)/g))
      assert.match(call, /'r'\)/, name)
  }
})

test('an output never overwrites an input, in any spelling', async () => {
  mkdirSync(join(folder, 'sub'))
  let turn = 0
  for (const name of Object.keys(kCalls).filter((one) => one !== 'split')) {
    for (const file of readBy(name)) {
      const [hard, soft] = [`hard.${file}`, `soft.${file}`]
      if (!existsSync(join(folder, hard))) {
        linkSync(join(folder, file), join(folder, hard))
        symlinkSync(file, join(folder, soft))
      }
      const before = hashes()
      const spellings = [file, `sub/../${file}`, join(folder, file), hard, soft]
      await Promise.all(
        (kAll ? spellings : [spellings[turn++ % spellings.length]!]).map(async (spelling) => {
          const result = await run([name, ...kCalls[name]!, '--output', spelling, '--force'])
          assert.equal(result.status, 2, `${name} --output ${spelling}: ${result.err}`)
          assert.match(result.err, /is a file that is read/)
        }),
      )
      assert.deepEqual(hashes(), before, `${name}: ${file}`)
      rmSync(join(folder, hard))
      rmSync(join(folder, soft))
    }
  }
  // `split` chooses the names of its outputs. Here they equal those of its inputs.
  const before = hashes()
  const split = await run(['split', ...kCalls['split']!, '--output', 'in', '--force'])
  assert.equal(split.status, 2, split.err)
  assert.match(split.err, /is a file that is read/)
  assert.deepEqual(hashes(), before)
})

test('--force follows links, and writes no device or pipe', async () => {
  const call = (output: string) => run(['merge', kPart(1), '--output', output, '--force'])
  assert.equal((await call('plain.gguf')).status, 0)
  const wanted = readFileSync(join(folder, 'plain.gguf'))
  const place = join(folder, 'links')
  mkdirSync(place)
  writeFileSync(join(place, 'target'), 'old')
  writeFileSync(join(place, 'far'), 'old')
  const links = { near: 'target', again: 'near', absolute: join(place, 'far'), dangling: 'new' }
  for (const [name, to] of Object.entries(links)) symlinkSync(to, join(place, name))
  for (const [name, target] of Object.entries({
    near: 'target',
    again: 'target',
    absolute: 'far',
    dangling: 'new',
  })) {
    const { status, err } = await call(`links/${name}`)
    assert.equal(status, 0, err)
    assert.ok(lstatSync(join(place, name)).isSymbolicLink(), name)
    assert.deepEqual(readFileSync(join(place, target)), wanted)
    rmSync(join(place, target))
    if (target !== 'new') writeFileSync(join(place, target), 'old')
  }
  execFileSync('mkfifo', [join(place, 'pipe')])
  symlinkSync('pipe', join(place, 'to-pipe'))
  symlinkSync('/dev/null', join(place, 'to-device'))
  symlinkSync('.', join(place, 'to-folder'))
  symlinkSync('circle', join(place, 'circle'))
  for (const name of ['pipe', 'to-pipe', 'to-device', 'to-folder', 'circle']) {
    const before = lstatSync(join(place, name))
    const { status, err } = await call(`links/${name}`)
    assert.equal(status, 2, name)
    assert.match(err, /no regular file|circle/, name)
    assert.equal(lstatSync(join(place, name)).ino, before.ino)
  }
  // Two outputs that are one file by their links: the second would replace the first.
  for (const [first, second] of [
    ['one-00002-of-00002.gguf', 'none'],
    ['both', 'both'],
  ] as const) {
    symlinkSync(first, join(place, 'one-00001-of-00002.gguf'))
    if (second === 'both') symlinkSync(second, join(place, 'one-00002-of-00002.gguf'))
    const before = readdirSync(place)
    const split = await run(['split', kPart(1), '--max-tensors', '1', '--output', 'links/one', '--force'])
    assert.equal(split.status, 2, split.err)
    assert.match(split.err, /one-00001-of-00002.gguf and links\/one-00002-of-00002.gguf are one file/)
    assert.deepEqual(readdirSync(place), before)
    rmSync(join(place, 'one-00001-of-00002.gguf'))
  }
  // Without --force a dangling link is there already.
  const { err } = await run(['merge', kPart(1), '--output', 'links/dangling'])
  assert.match(err, /file-exists/)
  rmSync(place, { recursive: true })
  rmSync(join(folder, 'plain.gguf'))
})

test('without --force, nothing is replaced; with it, only files', async () => {
  for (const name of Object.keys(kCalls)) {
    const path = written(name, `there-${name}`)
    writeFileSync(join(folder, path), 'mine')
    const refused = await run([name, ...kCalls[name]!, '--output', outputFor(name, path), '--json'])
    assert.equal(refused.status, 1, `${name}: ${refused.err}`)
    const { error } = JSON.parse(refused.err) as { error: { code: string; message: string } }
    assert.equal(error.code, 'file-exists')
    assert.match(error.message, /--force/)
    assert.equal(readFileSync(join(folder, path), 'utf8'), 'mine', name)
    const forced = await run([name, ...kCalls[name]!, '--output', outputFor(name, path), '--force'])
    assert.equal(forced.status, 0, `${name}: ${forced.err}`)
    assert.ok(statSync(join(folder, path)).size > 1000, name)
  }
  const device = await run(['merge', kPart(1), '--output', '/dev/null', '--force'])
  assert.deepEqual([device.status, statSync('/dev/null').isCharacterDevice()], [2, true])
  assert.match(device.err, /no regular file/)
  assert.match((await run(['merge', kPart(1), '-o', 'sub', '--force'])).err, /no regular file/)
  assert.match((await run(['merge', kPart(1), '-o', '-'])).err, /not standard output/)
})

test('an output that is a folder, or lies in none, is refused before the work', async () => {
  mkdirSync(join(folder, 'sub2'))
  symlinkSync('none/x.gguf', join(folder, 'to-none'))
  const before = readdirSync(folder)
  for (const [output, status, message] of [
    ['new/', 2, /new\/ is the name of a folder/],
    ['sub2/', 2, /no regular file/],
    ['none/x.gguf', 1, /none\/x.gguf cannot be written: there is no folder none\. \[no-such-file\]/],
    ['to-none', 1, /to-none cannot be written: there is no folder .*none\. \[no-such-file\]/],
    [`${kPart(1)}/x.gguf`, 1, /there is no folder in-/],
    [`${kPart(1)}/`, 2, /is the name of a folder/],
  ] as const) {
    const result = await run(['quantize', kPart(1), 'Q4_K_M', '--tensor-type', 'none=Q8_0', '-o', output])
    assert.deepEqual([result.status, message.test(result.err)], [status, true], `${output}: ${result.err}`)
  }
  for (const output of ['', '.', '..', 'sub2/', './.gguf']) {
    const { status, err } = await run(['split', kPart(1), '--max-tensors', '1', '-o', output])
    assert.equal(status, 2, output)
    assert.match(err, /has no name/)
  }
  assert.deepEqual(readdirSync(folder), before)
})

test('failed calls leave no file and replace none', async () => {
  for (const name of Object.keys(kFailing)) {
    const path = written(name, `failed-${name}`)
    for (const force of [[], ['--force']]) {
      if (force.length > 0) writeFileSync(join(folder, path), 'mine')
      const before = readdirSync(folder)
      const { status, err } = await run([
        name,
        ...kFailing[name]!,
        '--output',
        outputFor(name, path),
        ...force,
      ])
      assert.notEqual(status, 0, name)
      assert.doesNotMatch(err, /\n\s+at /)
      assert.deepEqual(readdirSync(folder), before, name)
    }
    assert.equal(readFileSync(join(folder, path), 'utf8'), 'mine', name)
  }
})

test('leftovers of an interrupted call are named; a failed set leaves none of its files', async () => {
  const left = '.late.gguf.0123456789ab.part'
  writeFileSync(join(folder, left), 'half')
  const { status, err } = await run(['merge', kPart(1), '--output', 'late.gguf'])
  assert.equal(status, 0)
  assert.ok(err.includes(left), err)
  const json = await run(['merge', kPart(1), '--output', 'late.gguf', '--force', '--json'])
  assert.match((JSON.parse(json.err) as { warning: { message: string } }).warning.message, /interrupted/)
  rmSync(join(folder, left))
  // The second name exists already, so the first file is not written either.
  copyFileSync(join(folder, 'value.txt'), join(folder, 'set-00002-of-00002.gguf'))
  const split = await run(['split', kPart(1), '--max-tensors', '1', '--output', 'set'])
  assert.equal(split.status, 1, split.err)
  assert.equal(existsSync(join(folder, 'set-00001-of-00002.gguf')), false)
  assert.equal(readFileSync(join(folder, 'set-00002-of-00002.gguf'), 'utf8'), 'a value')
})

test('dequantize --output writes all floats; --json describes them', async () => {
  const { status, out } = await run(['dequantize', kPart(1), tensors[0]!.name, '-o', 'floats.bin', '--json'])
  assert.equal(status, 0)
  assert.deepEqual(JSON.parse(out), { output: 'floats.bin', size: 32768, floats: 8192 })
  assert.deepEqual(new Uint8Array(readFileSync(join(folder, 'floats.bin'))), tensors[0]!.data)
})
