// Whether an opened file says what its model says.
import assert from 'node:assert/strict'
import type { GgufFile, LazyArray } from 'ggufscope'
import type { Model } from '../fixtures/gguf.ts'

/** With elements: also those of the arrays that are loaded. */
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
