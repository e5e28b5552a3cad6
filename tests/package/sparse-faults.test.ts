// The sparse preview with failing requests: the correct tensor table or a clear error, never a wrong table.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import type { Faults } from '../server/faults.ts'
import { startServer } from '../server/server.ts'
import { loadPackage } from './packed.ts'
import { assertSame } from './same.ts'

const { open, GgufError } = await loadPackage()
const server = await startServer()
after(() => server.close())

// Every kind of fault at every stage: in the first bytes, in the first samples, in the last window.
const broken: [what: string, faults: Faults][] = [
  ['cut before the header', { cut: -1, times: 1 }],
  ['cut in the body', { cut: 1500, times: 1 }],
  ['always cut after a while', { cut: 20_000 }],
  ['a stall', { stall: 1000, times: 1 }],
  ['503', { status: 503, times: 2 }],
  ['429 with Retry-After', { status: 429, retryAfter: '0', times: 1 }],
  ['short ranges', { shorten: 3000 }],
  ['ranges refused from now on', { ranges: 'refused' }],
  ['ranges ignored from now on', { ranges: 'off' }],
  ['another file from now on', { replace: '/other.gguf' }],
  ['another validator each time', { etag: 'each' }],
  ['a page from now on', { html: true }],
  ['gone', { status: 404 }],
  ['a start that was not asked for', { contentRange: 'start' }],
]

test('faults at any moment: the right table or a clear error, and an end', async () => {
  const model = previewModel({ ...kPreviewShapes[3]!, tokens: 20_000, merges: 19_000, blocks: 8 })
  const written = writeHeader(model)
  server.add('/faulty.gguf', sparseContent(written.header, written.size))
  server.add(
    '/other.gguf',
    sparseContent(
      written.header.map((byte, i) => (i > 100_000 ? byte ^ 1 : byte)),
      written.size,
    ),
  )
  const told = new Map<string, number>()
  let retries = 0
  for (const [what, faults] of broken) {
    for (const after of kAll ? [0, 1, 5, 8] : [1, 8]) {
      for (const preview of after === 1 ? (['sparse', 'auto'] as const) : (['sparse'] as const)) {
        server.plan('/faulty.gguf', { after, ...faults })
        server.reset()
        try {
          using file = await open(`${server.url}/faulty.gguf`, {
            preview,
            timeout: 300,
            onProgress: ({ retry }) => (retries += retry ? 1 : 0),
          })
          assertSame(file, model, written.offsets, true)
          await file.completeHeader()
          assertSame(file, model, written.offsets, after === 8)
          told.set('right', (told.get('right') ?? 0) + 1)
        } catch (error) {
          assert.ok(error instanceof GgufError, `${what} after ${after}: ${String(error)}`)
          assert.notEqual(error.code, 'preview-mismatch', what)
          told.set(error.code, (told.get(error.code) ?? 0) + 1)
        }
        // A retry that does not help is not repeated for ever.
        assert.ok(server.counts('/faulty.gguf').requests < 5000, `${what} after ${after}`)
      }
    }
  }
  console.log(`# ${JSON.stringify(Object.fromEntries(told))}, ${retries} retries`)
  assert.ok(told.get('right')! > (kAll ? 40 : 20), JSON.stringify([...told]))
  assert.ok(told.has('file-changed') && told.has('no-such-file'))
})

test('one request in a hundred fails: all is right', async () => {
  const shaky = await startServer({ seed: 11 })
  const model = previewModel({ ...kPreviewShapes[2]!, tokens: 12_000 })
  const written = writeHeader(model)
  shaky.add('/shaky.gguf', sparseContent(written.header, written.size))
  shaky.plan('/shaky.gguf', { status: 502, probability: 0.01 }, { cut: 700, probability: 0.01 })
  let retries = 0
  for (let round = 0; round < 60; round++) {
    using file = await open(`${shaky.url}/shaky.gguf`, {
      preview: 'sparse',
      onProgress: ({ retry }) => (retries += retry ? 1 : 0),
    })
    assert.equal(file.tensors.at(-1)!.offset, written.offsets.at(-1))
    await file.completeHeader()
    if (round % 20 === 0) assertSame(file, model, written.offsets, true)
  }
  const { requests } = shaky.counts()
  console.log(`# ${requests} requests, ${retries} retries`)
  assert.ok(retries > 0 && retries < requests / 10)
  await shaky.close()
})
