// The device of a model that the command line, its server and the AI SDK's provider load. gpu.test.ts runs this file in a
// process in which WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { embed, generateText } from 'ai'
import type * as Ai from 'ggufscope/ai'
import { engine, textOf } from './engine.ts'
import { kOptions, kSoftware } from './gpu-loading.ts'
import { packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'
import { serving } from './serving.ts'
import { smallLlama } from './small-llama.ts'

const { createGgufscope } = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof Ai

const kPrompt = 'once upon a time'
const bytes = await smallLlama()
const folder = mkdtempSync(join(tmpdir(), 'device-'))
after(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'small.gguf')
writeFileSync(path, bytes)

const cpu = await engine.load(bytes, kOptions)
after(() => cpu.close())
const kAnswer = await textOf(cpu.generate(kPrompt, { temperature: 0, maxTokens: 3 }))

const kExact = ['--precision', 'exact', '--cache-type', 'f32', '--context', '128']
const kOnSoftware = ['--device', 'gpu', '--allow-fallback-adapter']
/** Variables with which a process finds no driver. */
const kNoDriver = { VK_DRIVER_FILES: '/none.json', VK_ICD_FILENAMES: '/none.json' }

test('the command line takes the device', async () => {
  const run = (options: readonly string[], env?: Readonly<Record<string, string>>) =>
    runCli(['run', path, kPrompt, '--temperature', '0', '--max-tokens', '3', ...kExact, ...options], { env })
  const refused = await run(['--device', 'gpu'])
  assert.equal(refused.status, 1)
  assert.match(refused.err, /Only software/)
  const gpu = await run(kOnSoftware)
  assert.equal(gpu.status, 0, gpu.err)
  assert.ok(gpu.out.includes(kAnswer), gpu.out)
  assert.match(gpu.out, /GPU google swiftshader/)
  const auto = await run(['--device', 'auto'])
  assert.equal(auto.status, 0, auto.err)
  assert.match(auto.err, /on the CPU: Only software/)
  // No adapter at all.
  const none = await run(kOnSoftware, kNoDriver)
  assert.equal(none.status, 1)
  assert.match(none.err, /No graphics card/)
  const without = await run(['--device', 'auto'], kNoDriver)
  assert.equal(without.status, 0, without.err)
  assert.ok(without.out.includes(kAnswer), without.out)
  assert.match(without.err, /on the CPU: No graphics card/)
})

interface Listed {
  readonly data: readonly { readonly meta: { readonly device: string; readonly device_reason: string } }[]
}

/** What a server answers, and where it says that its model runs. */
const served = (options: readonly string[]) =>
  serving(path, [...kExact, ...options], async (post, url) => {
    const response = await post('/v1/completions', { prompt: kPrompt, temperature: 0, max_tokens: 3 })
    const { choices } = (await response.json()) as { choices: { text: string }[] }
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as Listed
    const { device, device_reason: reason } = data[0]!.meta
    return { text: choices[0]!.text, device, reason }
  })

test('a server takes the device, and says which one it is', async () => {
  assert.deepEqual(await served(kOnSoftware), { text: kAnswer, device: 'gpu', reason: 'Requested.' })
  const auto = await served(['--device', 'auto'])
  assert.deepEqual([auto.text, auto.device], [kAnswer, 'cpu'])
  assert.match(auto.reason, /Only software/)
  const refused = await runCli(['serve', path, '--port', '0', '--device', 'gpu'])
  assert.equal(refused.status, 1)
  assert.match(refused.err, /Only software/)
})

test("the AI SDK's provider answers with a model on the device, or with why it cannot be there", async () => {
  using model = await engine.load(bytes, kSoftware)
  const gguf = createGgufscope({
    gpu: model,
    card: () => engine.load(bytes, { ...kOptions, device: 'gpu' }),
    cpu,
  })
  const ask = { prompt: kPrompt, temperature: 0, maxOutputTokens: 3, maxRetries: 0 }
  const [gpu, other] = await Promise.all(
    ['gpu', 'cpu'].map((name) => generateText({ ...ask, model: gguf(name) })),
  )
  assert.equal(gpu!.text, other!.text)
  assert.ok(gpu!.text.length > 0)
  const [vector, want] = await Promise.all(
    ['gpu', 'cpu'].map((name) => embed({ model: gguf.embeddingModel(name), value: kPrompt })),
  )
  assert.ok(vector!.embedding.every((value, i) => Math.abs(value - want!.embedding[i]!) < 1e-4))
  assert.equal(model.info.device, 'gpu')
  await assert.rejects(generateText({ ...ask, model: gguf('card') }), {
    code: 'no-device',
    message: /Only software/,
  })
})
