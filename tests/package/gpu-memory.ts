// A model with more weights than WebAssembly addresses: they pass through the engine's memory in parts. gpu.test.ts runs
// this file in a process in which WebGPU finds SwiftShader: what the device has is memory of this process, too.
import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { tensorBytes, writeHeader } from '../fixtures/gguf.ts'
import { u32 } from '../fixtures/models.ts'
import { kLong } from '../fixtures/short.ts'
import { gaussian, llamaModel } from '../fixtures/synthetic.ts'
import { askWorker, kOptions, withWorker } from './gpu-loading.ts'
import { loadNodePackage } from './packed.ts'

// Node's openAsBlob knows sizes of 32 bits.
const { load } = await loadNodePackage()

const kShape = {
  name: 'wide',
  width: 1024,
  blocks: 1,
  heads: 16,
  kvHeads: 16,
  feedForward: 1024,
  vocabulary: 512,
}
const kPrompt = [300, 310, 320]

const folder = mkdtempSync(join(tmpdir(), 'gpu-memory-'))
after(() => rmSync(folder, { recursive: true }))

/**
 * A llama of floats with experts, of which a token reads few. Only the embeddings, the attention of the last block and the
 * output are not zero: with more blocks and experts, it computes the same.
 */
function llamaFile(blocks: number, experts: number): string {
  const path = join(folder, `${blocks}.gguf`)
  const { metadata, tensors } = llamaModel({ ...kShape, blocks }, 'F16')
  const all = tensors!.flatMap(({ name, shape }) => {
    const isExpert = name.includes('.ffn_') && shape.length === 2
    const one = isExpert
      ? { name: name.replace('.weight', '_exps.weight'), shape: [...shape, experts] }
      : { name, shape }
    // Beside the expert's first matrix, the one that chooses it.
    const router = { name: name.replace('ffn_gate', 'ffn_gate_inp'), shape: [kShape.width, experts] }
    return [one, ...(name.includes('ffn_gate') ? [router] : [])].map((each) => ({ ...each, type: 'F32' }))
  })
  all.push({ name: 'output.weight', shape: [kShape.width, kShape.vocabulary], type: 'F32' })
  const keys = [
    ['llama.expert_count', u32(experts)],
    ['llama.expert_used_count', u32(2)],
  ] as const
  const { header, offsets, size } = writeHeader({ metadata: [...metadata!, ...keys], tensors: all })
  const file = openSync(path, 'w')
  writeSync(file, header)
  const filled = ['token_embd', 'attn_v', 'attn_output', 'output'].map((name) => `${name}.weight`)
  for (const [i, tensor] of all.entries()) {
    const [, block = blocks - 1, name] = /^(?:blk\.(\d+)\.)?(.*)$/.exec(tensor.name)!
    const isNorm = tensor.shape.length === 1
    if (Number(block) !== blocks - 1 || (!isNorm && !filled.includes(name!))) continue
    const values = tensorBytes(tensor) / 4
    const floats = isNorm
      ? new Float32Array(values).fill(1)
      : gaussian(values, 1 / Math.sqrt(kShape.width), filled.indexOf(name!) + 1)
    writeSync(file, new Uint8Array(floats.buffer), 0, floats.byteLength, offsets[i]!)
  }
  ftruncateSync(file, size)
  closeSync(file)
  return path
}

async function tokensOf(path: string, options: Parameters<typeof load>[1]): Promise<number[]> {
  using model = await load(path, options)
  const tokens: number[] = []
  for await (const { token } of model.generate(kPrompt, { temperature: 0, maxTokens: 3, ignoreEnd: true }))
    tokens.push(token)
  return tokens
}

test('a file of more than 4 GiB is uploaded with a tenth of it beside it', { skip: kLong }, async (t) => {
  const small = llamaFile(1, 4)
  const want = await tokensOf(small, { ...kOptions, device: 'cpu' })
  // What the first model on a device needs of the process.
  assert.deepEqual(await tokensOf(small, withWorker()), want)
  const large = llamaFile(6, 64)
  const { size } = statSync(large)
  assert.ok(size > 2 ** 32)
  const before = process.memoryUsage().rss
  using model = await load(large, withWorker())
  const grown = process.resourceUsage().maxRSS * 1024 - before
  const { bufferBytes } = (await askWorker()).now
  t.diagnostic(`file ${size}, device ${bufferBytes}, grown by ${grown} bytes`)
  assert.ok(bufferBytes >= size * 0.99)
  assert.ok(grown <= 1.1 * size, `${grown} bytes for a file of ${size}`)
  const tokens: number[] = []
  for await (const { token } of model.generate(kPrompt, { temperature: 0, maxTokens: 3, ignoreEnd: true }))
    tokens.push(token)
  assert.deepEqual(tokens, want)
  assert.equal(model.info.device, 'gpu')
})
