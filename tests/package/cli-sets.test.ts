// Split, truncated and damaged files on the command line: messages, errors, and the effect of --force.
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { shards, smallModel } from '../fixtures/models.ts'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'

const { open } = await loadNodePackage()
const folder = mkdtempSync(join(tmpdir(), 'cli-sets-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const run = (...args: string[]) => runCli(args, { cwd: folder })
async function works(...args: string[]): Promise<{ out: string; err: string }> {
  const { status, out, err } = await run(...args)
  assert.equal(status, 0, `${args.join(' ')}: ${err}`)
  return { out, err }
}
async function fails(status: number, message: RegExp, ...args: string[]): Promise<void> {
  const result = await run(...args)
  assert.equal(result.status, status, `${args.join(' ')}: ${result.err}`)
  assert.match(result.err, message)
}

const model = smallModel()
const whole = writeGguf(model)
const last = model.tensors!.at(-1)!
writeFileSync(at('small.gguf'), whole)
writeFileSync(at('cut.gguf'), whole.slice(0, -40))
const parts = (name: string) =>
  shards(model, 3, name).map((part) => {
    writeFileSync(at(part.name), writeGguf(part.model))
    return part.name
  })

test('a truncated file: every reading command reports it, writing commands refuse without --force', async () => {
  const reading = [
    ['tensors', 'cut.gguf'],
    ['dequantize', 'cut.gguf', model.tensors![0]!.name],
    ['stats', 'cut.gguf', model.tensors![0]!.name],
  ]
  await Promise.all(reading.map(async (call) => assert.match((await works(...call)).err, /the file is cut/)))
  assert.match((await works('info', 'cut.gguf')).out, /the file is cut: \d+ of \d+ bytes/)
  const { damage } = JSON.parse((await works('info', 'cut.gguf', '--json')).out) as {
    damage: { code: string }[]
  }
  assert.deepEqual(damage.map(({ code }) => code), ['data-truncated']) // prettier-ignore
  const writing = [
    ['set', 'cut.gguf', 'general.name=x'],
    ['merge', 'cut.gguf'],
    ['convert', 'cut.gguf', '--endian', 'big'],
    ['quantize', 'cut.gguf', 'F16'],
    ['split', 'cut.gguf', '--max-tensors', '2'],
  ]
  for (const [i, call] of writing.entries()) {
    const output = `out-${i}.gguf`
    await fails(1, /The input is damaged: the file is cut.*--force/s, ...call, '-o', output)
    assert.equal(existsSync(at(output)), false)
  }
  await Promise.all(
    writing.map(async (call, i) => {
      const { err } = await works(...call, '-o', `out-${i}.gguf`, '--force')
      assert.match(err, /the file is cut/, call.join(' '))
    }),
  )
  copyFileSync(at('cut.gguf'), at('place.gguf'))
  await fails(1, /damaged/, 'set', 'place.gguf', 'general.name=x', '--in-place')
  assert.deepEqual(readFileSync(at('place.gguf')), readFileSync(at('cut.gguf')))
  await fails(1, /of the \d+ rows .* the first \d+ are there/, 'dequantize', 'cut.gguf', last.name, '-o', 'x.f32')
  await fails(1, /rows/, 'convert', 'cut.gguf', last.name, '-o', 'x.npy')
}) // prettier-ignore

test('a set that contradicts itself is not written', async () => {
  const names = parts('odd')
  copyFileSync(at(names[1]!), at(names[2]!))
  for (const call of [['merge'], ['quantize'], ['convert'], ['split']]) {
    const type = call[0] === 'quantize' ? ['F16'] : []
    await fails(1, /split\.no is 1, not 2/, ...call, names[0]!, ...type, '-o', `never-${call[0]}.gguf`)
  }
  assert.match((await works('tensors', names[0]!)).err, /split\.no is 1/)
  // The file with the wrong number can be repaired.
  const renumber = ['set', names[2]!, 'split.no=2', '--in-place']
  await fails(2, /--force/, ...renumber)
  await works(...renumber, '--force')
  using file = await open(at(names[2]!))
  assert.ok((await file.damage()).every(({ code }) => code !== 'split-number'))
})

test('incomplete sets: available shards are read, missing ones are named', async () => {
  const [first, second, third] = parts('gap') as [string, string, string]
  rmSync(at(third))
  for (const call of [['info', first], ['tensors', first], ['dequantize', second, model.tensors![0]!.name]]) {
    await fails(1, /gap-00003-of-00003\.gguf/, ...call)
    const { out, err } = await works(...call, '--allow-missing-shards')
    assert.match(call[0] === 'info' ? out : err, /gap-00003-of-00003\.gguf .* is not there/)
  }
  for (const call of [['merge', first], ['quantize', first, 'F16'], ['split', first], ['convert', first]])
    await fails(1, /is not there/, ...call, '-o', `gap-${call[0]}.gguf`, '--allow-missing-shards')
  // The engine needs every tensor, so an incomplete set cannot run.
  await fails(2, /run does not take --allow-missing-shards/, 'run', first, 'x', '--allow-missing-shards')
}) // prettier-ignore

test('renamed shards together; a set of one', async () => {
  const names = ['c.gguf', 'a.gguf', 'b.gguf']
  shards(model, 3, 'x').forEach((part, i) => writeFileSync(at(names[i]!), writeGguf(part.model)))
  await works('merge', 'a.gguf', 'b.gguf', 'c.gguf', '-o', 'joined.gguf')
  assert.deepEqual(new Uint8Array(readFileSync(at('joined.gguf'))), whole)
  const { out } = await works('tensors', 'a.gguf', '--shard', 'b.gguf', '--shard', 'c.gguf')
  assert.match(out, /6 tensors/)
  const [alone] = shards(model, 1, 'one')
  writeFileSync(at(alone!.name), writeGguf(alone!.model))
  await works('merge', alone!.name, '-o', 'single.gguf')
  await works('quantize', alone!.name, 'F16', '-o', 'half.gguf')
  assert.deepEqual(new Uint8Array(readFileSync(at('single.gguf'))), whole)
  using half = await open(at('half.gguf'))
  assert.ok(![...half.metadata.keys()].some((key) => key.startsWith('split.')))
  const cuts = [0, whole.length - 300, whole.length]
  for (const i of [0, 1]) writeFileSync(at(`raw.gguf.part${i + 1}of2`), whole.slice(cuts[i], cuts[i + 1]))
  await works('merge', 'raw.gguf.part2of2', '-o', 'raw.gguf')
  assert.deepEqual(new Uint8Array(readFileSync(at('raw.gguf'))), whole)
})

test('set on one shard keeps the set consistent', async () => {
  const names = parts('kept')
  const { err } = await works('set', names[1]!, 'general.name=new', '--in-place')
  assert.match(err, /kept-00001-of-00003\.gguf is edited/)
  const moved = await works('set', names[0]!, 'general.name=x', '-o', 'else.gguf')
  assert.match(moved.err, /under another name/)
  await works('set', names[2]!, '--rename-tensor', `${last.name}=renamed`, '--in-place')
  await fails(2, /merge the files first/, 'set', names[2]!, '--remove-tensor', 'renamed', '--in-place')
  await fails(2, /merge the files first/, 'set', names[0]!, '--add-token', 'x', '--in-place')
  using file = await open(at(names[0]!))
  assert.equal(file.metadata.get('general.name'), 'new')
  assert.deepEqual(await file.damage(), [])
  assert.ok(file.tensor('renamed'))
})

test('set derives the type of a value or takes --type', async () => {
  const set = ['set', 'small.gguf', '-o', 'typed.gguf', '--force']
  await works(...set, 'llama.rope.freq_base=1000000', 'general.version=1.0', 'general.tags=["a"]', 'my.n:u8=7')
  using typed = await open(at('typed.gguf'))
  const types = ['llama.rope.freq_base', 'general.version', 'general.tags', 'my.n'].map((key) =>
    typed.metadata.type(key),
  )
  assert.deepEqual(types, ['f32', 'string', 'array', 'u8'])
  await works(...set, 'llama.rope.freq_base=1000000', '--type', 'f64')
  using forced = await open(at('typed.gguf'))
  assert.equal(forced.metadata.type('llama.rope.freq_base'), 'f64')
  for (const word of ['llama.context_length=-1', 'llama.rope.freq_base=1e99', 'general.alignment=many'])
    await fails(2, /is no/, ...set, word)
}) // prettier-ignore

test('text options: escapes that are decoded, and those that are refused', async () => {
  const wide = (text: string, big: boolean) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
    return big ? bytes.swap16() : bytes
  }
  const kinds: [bytes: Uint8Array, want: string | RegExp][] = [
    [Buffer.from('\u00e9\u{1f600}\n'), '\u00e9\u{1f600}\n'],
    [Buffer.from('\ufeff\u00e9'), '\u00e9'],
    [wide('\u00e9', false), '\u00e9'],
    [wide('\u00e9', true), '\u00e9'],
    [Buffer.from('caf\u00e9', 'latin1'), /no valid UTF-8 at byte 3: it may be Latin-1/],
    [Buffer.from('text', 'utf16le'), /UTF-16 without a byte order mark/],
    [Uint8Array.of(0xff, 0xfe, 0x41), /odd number of bytes/],
    [Uint8Array.of(0xff, 0xfe, 0, 0, 0x41, 0, 0, 0), /UTF-32/],
  ]
  for (const [i, [bytes, want]] of kinds.entries()) {
    writeFileSync(at('text'), bytes)
    const call = ['set', 'small.gguf', '--file', 'tokenizer.chat_template=text', '-o', `text-${i}.gguf`]
    if (want instanceof RegExp) {
      await fails(1, want, ...call)
      // Other options with a text file use the same function.
      await fails(1, want, 'run', 'small.gguf', 'x', '--grammar', 'text')
      continue
    }
    await works(...call)
    using file = await open(at(`text-${i}.gguf`))
    assert.equal(file.metadata.get('tokenizer.chat_template'), want)
  }
})
