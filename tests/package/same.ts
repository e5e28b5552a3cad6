// Compares an opened file with the model that it was written from.
import assert from 'node:assert/strict'
import type { GgufFile, LazyArray } from 'ggufscope'
import type { Model } from '../fixtures/gguf.ts'

/** Compares keys and tensors. elements: also compares the elements of loaded arrays. */
export function assertSame(
  file: GgufFile,
  { metadata = [], tensors = [] }: Model,
  offsets: readonly number[],
  elements: boolean,
): void {
  assert.deepEqual(
    file.tensors.map(({ name, shape, type, offset }) => ({ name, shape, type, offset })),
    tensors.map(({ name, shape, type }, i) => ({ name, shape, type, offset: offsets[i] })),
  )
  assert.deepEqual(
    [...file.metadata.keys()],
    metadata.map(([key]) => key),
  )
  for (const [key, value] of metadata) {
    const got = file.metadata.get(String(key))
    if (value.type !== 'array') {
      const wanted = typeof value.value === 'bigint' ? Number(value.value) : value.value
      assert.equal(got, value.type === 'f32' ? Math.fround(Number(wanted)) : wanted)
      continue
    }
    const lazy = got as LazyArray
    assert.equal(lazy.length, value.value.length, String(key))
    assert.equal(lazy.type, value.of)
    if (elements && lazy.loaded) assert.deepEqual(lazy.slice(), value.value)
  }
}
