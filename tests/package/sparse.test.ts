// The sparse preview: it never shows a wrong tensor table, for any header, and reads what it left out on demand.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { ByteSource, LazyArray, Scalar } from 'ggufscope'
import { writeGguf, writeHeader, type Written } from '../fixtures/gguf.ts'
import { randomLayout } from '../fixtures/layouts.ts'
import { kPreviewShapes, makeTokens, previewModel, shards, smallModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseByte, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { until } from '../fixtures/until.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadPackage } from './packed.ts'
import { assertSame } from './same.ts'

const { open } = await loadPackage()
const server = await startServer()
after(() => server.close())

const kWrongEntries = 8
const kNothing = new Uint8Array(1 << 16)
const kNoise = Uint8Array.from({ length: 1 << 16 }, (_, i) => sparseByte(i))

/** A source of a header, followed by zeros or random-looking bytes. It counts the bytes that are read. */
function sourceOf({ header, size }: Written, zeros = false): ByteSource & { bytes: number } {
  const noise = zeros ? kNothing : kNoise
  const source = {
    size,
    bytes: 0,
    read: async (offset: number, length: number) => {
      source.bytes += length
      const bytes = new Uint8Array(length)
      for (let at = 0; at < length; at += noise.length)
        bytes.set(noise.subarray(0, Math.min(noise.length, length - at)), at)
      bytes.set(header.subarray(offset, offset + length))
      return bytes
    },
    async *stream(offset: number) {
      for (let at = offset; at < size; at += 1 << 15)
        yield await source.read(at, Math.min(1 << 15, size - at))
    },
  }
  return source
}

test('random layouts give the right table', async () => {
  const layouts = kAll ? 500 : 60
  let fallbacks = 0
  let whole = 0
  let read = 0
  for (let seed = 1; seed <= layouts; seed++) {
    const model = randomLayout(seed)
    const written = writeHeader(model)
    const source = sourceOf(written, seed % 3 === 0)
    using file = await open(source, { preview: 'sparse' })
    assertSame(file, model, written.offsets, seed % 10 === 0)
    assert.equal(file.endianness, model.bigEndian ? 'big' : 'little')
    if (file.complete && written.header.length > 200_000) fallbacks++
    whole += written.header.length
    read += source.bytes
    if (seed % 10 !== 0) continue
    await file.completeHeader()
    assert.equal(file.complete, true)
    assertSame(file, model, written.offsets, true)
  }
  console.log(
    `# ${fallbacks} of ${layouts} read whole; ${(read / 1e6).toFixed(1)} MB read of ${(whole / 1e6).toFixed(1)} MB`,
  )
  assert.ok(fallbacks <= Math.max(3, layouts / 50), `${fallbacks} fallbacks`)
})

test('values that were not fetched throw until they are read', async () => {
  const model = previewModel(kPreviewShapes[2]!)
  const written = writeHeader(model)
  const source = sourceOf(written)
  using whole = await open(sourceOf(written))
  using file = await open(source, { preview: 'sparse' })
  assert.equal(file.complete, false)
  assert.ok(file.bytesRead < written.header.length / 2)
  assert.deepEqual(file.tensors, whole.tensors)
  assert.deepEqual(file.summary(), whole.summary())
  assert.equal(file.dataOffset, whole.dataOffset)

  const tokens = file.metadata.get('tokenizer.ggml.tokens') as LazyArray<string>
  const scores = file.metadata.get('tokenizer.ggml.scores') as LazyArray<number>
  assert.equal(tokens.length, 32_000)
  assert.equal(tokens.loaded, false)
  for (const use of [
    () => tokens.at(5),
    () => tokens.slice(0, 1),
    () => tokens.bytesAt(0),
    () => scores.toTypedArray(),
    () => [...scores],
    () => file.lint(),
    () => file.tokenizer(),
    () => file.chatTemplates,
  ])
    assert.throws(use, { name: 'GgufError', code: 'incomplete', message: /await/ })

  const before = source.bytes
  await scores.load()
  assert.ok(source.bytes - before < 4 * 32_000)
  assert.deepEqual(scores.toTypedArray().slice(0, 3), Float32Array.of(-0, -1, -2))
  assert.equal(tokens.loaded, false)
  assert.throws(() => file.lint(), { code: 'incomplete' })

  // A conversation needs the vocabulary: it is read.
  const wholePrompt = await whole.renderChat([{ role: 'user', content: 'Hi' }])
  assert.equal(await file.renderChat([{ role: 'user', content: 'Hi' }]), wholePrompt)
  assert.equal(file.complete, true)
  assert.deepEqual(file.lint(), whole.lint())
  assert.deepEqual(tokens.slice(), (whole.metadata.get('tokenizer.ggml.tokens') as LazyArray).slice())
  assert.deepEqual(file.tokenizer().encode('token'), whole.tokenizer().encode('token'))
  await file.completeHeader()
  assert.ok(file.bytesRead <= source.bytes)
})

test('a vocabulary seen before takes few reads and is verified', async () => {
  const shape = { ...kPreviewShapes[3]!, name: 'own', tokens: 30_000, merges: 29_000 }
  const model = previewModel(shape)
  const written = writeHeader(model)
  const counted = (one: Written) => {
    const source = sourceOf(one)
    const { read } = source
    const reads: number[] = []
    source.read = (offset, length, options) => {
      if (length !== 1 << 15) reads.push(offset)
      return read(offset, length, options)
    }
    return { source, reads }
  }
  const first = counted(written)
  using unknown = await open(first.source, { preview: 'sparse' })
  const second = counted(written)
  using known = await open(second.source, { preview: 'sparse' })
  for (const file of [unknown, known]) assertSame(file, model, written.offsets, false)
  assert.equal(known.complete, false)
  assert.ok(
    second.reads.length <= 6 && first.reads.length > 6,
    `${first.reads.length}, ${second.reads.length}`,
  )
  await known.completeHeader()
  assertSame(known, model, written.offsets, true)

  // A vocabulary with the same first words and count, but other words after them.
  const other = model.metadata!.map(([key, value]) =>
    key === 'tokenizer.ggml.tokens' && value.type === 'array' && value.of === 'string'
      ? ([
          key,
          { ...value, value: value.value.map((token, i) => (i < 2000 ? token : `${token}~${i}`)) },
        ] as const)
      : ([key, value] as const),
  )
  const changed = writeHeader({ ...model, metadata: other })
  using file = await open(sourceOf(changed), { preview: 'sparse' })
  assert.equal(file.complete, false)
  assertSame(file, { ...model, metadata: other }, changed.offsets, false)
})

test('known vocabularies of the generated table', { skip: skipWithout(kShared) }, async () => {
  for (const name of ['ggml-vocab-gpt-2', 'ggml-vocab-deepseek-llm']) {
    const bytes = readFileSync(join(kShared, 'vocab', `${name}.gguf`))
    const source = sourceOf({ header: bytes, size: bytes.length, offsets: [] })
    using file = await open(source, { preview: 'sparse' })
    assert.equal(file.complete, false)
    assert.ok(source.bytes < 70_000, `${source.bytes} bytes`)
    using whole = await open(bytes)
    assert.deepEqual([...file.metadata.keys()], [...whole.metadata.keys()])
  }
})

/**
 * A file whose 5000th token is a text of 600 kB. That text imitates the rest of the vocabulary, keys and a tensor info
 * with sizes that match the file's end.
 */
function forged(): Buffer {
  const number = (value: number, bytes: number) => {
    const out = Buffer.alloc(bytes)
    out.writeUInt32LE(value)
    return out
  }
  const string = (value: string) => Buffer.concat([number(Buffer.byteLength(value), 8), Buffer.from(value)])
  const key = (name: string, type: number, value: Buffer) =>
    Buffer.concat([string(name), number(type, 4), value])
  const tokens = makeTokens(40_000, 5, 9)
  const honest = 5000
  const keys = (template: string) =>
    Buffer.concat([
      key('tokenizer.chat_template', 8, string(template)),
      key('tokenizer.ggml.bos_token_id', 4, number(1, 4)),
    ])
  const info = (name: string, elements: number) =>
    Buffer.concat([string(name), number(1, 4), number(elements, 8), number(0, 4), number(0, 8)])
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    number(3, 4),
    number(1, 8),
    number(5, 8),
    key('general.architecture', 8, string('llama')),
    key('tokenizer.ggml.model', 8, string('bert')),
    key('tokenizer.ggml.tokens', 9, Buffer.concat([number(8, 4), number(tokens.length, 8)])),
    ...tokens.slice(0, honest).map(string),
  ])
  const padded = (length: number) => Math.ceil(length / 32) * 32
  const make = (fakeElements: number) => {
    const fake = Buffer.concat([
      ...tokens.slice(honest).map(string),
      keys('forged'),
      info('fake.weight', fakeElements),
    ])
    const real = Buffer.concat([
      Buffer.alloc(8 * (tokens.length - honest - 1)),
      keys('honest'),
      info('real.weight', 64),
    ])
    const fakeData = padded(head.length + 8 + fake.length)
    const text = Buffer.concat([fake, Buffer.alloc(fakeData - head.length - 8 - fake.length + 64)])
    const whole = Buffer.concat([head, number(text.length, 8), text, real])
    const file = Buffer.concat([whole, Buffer.alloc(padded(whole.length) - whole.length + 256)])
    return { file, elements: (file.length - fakeData) / 4 }
  }
  return make(make(0).elements).file
}

test('a forged file is detected by each of the assumptions', async () => {
  const bytes = forged()
  const source = () => sourceOf({ header: bytes, size: bytes.length, offsets: [] })
  using whole = await open(bytes)
  assert.deepEqual(
    whole.tensors.map(({ name }) => name),
    ['real.weight'],
  )
  assert.equal(whole.chatTemplates.get('default')!.text, 'honest')
  using file = await open(source(), { preview: 'sparse' })
  assert.deepEqual(
    file.tensors.map(({ name }) => name),
    ['fake.weight'],
    'the forgery does not mislead the preview: this test tests nothing',
  )
  const mismatch = { name: 'GgufError', code: 'preview-mismatch', message: /full/ }
  await assert.rejects(file.completeHeader(), mismatch)
  assert.equal(file.complete, false)
  assert.throws(() => file.lint(), { code: 'incomplete' })
  assert.throws(() => file.tokenizer(), { code: 'incomplete' })
  assert.throws(() => file.chatTemplates, { code: 'incomplete' })
  await assert.rejects(file.renderChat([{ role: 'user', content: 'Hi' }]), mismatch)
  await assert.rejects((file.metadata.get('tokenizer.ggml.tokens') as LazyArray).load(), mismatch)
})

test('files that are faster to read whole are read whole', async () => {
  const large = writeHeader(previewModel(kPreviewShapes[2]!))
  const old = writeHeader({ ...previewModel(kPreviewShapes[2]!), version: 1 })
  const smallFile = writeGguf(smallModel())
  const gap = { ...large, size: large.size + 4096 }
  for (const [what, written, tensors] of [
    ['version 1', old, 291],
    ['all in the first piece', { header: smallFile, size: smallFile.length, offsets: [] }, 6],
    ['more bytes than the tensors have', gap, 291],
  ] as [string, Written, number][]) {
    using file = await open(sourceOf(written), { preview: 'sparse' })
    assert.equal(file.complete, true, what)
    assert.equal(file.tensors.length, tensors, what)
  }
  server.add('/large.gguf', sparseContent(large.header, large.size))
  for (const faults of [{ ranges: 'off' }, { contentRange: 'star' }, { ranges: 'refused' }] as const) {
    server.plan('/large.gguf', faults)
    for (const preview of ['sparse', 'auto'] as const) {
      using file = await open(`${server.url}/large.gguf`, { preview })
      assert.equal(file.complete, true, JSON.stringify(faults))
      assert.equal(file.tensors.length, 291)
      assert.equal(file.tensors.at(-1)!.offset, large.offsets.at(-1))
    }
  }
  server.plan('/large.gguf')
  await assert.rejects(open(sourceOf({ ...large, size: 300_000 }), { preview: 'sparse' }), {
    code: 'truncated',
  })
})

/** A slow link that counts rounds. A round begins with a read while no other read is pending. */
function countedLink({ header, size }: Written) {
  const times = new Uint8Array(size < 1 << 24 ? size : header.length + (1 << 20))
  const seen = { rounds: 0, requests: 0, streams: 0, times }
  const file = sourceOf({ header, size, offsets: [] })
  let underWay = 0
  const take = async (offset: number, length: number) => {
    for (let at = offset; at < Math.min(offset + length, times.length); at++) times[at]!++
    return await file.read(offset, length, {})
  }
  const source: ByteSource = {
    size,
    read: async (offset, length) => {
      seen.requests++
      if (underWay++ === 0) seen.rounds++
      // A pause is the link's latency: reads that begin meanwhile belong to the same round.
      await setTimeout(5)
      underWay--
      return await take(offset, length)
    },
    async *stream(offset) {
      seen.streams++
      for (let at = offset; at < size; at += 1 << 13) {
        await setTimeout(10)
        yield await take(at, Math.min(1 << 13, size - at))
      }
    },
  }
  return { source, seen }
}

test('auto: a failed verification costs one round more than a search, and no byte is read twice', async () => {
  const model = previewModel({ ...kPreviewShapes[3]!, name: 'counted', tokens: 41_000, merges: 40_000 })
  const written = writeHeader(model)
  // 4096 bytes follow the last tensor: the table is found, but does not match the file's size.
  const odd = { ...written, size: written.size + 4096 }
  const failed = countedLink(odd)
  using whole = await open(failed.source, { preview: 'auto' })
  assert.equal(whole.complete, true)
  assertSame(whole, model, written.offsets, true)
  assert.equal(
    whole.bytesRead,
    failed.seen.times.reduce((sum, n) => sum + n),
  )

  const searched = countedLink(written)
  using sparse = await open(searched.source, { preview: 'auto' })
  assert.equal(sparse.complete, false)
  const counts = ({ rounds, requests, streams }: typeof failed.seen) => ({ rounds, requests, streams })
  console.log(`# ${JSON.stringify(counts(failed.seen))} and ${JSON.stringify(counts(searched.seen))}`)
  assert.ok(searched.seen.rounds <= 4)
  assert.ok(failed.seen.rounds <= searched.seen.rounds + 1)
  assert.equal(failed.seen.streams, 1)
  assert.ok(failed.seen.times.subarray(0, written.header.length).every((n) => n === 1))
  assert.ok(failed.seen.times.subarray(written.header.length).reduce((sum, n) => sum + n, 0) < 100_000)

  // Version 1 cannot be read in parts, so it is streamed completely.
  const old = countedLink(writeHeader({ ...previewModel(kPreviewShapes[2]!), version: 1 }))
  using _ = await open(old.source, { preview: 'auto' })
  assert.deepEqual(counts(old.seen), { rounds: 0, requests: 0, streams: 1 })
})

/** Changes the first letter of the first token, so that the vocabulary is unknown. */
function renamed({ header, ...rest }: Written): Written {
  const key = 'tokenizer.ggml.tokens'
  const copy = header.slice()
  const first = Buffer.from(copy.buffer).indexOf(key) + key.length + 24
  copy[first] = copy[first]! ^ 1
  return { ...rest, header: copy }
}

test('a wrong entry of a known vocabulary costs no round', async () => {
  const rounds = { wrong: 0, none: 0 }
  for (let i = 0; i < kWrongEntries; i++) {
    const shape = {
      ...kPreviewShapes[3]!,
      name: `wrong ${i}`,
      tokens: 50_000 + 9000 * i,
      merges: 49_000 + 9000 * i,
    }
    const model = previewModel(shape)
    const written = writeHeader(model)
    using _ = await open(countedLink(written).source, { preview: 'sparse' })
    // A vocabulary with the same count and first words, but other words after them. The learned layout is wrong for it.
    const metadata = model.metadata!.map(([key, value]) =>
      key === 'tokenizer.ggml.tokens' && value.type === 'array' && value.of === 'string'
        ? ([
            key,
            { ...value, value: value.value.map((token, n) => (n < 2000 ? token : `${token}~${i}`)) },
          ] as const)
        : ([key, value] as const),
    )
    const changed = writeHeader({ ...model, metadata })
    for (const [which, one] of [
      ['none', renamed(changed)],
      ['wrong', changed],
    ] as const) {
      const link = countedLink(one)
      using file = await open(link.source, { preview: 'sparse' })
      assert.equal(file.complete, false)
      rounds[which] += link.seen.rounds
    }
  }
  console.log(`# rounds of ${kWrongEntries}: ${JSON.stringify(rounds)}`)
  assert.ok(rounds.wrong <= rounds.none)
})

test('over HTTP: few requests, the keys first; auto streams where that is faster', async () => {
  const model = previewModel(kPreviewShapes[1]!)
  const { header, size, offsets } = writeHeader(model)
  const slow = await startServer({ delay: 60, bandwidth: 1e6 })
  slow.add('/gemma.gguf', sparseContent(header, size))
  for (const preview of ['sparse', 'auto'] as const) {
    slow.reset()
    const events: string[] = []
    let keys: ReadonlyMap<string, Scalar> | undefined
    using file = await open(`${slow.url}/gemma.gguf`, {
      preview,
      onKeys: (early) => {
        keys = early
        events.push('keys')
      },
      onProgress: ({ loaded }) => loaded > 100_000 && events.push('more'),
    })
    assert.equal(file.complete, false)
    assertSame(file, model, offsets, false)
    assert.ok(slow.counts().bytes < 600_000, `${slow.counts().bytes} bytes`)
    assert.ok(slow.counts().requests <= 20)
    assert.equal(events[0], 'keys')
    assert.equal(events.filter((event) => event === 'keys').length, 1)
    assert.equal(keys!.get('general.architecture'), 'llama')
    assert.equal(keys!.get('llama.embedding_length'), 1024)
    assert.ok(!keys!.has('tokenizer.ggml.tokens'))
  }
  await slow.close()

  // Four round trips of a second take longer than 0.7 MB at full speed, on a busy machine, too.
  const far = await startServer({ delay: 1000 })
  const short = writeHeader(previewModel(kPreviewShapes[2]!))
  far.add('/short.gguf', sparseContent(short.header, short.size))
  using streamed = await open(`${far.url}/short.gguf`, { preview: 'auto' })
  assert.equal(streamed.complete, true)
  assert.equal(far.counts().requests, 1)
  await far.close()

  // A small header has no long array, so the keys are reported when it is complete.
  let told = 0
  using _ = await open(writeGguf(smallModel()), { onKeys: (early) => (told = early.size) })
  assert.ok(told > 10)
})

test('shards, and a file that changes between the pieces', async () => {
  const model = previewModel(kPreviewShapes[2]!)
  for (const { name, model: part } of shards(model, 3, 'set')) {
    const { header, size } = writeHeader(part)
    server.add(`/${name}`, sparseContent(header, size))
  }
  using file = await open(`${server.url}/set-00002-of-00003.gguf`, { preview: 'sparse' })
  assert.equal(file.complete, false)
  assert.equal(file.tensors.length, 291)
  await file.completeHeader()
  assert.deepEqual(
    file.lint().filter(({ code }) => code === 'truncated'),
    [],
  )

  const large = writeHeader(model)
  server.add('/large.gguf', sparseContent(large.header, large.size))
  server.plan('/large.gguf', { replace: '/set-00001-of-00003.gguf', after: 2 })
  await assert.rejects(open(`${server.url}/large.gguf`, { preview: 'sparse' }), { code: 'file-changed' })
  const controller = new AbortController()
  server.plan('/large.gguf', { after: 1, stall: 10 })
  server.reset()
  const opening = open(`${server.url}/large.gguf`, { preview: 'sparse', signal: controller.signal })
  opening.catch(() => {})
  await until('the request that stalls', () => server.counts('/large.gguf').requests > 1)
  controller.abort(new Error('enough'))
  await assert.rejects(opening, { message: 'enough' })
})
