// The generated models, read by a reader that is independent of the writer.
import assert from 'node:assert/strict'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gguf } from '@huggingface/gguf'
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import type { Model } from '../fixtures/gguf.ts'
import { hugeModel, kPreviewShapes, previewModel, shards, smallModel } from '../fixtures/models.ts'

const folder = mkdtempSync(join(tmpdir(), 'fixtures-'))
after(() => rmSync(folder, { recursive: true }))

async function read(bytes: Uint8Array) {
  const path = join(folder, 'x.gguf')
  writeFileSync(path, bytes)
  return gguf(path, { allowLocalFile: true })
}

const models: [string, Model][] = [
  ['v1', smallModel({ version: 1 })],
  ['v2', smallModel({ version: 2 })],
  ['v3', smallModel()],
  ['big-endian', smallModel({ bigEndian: true })],
  ['alignment 64', smallModel({ alignment: 64 })],
  ...kPreviewShapes.slice(2, 3).map((shape): [string, Model] => [shape.name, previewModel(shape)]),
  ...shards(smallModel(), 3, 'x').map((shard): [string, Model] => [shard.name, shard.model]),
]
for (const [name, model] of models) {
  test(`generated: ${name}`, async () => {
    const written = writeHeader(model)
    const bytes = model.tensors?.some((tensor) => tensor.data) ? writeGguf(model) : written.header
    const { metadata, tensorInfos, tensorDataOffset } = await read(bytes)
    assert.equal(metadata.version, model.version ?? 3)
    for (const [key, value] of model.metadata!) {
      const got = (metadata as Record<string, unknown>)[String(key)]
      if (value.type !== 'array') {
        if (value.type === 'f32' && typeof got === 'number')
          assert.ok(Object.is(got, Math.fround(Number(value.value))), String(key))
        else
          assert.equal(
            typeof value.value === 'bigint' ? BigInt(got as number) : got,
            value.value,
            String(key),
          )
      } else assert.equal((got as unknown[]).length, value.value.length, String(key))
    }
    assert.deepEqual(
      tensorInfos.map((t) => [t.name, t.shape.map(Number), Number(t.offset) + Number(tensorDataOffset)]),
      model.tensors!.map((t, i) => [t.name, t.shape, written.offsets[i]]),
    )
  })
}

test('sizes', () => {
  const { header, size } = writeHeader(hugeModel())
  assert.ok(size > 39e9 && size < 41e9 && header.length < 100_000)
})
