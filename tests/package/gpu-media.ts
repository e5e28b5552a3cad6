// Models with a projector on a GPU, in Node: images and audio are encoded there. gpu.test.ts runs this file in a process in which
// WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { engine, textOf } from './engine.ts'
import { askWorker, kOptions, kSoftware, withoutTimes, withWorker } from './gpu-loading.ts'
import { kVectors } from './vectors.ts'

const { load } = engine
const kGreedy: Engine.GenerateOptions = { temperature: 0, maxTokens: 4 }
const kMedia = join(kVectors, 'media')
const options = { skip: existsSync(kMedia) ? false : 'no reference vectors' }

function filesOf(name: string, kind = 'vision'): [model: Uint8Array, projector: Uint8Array] {
  const file = (of: string): Uint8Array => new Uint8Array(readFileSync(join(kMedia, kind, name, of)))
  return [file('model.gguf'), file('mmproj.gguf')]
}

function picture(width: number, height: number, seed = 7): Engine.MediaPart {
  const data = Uint8Array.from({ length: width * height * 4 }, (_, i) => (i * seed + i / (4 * width)) % 256)
  return { type: 'image', image: { width, height, data } }
}

/** Audio of so many seconds. */
function sound(seconds: number, seed = 7): Engine.MediaPart {
  const samples = Float32Array.from({ length: seconds * 16_000 }, (_, i) => Math.sin(i / seed) / 2)
  return { type: 'audio', audio: { samples, sampleRate: 16_000 } }
}

async function promptOf(model: Engine.Model, part: Engine.MediaPart): Promise<number[]> {
  const { tokens } = await model.encodeMedia(part)
  return [...model.tokenizer.encode('a'), ...tokens, ...model.tokenizer.encode('b')]
}

const submits = async (): Promise<number> => (await askWorker()).now.calls['submit'] ?? 0

// Positions on several axes, with angles and windows in the encoder; images that layers read again; images that see
// themselves in both directions.
for (const name of ['qwen2.5vl', 'qwen3vl', 'gemma3'])
  test(`the images of ${name} are encoded on the GPU`, options, async () => {
    const [bytes, projector] = filesOf(name)
    using onCpu = await load(bytes, { ...kOptions, contextLength: 256, device: 'cpu', projector })
    using gpu = await load(bytes, { ...withWorker(), contextLength: 256, projector })
    assert.equal(gpu.info.device, 'gpu')
    assert.equal(gpu.info.deviceReason, 'Requested.')
    assert.ok(gpu.info.memory.weights > onCpu.info.memory.weights / 8, 'the encoder is counted')
    const before = await submits()
    const steps: number[] = []
    const onProgress = ({ done, total }: { done: number; total: number }): number => steps.push(done / total)
    const { tokens } = await gpu.encodeMedia(picture(40, 30), { onProgress })
    assert.deepEqual((await onCpu.encodeMedia(picture(40, 30))).tokens, tokens)
    // The first step of a part and its last one are not the card's.
    assert.ok((await submits()) - before >= 2, 'layers that were submitted')
    assert.deepEqual(
      [...steps].sort((a, b) => a - b),
      steps,
    )
    assert.equal(steps.at(-1), 1)
    // The model and its encoder have kernels in common.
    assert.equal((await askWorker()).now.repeated, 0)
    const prompt = await promptOf(gpu, picture(40, 30))
    const text = await textOf(onCpu.generate(prompt, kGreedy))
    assert.equal(await textOf(gpu.generate(prompt, kGreedy)), text)
    // The image is not encoded again after the loss, whose answer is in the middle.
    const longer = [...prompt, ...tokens]
    await askWorker({ loseAfter: 2 })
    assert.equal(await textOf(gpu.generate(longer, kGreedy)), await textOf(onCpu.generate(longer, kGreedy)))
    assert.equal(gpu.info.device, 'cpu')
    assert.equal(await textOf(gpu.generate(prompt, kGreedy)), text)
  })

test('an image that is being encoded when the device is lost is encoded on the CPU', options, async () => {
  const [bytes, projector] = filesOf('qwen2vl')
  using onCpu = await load(bytes, { ...kOptions, device: 'cpu', projector })
  using gpu = await load(bytes, { ...withWorker(), projector })
  const first = await promptOf(gpu, picture(40, 30))
  await askWorker({ loseAfter: 1 })
  const prompt = [...first, ...(await promptOf(gpu, picture(60, 30, 5)))]
  assert.equal(gpu.info.device, 'cpu')
  assert.match(gpu.info.deviceReason, /lost/)
  await promptOf(onCpu, picture(40, 30))
  await promptOf(onCpu, picture(60, 30, 5))
  assert.equal(await textOf(gpu.generate(prompt, kGreedy)), await textOf(onCpu.generate(prompt, kGreedy)))
})

test('an aborted encoding leaves nothing behind, and a larger image gets more room', options, async () => {
  const [bytes, projector] = filesOf('qwen2vl')
  // A few patches more than a photo of 1024 x 768 has.
  const large = picture(1024, 800)
  using onCpu = await load(bytes, { ...kOptions, contextLength: 1280, device: 'cpu', projector })
  using gpu = await load(bytes, { ...withWorker(), contextLength: 1280, projector })
  const stop = new AbortController()
  const aborted = gpu.encodeMedia(large, { signal: stop.signal, onProgress: () => stop.abort() })
  await assert.rejects(aborted, { name: 'AbortError' })
  const { bufferBytes } = (await askWorker()).now
  const prompt = await promptOf(gpu, large)
  assert.ok((await askWorker()).now.bufferBytes > bufferBytes, 'room')
  assert.deepEqual(await promptOf(onCpu, large), prompt)
  assert.equal(gpu.info.device, 'gpu')
  assert.equal(await textOf(gpu.generate(prompt, kGreedy)), await textOf(onCpu.generate(prompt, kGreedy)))
  // The smaller one has its place in the larger buffers.
  const small = await promptOf(gpu, picture(40, 30))
  await promptOf(onCpu, picture(40, 30))
  assert.equal(await textOf(gpu.generate(small, kGreedy)), await textOf(onCpu.generate(small, kGreedy)))
})

test('auto chooses the device of a model with a projector, and its texts are the same', options, () =>
  withoutTimes(async (kept) => {
    const [bytes, projector] = filesOf('gemma3')
    const auto: Engine.LoadOptions = { ...kSoftware, device: 'auto', projector }
    // Software is slower than the CPU.
    using onCpu = await load(bytes, auto)
    assert.equal(onCpu.info.device, 'cpu')
    assert.match(onCpu.info.deviceReason, /^The CPU is faster here/)
    // A card that is faster, as far as is remembered.
    const { gpu: time } = kept.read()
    kept.write({ cpu: 20 * time, gpu: time })
    using gpu = await load(bytes, auto)
    assert.equal(gpu.info.device, 'gpu')
    assert.match(gpu.info.deviceReason, /^The graphics card is faster here/)
    assert.doesNotMatch(gpu.info.deviceReason, /encoded/)
    const prompt = await promptOf(gpu, picture(40, 30))
    assert.deepEqual(await promptOf(onCpu, picture(40, 30)), prompt)
    assert.equal(await textOf(gpu.generate(prompt, kGreedy)), await textOf(onCpu.generate(prompt, kGreedy)))
  }),
)

test(
  'audio is encoded on the GPU, also after an abort, and on the CPU after the device is lost',
  options,
  async () => {
    const [bytes, projector] = filesOf('ultravox', 'audio')
    const long = { contextLength: 640, projector }
    using onCpu = await load(bytes, { ...kOptions, ...long, device: 'cpu' })
    using gpu = await load(bytes, { ...withWorker(), ...long })
    assert.equal(gpu.info.deviceReason, 'Requested.')
    const stop = new AbortController()
    const onProgress = ({ done, total }: { done: number; total: number }): void => {
      if (done > total / 2) stop.abort()
    }
    await assert.rejects(gpu.encodeMedia(sound(1), { signal: stop.signal, onProgress }), {
      name: 'AbortError',
    })
    const before = await submits()
    const prompt = await promptOf(gpu, sound(1))
    assert.ok((await submits()) - before >= 2, 'layers that were submitted')
    assert.deepEqual(await promptOf(onCpu, sound(1)), prompt)
    const text = await textOf(onCpu.generate(prompt, kGreedy))
    assert.equal(await textOf(gpu.generate(prompt, kGreedy)), text)
    await askWorker({ loseAfter: 1 })
    const both = [...prompt, ...(await promptOf(gpu, sound(2, 5)))]
    assert.equal(gpu.info.device, 'cpu')
    assert.match(gpu.info.deviceReason, /lost/)
    await promptOf(onCpu, sound(2, 5))
    assert.equal(await textOf(gpu.generate(both, kGreedy)), await textOf(onCpu.generate(both, kGreedy)))
  },
)

test('the profile counts what an encoder computes', options, async () => {
  const [bytes, projector] = filesOf('gemma3')
  using gpu = await load(bytes, { ...kSoftware, contextLength: 256, projector })
  assert.deepEqual(await gpu.profile(), [])
  await gpu.encodeMedia(picture(40, 30))
  const rows = await gpu.profile()
  for (const operation of ['products', 'attention', 'norm', 'other'] as const)
    assert.ok(
      rows.some((row) => row.operation === operation && row.calls > 0),
      operation,
    )
  assert.ok(rows.every(({ tokens }) => tokens === 'many'))
  // With what the model computes, each operation has one row.
  await textOf(gpu.generate(await promptOf(gpu, picture(60, 30)), kGreedy))
  const keys = (await gpu.profile()).map(({ operation, tokens, types, shape }) =>
    [operation, tokens, types, shape].join(' '),
  )
  assert.equal(new Set(keys).size, keys.length)
})

test('the CPU encodes what the card has no room for', options, async () => {
  const [bytes, projector] = filesOf('qwen2vl')
  const long = { contextLength: 1280 }
  using onCpu = await load(bytes, { ...kOptions, ...long, device: 'cpu', projector })
  const prompt = await promptOf(onCpu, picture(40, 30))
  const text = await textOf(onCpu.generate(prompt, kGreedy))
  const used = async (more: Engine.LoadOptions): Promise<number> => {
    using _ = await load(bytes, { ...withWorker(), ...long, ...more })
    return (await askWorker()).now.bufferBytes
  }
  const [alone, both] = [await used({}), await used({ projector })]
  // Room for the model, with the part of it that a projector makes larger.
  using without = await load(bytes, { ...withWorker(`&room=${(alone + both) / 2}`), ...long, projector })
  assert.equal(without.info.device, 'gpu')
  assert.match(without.info.deviceReason, /^Requested. Images are encoded on the CPU: .*no room/)
  assert.deepEqual(await promptOf(without, picture(40, 30)), prompt)
  assert.equal(await textOf(without.generate(prompt, kGreedy)), text)
  // Room for a photo, but not for a larger one: the model moves.
  using gpu = await load(bytes, { ...withWorker(`&room=${both}`), ...long, projector })
  assert.equal(gpu.info.deviceReason, 'Requested.')
  const large = await promptOf(gpu, picture(1024, 800))
  assert.equal(gpu.info.device, 'cpu')
  assert.match(gpu.info.deviceReason, /no room/)
  assert.notEqual(await textOf(gpu.generate(large, kGreedy)), '')
})
