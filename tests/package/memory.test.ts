// Importing the package starts nothing. Opening many files leaks no wasm memory, even if opening fails or is aborted.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { LazyArray } from 'ggufscope'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { loadPackage, packedFile } from './packed.ts'

const memories: WebAssembly.Memory[] = []
const memoriesOf = (instance: WebAssembly.Instance) =>
  Object.values(instance.exports).filter((value) => value instanceof WebAssembly.Memory)
const { instantiate } = WebAssembly
WebAssembly.instantiate = (async (module: WebAssembly.Module, imports?: WebAssembly.Imports) => {
  const instance = await (
    instantiate as unknown as (
      m: WebAssembly.Module,
      i?: WebAssembly.Imports,
    ) => Promise<WebAssembly.Instance>
  )(module, imports)
  memories.push(...memoriesOf(instance))
  return instance
}) as unknown as typeof WebAssembly.instantiate
WebAssembly.Instance = class extends WebAssembly.Instance {
  constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
    super(module, imports)
    memories.push(...memoriesOf(this))
  }
}
const { open } = await loadPackage()
const { header } = writeHeader(previewModel(kPreviewShapes[2]!))
const heap = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)

test('the heap does not grow over 200 opened, truncated and aborted files', async () => {
  const once = async (i: number) => {
    const file = await open(header)
    assert.equal((file.metadata.get('tokenizer.ggml.tokens') as LazyArray).slice(31_000, 31_010).length, 10)
    assert.equal(file.tensors.length, 291)
    file.close()
    await assert.rejects(open(header.subarray(0, header.length - 50 - i)))
    const controller = new AbortController()
    const stream = async function* () {
      yield header.subarray(0, 500_000)
      controller.abort()
      yield header.subarray(500_000)
    }
    await assert.rejects(open({ read: async () => header, stream }, { signal: controller.signal }), {
      name: 'AbortError',
    })
  }
  for (let i = 0; i < 5; i++) await once(i)
  const before = heap()
  assert.equal(memories.length, 1)
  assert.ok(before > 0)
  for (let i = 0; i < 200; i++) await once(i)
  assert.equal(heap(), before)
})

test('using closes the file', async () => {
  let closes = 0
  {
    using file = await open({
      size: header.length,
      read: async (offset, length) => header.subarray(offset, offset + length),
      close: () => closes++,
    })
    assert.equal(file.version, 3)
  }
  assert.equal(closes, 1)
  await assert.rejects(open({ size: 3, read: async () => new Uint8Array(3), close: () => closes++ }))
  assert.equal(closes, 2)
})

test('importing starts nothing: no request, no wasm, no worker, no timer', () => {
  const program = `
    const seen = []
    for (const name of ['fetch', 'Worker', 'setTimeout', 'setInterval']) globalThis[name] = () => seen.push(name)
    for (const name of ['compile', 'instantiate', 'compileStreaming', 'instantiateStreaming']) WebAssembly[name] = () => seen.push(name)
    WebAssembly.Module = WebAssembly.Instance = WebAssembly.Memory = class { constructor() { seen.push('WebAssembly') } }
    const before = Object.keys(globalThis).join()
    await import(${JSON.stringify(pathToFileURL(packedFile('wasm/dist/index.js')).href)})
    if (Object.keys(globalThis).join() !== before) seen.push('globals')
    console.log(JSON.stringify(seen))`
  assert.equal(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).trim(),
    '[]',
  )
})
