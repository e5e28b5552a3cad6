// Split models, truncated and damaged files: opening, findings, and refused writes.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { shards, smallModel, text, u32 } from '../fixtures/models.ts'
import { startServer } from '../server/server.ts'
import { loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const folder = mkdtempSync(join(tmpdir(), 'sets-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const model = smallModel()
const whole = writeGguf(model)
const names = model.tensors!.map(({ name }) => name)
const parts = shards(model, 3, 'set').map((part) => ({ name: part.name, bytes: writeGguf(part.model) }))
const file = (name: string, bytes: Uint8Array) => new File([bytes as BlobPart], name)
const set = (change: (files: Uint8Array[]) => void = () => {}, called = (i: number) => parts[i]!.name) => {
  const files = parts.map(({ bytes }) => bytes)
  change(files)
  return files.map((bytes, i) => file(called(i), bytes))
}
const other = ['one.gguf', 'two.gguf', 'three.gguf']

test('faults of a set are reported, and writing it is refused', async () => {
  const keyed = (key: string, value: number) => {
    const part = shards(model, 3, 'set')[2]!.model
    return writeGguf({
      ...part,
      metadata: part.metadata!.map(([name, one]) => [name, name === key ? u32(value) : one]),
    })
  }
  const wrong: [change: (files: Uint8Array[]) => void, code: string, message: RegExp, refused: string][] = [
    [(f) => (f[2] = f[1]!), 'split-number', /set-00003-of-00003\.gguf is shard 3, but its split\.no is 1, not 2/, 'unsupported'],
    [(f) => (f[2] = f[1]!), 'duplicate-tensor', /is in shard 2 already/, 'unsupported'],
    [(f) => (f[2] = keyed('split.count', 4)), 'split-count', /split\.count is 4/, 'unsupported'],
    [(f) => (f[2] = keyed('split.tensors.count', 7)), 'split-tensors', /set-00003-of-00003\.gguf .* split\.tensors\.count is 7, not 6/, 'unsupported'],
    [(f) => (f[1] = f[1]!.slice(0, -8)), 'data-truncated', /set-00002-of-00003\.gguf is cut/, 'truncated'],
    [(f) => (f[2] = writeGguf({ ...shards(model, 3, 'set')[2]!.model, tensors: [] })), 'split-tensors', /the shards have 4/, 'unsupported'],
  ] // prettier-ignore
  for (const [change, code, message, refused] of wrong) {
    using opened = await open(set(change))
    const found = (await opened.damage()).filter((one) => one.level !== 'note' && one.code === code)
    assert.match(found[0]?.message ?? code, message)
    if (code !== 'data-truncated')
      assert.ok(
        opened.lint().some((one) => one.code === code),
        code,
      )
    await assert.rejects(opened.edit(), { code: refused, message: /damaged/ }, code)
    await (await opened.edit({ allowDamaged: true })).build()
  }
  // llama.cpp reads only the counts of the first shard, so the levels are the same here.
  const level = async (change: (files: Uint8Array[]) => void, code: string) => {
    using opened = await open(set(change))
    return (await opened.damage()).find((one) => one.code === code)?.level
  }
  assert.equal(await level((f) => (f[2] = keyed('split.count', 4)), 'split-count'), 'spec')
  assert.equal(await level((f) => (f[2] = f[1]!), 'split-number'), 'error')
  using sound = await open(set())
  assert.deepEqual(await sound.damage(), [])
})

test('shards of any names, given together in any order', async () => {
  const files = set(undefined, (i) => other[i]!)
  using opened = await open([files[2]!, files[0]!, files[1]!])
  assert.deepEqual(
    opened.shards.map(({ name }) => name),
    other,
  )
  assert.deepEqual(await (await (await opened.edit()).build()).bytes(), whole)
  await assert.rejects(open([files[0]!, files[2]!]), { code: 'missing-shard', message: /shard 2/ })
  using partial = await open([files[2]!, files[0]!], { allowMissingShards: true })
  assert.deepEqual(
    partial.shards.map(({ present }) => present),
    [true, false, true],
  )
  assert.match((await partial.damage())[0]!.message, /shard 2/)
  await assert.rejects(
    open([files[1]!, file('copy.gguf', parts[1]!.bytes)]),
    /copy\.gguf both say that they are shard 2/,
  )
  await assert.rejects(open([files[1]!, file('other.gguf', whole)]), /other\.gguf says nothing of a split/)
})

test('an error names the file of several that has it', async () => {
  for (const [bytes, called] of [[new Uint8Array(), 1], [parts[0]!.bytes.slice(0, 300), 0], [whole.slice(8), 2]] as const) {
    const files = set((all) => (all[called] = bytes))
    await assert.rejects(open(files), { message: new RegExp(`^${parts[called]!.name}: `) })
    const renamed = set((all) => (all[called] = bytes), (i) => other[i]!)
    await assert.rejects(open(renamed), { message: new RegExp(`^${other[called]}: `) })
  }
}) // prettier-ignore

test('a truncated file: the available bytes are reported; zeros replace the rest if data must move', async () => {
  using cut = await open(whole.slice(0, -40))
  const [found] = await cut.damage()
  assert.equal(found?.code, 'data-truncated')
  assert.match(found.message, /1 of 6 tensors is not whole/)
  await assert.rejects(cut.edit(), { code: 'truncated' })
  const built = await (await cut.edit({ allowDamaged: true })).removeTensor(names[0]!).build()
  using padded = await open(await built.bytes())
  assert.deepEqual(await padded.damage(), [])
  const last = names.at(-1)!
  const want = model.tensors!.at(-1)!.data!.slice()
  const there = whole.length - 40 - cut.tensor(last)!.offset
  assert.deepEqual(await padded.read(last), want.fill(0, there))
  // Only the header is rewritten, so the file stays truncated at the same place.
  const same = await (await cut.edit({ allowDamaged: true })).set('general.name', 'x').build()
  using still = await open(await same.bytes())
  assert.equal((await still.damage())[0]?.code, 'data-truncated')
})

test('bytes after the data are reported', async () => {
  const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0)
  const tar = new Uint8Array(1024)
  tar.set(new TextEncoder().encode('ustar'), 257)
  const kinds: [bytes: Uint8Array, message: RegExp][] = [
    [zip, /6 bytes follow .* a ZIP archive/],
    [tar, /a tar archive/],
    [whole, /another GGUF file/],
    [new Uint8Array(64), /zeros/],
    [Uint8Array.of(1, 2, 3), /no known kind/],
  ]
  for (const [bytes, message] of kinds) {
    using opened = await open(new Uint8Array([...whole, ...bytes]))
    const found = await opened.damage()
    assert.deepEqual(found.map(({ level, code, offset }) => [level, code, offset]), [['note', 'trailing-data', whole.length]]) // prettier-ignore
    assert.match(found[0]!.message, message)
  }
  const joined = new Uint8Array(parts.flatMap(({ bytes }) => [...bytes]))
  await assert.rejects(open(joined), {
    code: 'missing-shard',
    message: /concatenation of the files of a split model/,
  })
})

test('parts of a file that was split at arbitrary bytes are joined', async () => {
  const cuts = [0, whole.length - 300, whole.length - 100, whole.length]
  const cut = (i: number) => whole.slice(cuts[i], cuts[i + 1])
  await using server = await startServer()
  for (const [i, letter] of ['a', 'b', 'c'].entries()) {
    server.add(`/m.gguf.part${i + 1}of3`, cut(i))
    writeFileSync(at(`m.gguf.part${i + 1}of3`), cut(i))
    writeFileSync(at(`l.gguf-split-${letter}`), cut(i))
  }
  const files = [0, 1, 2].map((i) => file(`m.gguf.part${i + 1}of3`, cut(i)))
  const given = [
    at('m.gguf.part1of3'),
    at('m.gguf.part3of3'),
    at('l.gguf-split-b'),
    `${server.url}/m.gguf.part2of3?download=true`,
    [files[2]!, files[0]!, files[1]!],
  ]
  for (const one of given) {
    using opened = await open(one as string)
    assert.match(opened.name!, /^[ml]\.gguf$/)
    assert.deepEqual(await (await (await opened.edit()).build()).bytes(), whole)
    for (const { name, data } of model.tensors!) assert.deepEqual(await opened.read(name), data)
  }
  await assert.rejects(open([files[0]!, files[2]!]), {
    code: 'missing-shard',
    message: /part2of3 is missing/,
  })
  using partial = await open(files[0]!, { allowMissingShards: true })
  assert.equal((await partial.damage())[0]?.code, 'data-truncated')
})

test('shards open by an address with a query', async () => {
  await using server = await startServer()
  for (const { name, bytes } of parts) server.add(`/${name}`, bytes)
  using opened = await open(`${server.url}/${parts[1]!.name}?download=true`)
  assert.deepEqual(opened.shards.map(({ name }) => name), parts.map(({ name }) => name)) // prettier-ignore
  await assert.rejects(opened.edit({ shard: 3 }), /no shard 3: the model has 3, from 0/)
})

test('addresses that name no file are errors that show the right form', async () => {
  for (const address of [
    'hf:owner/name',
    'https://huggingface.co/owner/name',
    'https://huggingface.co/owner/name/tree/main',
  ])
    await assert.rejects(open(address), { code: 'invalid-argument', message: /hf:owner\/name\/file\.gguf/ })
})

test('duplicate keys; every call fails after close()', async () => {
  const opened = await open(
    writeGguf({ metadata: [['a.b', u32(1)], ['a.c', text('x')], ['a.b', u32(2)], ['a.b', text('y')]] }),
  ) // prettier-ignore
  const { metadata } = opened
  assert.equal(metadata.get('a.b'), 1)
  assert.deepEqual(
    metadata.repeated.map(({ key, type, value }) => [key, type, value]),
    [['a.b', 'u32', 2], ['a.b', 'string', 'y']],
  ) // prettier-ignore
  opened.close()
  const late = [
    () => metadata.get('a.b'),
    () => metadata.get('none'),
    () => metadata.has('a.b'),
    () => metadata.type('a.b'),
    () => [...metadata],
    () => metadata.repeated,
  ]
  for (const call of late) assert.throws(call, { name: 'GgufError', code: 'closed' })
})
