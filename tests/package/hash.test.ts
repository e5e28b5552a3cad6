// Hashes: those that llama-gguf-hash printed for a file of llama.cpp's example, and the same by the code for browsers.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, test } from 'node:test'
import type * as Audit from 'ggufscope/audit'
import { writeGguf } from '../fixtures/gguf.ts'
import { f32, smallModel, text, u32 } from '../fixtures/models.ts'
import { loadNodePackage, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'

const { open } = await loadNodePackage()
const load = async <Module>(name: string): Promise<Module> =>
  (await import(pathToFileURL(packedFile(`wasm/dist/${name}.js`)).href)) as Module
const { hashFile } = await load<typeof Audit>('audit/index')

const folder = mkdtempSync(join(tmpdir(), 'hash-'))
after(() => rmSync(folder, { recursive: true }))
const run = (...args: string[]) => runCli(['hash', ...args], { cwd: folder })

// The file that `llama-gguf test.gguf w` writes: tensor i has so many floats of the value 100 + i.
const kCounts = [1344, 420, 80, 147, 2, 8, 3, 192, 9, 320]
const example = writeGguf({
  metadata: [
    ['some.parameter.uint32', u32(0x12345678)],
    ['some.parameter.float32', f32(0.123456789)],
    ['some.parameter.string', text('hello world')],
  ],
  tensors: kCounts.map((count, i) => ({
    name: `tensor_${i}`,
    shape: [count],
    type: 'F32',
    data: new Uint8Array(new Float32Array(count).fill(100 + i).buffer),
  })),
})
writeFileSync(join(folder, 'test.gguf'), example)

// What the README of llama-gguf-hash shows for it.
const kRecorded = `xxh64     f66e9cd66a4396a0  test.gguf:tensor_0
sha1      59f79ecefd8125a996fdf419239051a7e99e5f20  test.gguf:tensor_0
sha256    c0510d38fa060c46265e0160a85c7243096b01dd31c2f355bdbb5516b20de1bd  test.gguf:tensor_0
xxh64     7d3a1f9ac04d0537  test.gguf:tensor_1
sha1      4765f592eacf096df4628ba59476af94d767080a  test.gguf:tensor_1
sha256    8514cbcc73692a2c56bd7a33a022edd5ff819614bd23b19915d7224387f397a7  test.gguf:tensor_1
xxh64     a0af5d700049693b  test.gguf:tensor_2
sha1      25cbfbad4513cc348e2c95ebdee69d6ff2fd8753  test.gguf:tensor_2
sha256    947e6b36e20f2cc95e1d2ce1c1669d813d574657ac6b5ac5196158d454d35180  test.gguf:tensor_2
xxh64     e83fddf559d7b6a6  test.gguf:tensor_3
sha1      a9cba73e2d90f2ee3dae2548caa42bef3fe6a96c  test.gguf:tensor_3
sha256    423b044e016d8ac73c39f23f60bf01bedef5ecb03c0230accd824c91fe86f1a1  test.gguf:tensor_3
xxh64     1257733306b7992d  test.gguf:tensor_4
sha1      d7bc61db93bb685ce9d598da89717c66729b7543  test.gguf:tensor_4
sha256    79737cb3912d4201384cf7f16a1a37ff7823f23ea796cb205b6ca361ab9e3ebf  test.gguf:tensor_4
xxh64     d238d16ba4711e58  test.gguf:tensor_5
sha1      0706566c198fe1072f37e0a5135b4b5f23654c52  test.gguf:tensor_5
sha256    60949be8298eced0ecdde64487643d018407bd261691e061d9e9c3dbc9fd358b  test.gguf:tensor_5
xxh64     3fbc3b65ab8c7f39  test.gguf:tensor_6
sha1      73922a0727226a409049f6fc3172a52219ca6f00  test.gguf:tensor_6
sha256    574f4c46ff384a3b9a225eb955d2a871847a2e8b3fa59387a8252832e92ef7b0  test.gguf:tensor_6
xxh64     c22021c29854f093  test.gguf:tensor_7
sha1      efc39cece6a951188fc41e354c73bbfe6813d447  test.gguf:tensor_7
sha256    4c0410cd3c500f078ae5b21e8dc9eb79e29112713b2ab58a882f82a3868d4d75  test.gguf:tensor_7
xxh64     936df61f5d64261f  test.gguf:tensor_8
sha1      c2490296d789a4f34398a337fed8377d943d9f06  test.gguf:tensor_8
sha256    c4401313feeba0261275c3b25bd2d8fe40ce04e0f440c2980ed0e9674c30ff01  test.gguf:tensor_8
xxh64     93fd20c64421c081  test.gguf:tensor_9
sha1      7047ce1e78437a6884337a3751c7ee0421918a65  test.gguf:tensor_9
sha256    23d57cf0d7a6e90b0b3616b41300e0cd354781e812add854a5f95aa55f2bc514  test.gguf:tensor_9
xxh64     5a54d3aad816f302  test.gguf
sha1      d15be52c4ff213e823cb6dd13af7ee2f978e7042  test.gguf
sha256    7dd641b32f59b60dbd4b5420c4b0f6321ccf48f58f6ae201a3dbc4a58a27c6e4  test.gguf
`
const kAll = ['xxh64', 'sha1', 'sha256'].flatMap((name) => ['--algorithm', name])

test('the lines are those of llama-gguf-hash', async () => {
  const all = await run('test.gguf', ...kAll)
  assert.deepEqual([all.status, all.out], [0, kRecorded])
  const lines = kRecorded.split('\n')
  const of = (name: string) => lines.filter((line) => line.startsWith(`${name} `)).join('\n') + '\n'
  assert.equal((await run('test.gguf')).out, of('xxh64'))
  const whole = await run('test.gguf', '--algorithm', 'sha256', '--no-layer')
  assert.equal(whole.out, `${lines.at(-2)}\n`)
})

test('a UUID is that of the name space of llama.cpp', async () => {
  const hash = createHash('sha1').update(Buffer.from('ef001206dadc5f6da15f3359e577d4e5', 'hex'))
  kCounts.forEach((count, i) => hash.update(new Uint8Array(new Float32Array(count).fill(100 + i).buffer)))
  const bytes = hash.digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 15) | 0x50
  bytes[8] = (bytes[8]! & 63) | 0x80
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  assert.equal((await run('test.gguf', '--algorithm', 'uuid')).out, `uuid      ${uuid}  test.gguf\n`)
})

test('a list is checked, also from another folder', async () => {
  writeFileSync(join(folder, 'list.txt'), kRecorded)
  const good = await run('test.gguf', '--check', 'list.txt')
  assert.equal(good.status, 0)
  assert.match(good.out, /^sha256 .* {2}- {2}Ok$/m)
  assert.doesNotMatch(good.out, /xxh64|Mismatch|Not Found/)
  assert.equal((await run(join(folder, 'test.gguf'), '--check', join(folder, 'list.txt'))).status, 0)
  writeFileSync(join(folder, 'changed.txt'), kRecorded.replace('7dd641b3', '7dd641b4'))
  const bad = await run('test.gguf', '--check', 'changed.txt')
  assert.equal(bad.status, 1)
  assert.match(bad.out, /test\.gguf {2}- {2}Mismatch$/m)
  writeFileSync(join(folder, 'other.gguf'), example)
  assert.equal((await run('other.gguf', '--check', 'list.txt')).status, 1)
  writeFileSync(join(folder, 'empty.txt'), 'nothing\n')
  assert.equal((await run('test.gguf', '--check', 'empty.txt')).status, 2)
})

test('the whole file has the SHA-256 of its bytes, in whatever order its tensors lie', async () => {
  for (const bytes of [example, writeGguf(smallModel())]) {
    const steps: number[] = []
    using file = await open(bytes)
    const { files } = await hashFile(file, {
      onProgress: (loaded, total) => void steps.push(loaded / total),
    })
    assert.equal(files[0]!.sha256, createHash('sha256').update(bytes).digest('hex'))
    assert.equal(steps.at(-1), 1)
  }
})

// XXH64 of libxxhash for the first n bytes of a pattern.
const kXxh64: readonly (readonly [number, string])[] = [
  [0, 'ef46db3751d8e999'],
  [1, '1de14f1a3b9f0a98'],
  [3, '428fc5e37df20453'],
  [4, '0cc39f958683d366'],
  [7, '550c786869cb4239'],
  [8, 'b51bd925f5840091'],
  [31, '0f4c48beecd7a67a'],
  [32, '7315636283f4ff75'],
  [33, '897d5994ef03f0c7'],
  [63, '8ea0518eff58283e'],
  [64, '0e2b8b1c7ed34228'],
  [100, '3b3ff649e6598e13'],
  [1000, 'efc148f68f78205d'],
]
interface Digest {
  update(bytes: Uint8Array): void
  hex(): string
}

test('the hashes of browsers, of parts of any length', async () => {
  const { Xxh64 } = await load<{ Xxh64: new () => Digest }>('audit/xxh64')
  const { Sha1 } = await load<{ Sha1: new () => Digest }>('audit/sha1')
  const pattern = Uint8Array.from({ length: 2000 }, (_, i) => (i * 31) >> 3)
  for (const [length, expected] of kXxh64)
    for (const step of [1, 5, 32, 64, 1000]) {
      const bytes = pattern.subarray(5, 5 + length)
      const [xxh64, sha1] = [new Xxh64(), new Sha1()]
      for (let at = 0; at < length; at += step)
        for (const digest of [xxh64, sha1]) digest.update(bytes.subarray(at, at + step))
      assert.equal(xxh64.hex(), expected, `${length} in steps of ${step}`)
      assert.equal(sha1.hex(), createHash('sha1').update(bytes).digest('hex'))
    }
})

test('what cannot be hashed is an error; a call can be aborted', async () => {
  using cut = await open(example.subarray(0, example.length - 64))
  await assert.rejects(hashFile(cut), { code: 'truncated' })
  using file = await open(example)
  await assert.rejects(hashFile(file, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  const stop = new AbortController()
  await assert.rejects(hashFile(file, { signal: stop.signal, onProgress: () => stop.abort() }), {
    name: 'AbortError',
  })
  await assert.rejects(hashFile(file, { algorithm: 'md5' as 'sha1' }), { code: 'invalid-argument' })
  await assert.rejects(hashFile({} as typeof file), { code: 'invalid-argument' })
})
