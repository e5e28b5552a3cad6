// Files of other writers, if they are beside the checkout, compared with @huggingface/gguf, which reads them correctly.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { GGMLQuantizationType, gguf } from '@huggingface/gguf'
import type { LazyArray, MetadataValue } from 'ggufscope'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadNodePackage } from './packed.ts'

const { open, GgufError } = await loadNodePackage()
const skip = skipWithout(kShared)

// The error code of each file of malformed/ and history/ that cannot be opened. The core's tests list those of
// hostile/.
const refused: Record<string, string> = {
  '20230728-42a152e7-example.gguf': 'bad-value-type',
  '20240206-30fef3d6-test_writer.gguf': 'bad-value-type',
  'microk-tiny.gguf': 'truncated',
  'modelaudit-legacy_model.ggml': 'bad-magic',
  'ollama-6byte-test.gguf': 'truncated',
  'oss-fuzz-llama.dict': 'bad-magic',
  'vinollama-model.gguf': 'bad-version',
  '02_version0.gguf': 'bad-version',
  '04_version_hugeBEish.gguf': 'bad-count',
  '06_n_kv_max.gguf': 'bad-count',
  '08_key_len_max.gguf': 'bad-length',
  '10_str_len_1GiB-1.gguf': 'truncated',
  '12_arr_len_9e5_str_truncated.gguf': 'truncated',
  '14_arr_nested_20000.gguf': 'nesting-too-deep',
  '16_kv_bad_type.gguf': 'bad-value-type',
  '34_dims_wrap_to_4.gguf': 'overflow',
  '36_pad_wrap_then_small.gguf': 'overflow',
  '52_truncated_header.gguf': 'truncated',
  '54_3_bytes.gguf': 'truncated',
  '62_nelem_wrap_to_0.gguf': 'overflow',
  '64_nelem_wrap_0_q8.gguf': 'overflow',
}
// Files whose names, types or duplicates a Map and that reader represent differently.
const ownWays = new Set([
  // begins with FUGG, as drafts of version 1 did
  '20230817-8548445f-ggml-vocab-llama.gguf',
  '18_dup_key.gguf',
  '60_types_43.gguf',
  '38_type_removed_4.gguf',
  '40_type_neg.gguf',
  '28_ndims_5.gguf',
])

// That reader removes byte order marks, which are tokens in some vocabularies.
const BOM = '\ufeff'
const plain = (value: MetadataValue | undefined): unknown =>
  typeof value === 'object'
    ? [...(value as LazyArray)].map(plain)
    : typeof value === 'bigint'
      ? Number(value)
      : value === BOM
        ? ''
        : value
const theirs = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(theirs) : typeof value === 'bigint' ? Number(value) : value

for (const folder of skip ? [] : ['vocab', 'history', 'misc', 'stories260K', 'malformed', 'hostile']) {
  for (const name of readdirSync(join(kShared, folder)).filter((file) => /\.(gguf|ggml|dict)$/.test(file))) {
    test(`${folder}/${name}`, async () => {
      const path = join(kShared, folder, name)
      if (refused[name]) {
        await assert.rejects(
          open(path),
          (error: Error) => error instanceof GgufError && error.code === refused[name],
        )
        return
      }
      using file = await open(path)
      if (folder === 'hostile' || folder === 'malformed' || ownWays.has(name)) return
      const other = await gguf(path, { allowLocalFile: true, typedMetadata: true })
      const keys = Object.keys(other.typedMetadata).filter(
        (key) => !['version', 'tensor_count', 'kv_count'].includes(key),
      )
      assert.deepEqual([...file.metadata.keys()], keys)
      for (const key of keys)
        assert.deepEqual(plain(file.metadata.get(key)), theirs(other.typedMetadata[key]!.value), key)
      assert.equal(file.tensors.length, other.tensorInfos.length)
      for (const [i, info] of other.tensorInfos.entries()) {
        const tensor = file.tensors[i]!
        assert.equal(tensor.name, info.name)
        assert.deepEqual(tensor.shape, info.shape.map(Number))
        assert.equal(tensor.typeId, info.dtype as number)
        if (GGMLQuantizationType[info.dtype]) assert.equal(tensor.type, GGMLQuantizationType[info.dtype])
        assert.equal(tensor.offset, Number(info.offset) + Number(other.tensorDataOffset))
      }
      const end = file.tensors[0] ? file.tensors[0].offset + file.tensors[0].byteLength : 0
      if (file.tensors[0]?.byteLength && end <= file.size!) {
        const { name: first, offset, byteLength } = file.tensors[0]
        assert.deepEqual(
          await file.read(first),
          new Uint8Array(readFileSync(path).subarray(offset, offset + byteLength)),
        )
      }
    })
  }
}

test('the real files of the tests exist', { skip }, () =>
  assert.ok(readdirSync(join(kShared, 'vocab')).length > 10),
)
