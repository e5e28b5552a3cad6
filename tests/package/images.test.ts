// Images through the package: the reference vectors of image encoders, PNG files, chats with images, and refusals.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { everyNth } from '../fixtures/short.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { startHub } from '../server/hub.ts'
import { engine, textOf } from './engine.ts'
import { loadNodePackage, packedFile } from './packed.ts'
import { difference, kMarker, mediaVectors } from './vectors.ts'

const { createChatCompletion, load } = engine
const { open } = await loadNodePackage()
const { folder: kVectors, skip, bytesOf, floatsOf, inputsOf, ...vectors } = mediaVectors('vision')
const timeout = 600_000
const pictures: Record<string, Uint8Array> = skip
  ? {}
  : Object.fromEntries(
      readdirSync(join(kVectors, 'inputs'))
        .filter((name) => name.endsWith('.png'))
        .map((name) => [name.split('-')[0]!, bytesOf('inputs', name)]),
    )

const opened = (name: string, options?: Engine.LoadOptions) => vectors.load(engine, name, options)

// A template that takes a message's content as parts.
const kTyped =
  "{% for m in messages %}[{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}\n{% endif %}{% endfor %}]{% endfor %}"

/** Tokenizes a prompt like libmtmd: each text separately, with images between them. */
async function promptOf(model: Engine.Model, prompt: string, images: Uint8Array[]): Promise<number[]> {
  const { tokenizer } = model
  const tokens = tokenizer.addsBos ? [tokenizer.special.bos!] : []
  for (const [i, text] of prompt.split(kMarker).entries()) {
    if (i > 0) tokens.push(...(await model.encodeMedia({ type: 'image', image: images[i - 1]! })).tokens)
    tokens.push(...tokenizer.encode(text, { special: true }))
  }
  return tokens
}

const folders = skip
  ? []
  : readdirSync(kVectors).filter((name) => existsSync(join(kVectors, name, 'meta.json')))

test('embeddings and logits of images match libmtmd', { skip, timeout }, async () => {
  for (const name of everyNth(folders, 5)) {
    using model = await opened(name)
    for (const [input, { prompt, tolerance, result }] of Object.entries(inputsOf(name))) {
      const images = (input === 'two' ? ['small', 'large'] : [input]).map((picture) => pictures[picture]!)
      if (existsSync(join(kVectors, name, `${input}.embd.f32`))) {
        const { embeddings, positions } = await model.encodeMedia({ type: 'image', image: images[0]! })
        const off = difference(embeddings, floatsOf(name, `${input}.embd.f32`))
        assert.ok(off <= tolerance.embd.max_abs, `${name}, ${input}: embeddings differ by ${off}`)
        assert.equal(positions.length % 3, 0)
      }
      const tokens = await promptOf(model, prompt, images)
      assert.equal(tokens.length, result.n_tokens, `${name}, ${input}`)
      let at = 0
      for (const { type, ids, n_tokens } of result.chunks) {
        const part = tokens.slice(at, (at += n_tokens))
        if (type === 'text') assert.deepEqual(part, ids)
        else assert.ok(part.every((id) => id < -1))
      }
      const logits = await model.evaluate(tokens)
      const last = logits.slice(-model.info.vocabularySize)
      const off = difference(last, floatsOf(name, `${input}.logits.f32`))
      assert.ok(off <= tolerance.logits.max_abs, `${name}, ${input}: logits differ by ${off}`)
    }
  }
})

/**
 * The first values of some embeddings, one of each part, that libmtmd 0.7.0 gives a picture with Idefics 3's projector
 * without preproc_image_size.
 */
const kWithoutEdge: Record<string, { rows: number; values: Record<number, number> }> = {
  large: {
    rows: 256,
    values: { 5: -0.6376, 69: -1.2568, 133: -0.1966, 181: 2.0558, 229: -0.17, 245: 1.2371 },
  },
  small: { rows: 32, values: { 5: 0.5872, 21: 1.4707 } },
}

test(
  'the first files of SmolVLM, without preproc_image_size, cut images as libmtmd does',
  { skip },
  async () => {
    using file = await open(bytesOf('idefics3', 'mmproj.gguf'))
    const builder = await file.edit()
    builder.remove('clip.vision.preproc_image_size')
    const edited = await (await builder.build()).bytes()
    using model = await opened('idefics3', { projector: edited })
    for (const [picture, { rows, values }] of Object.entries(kWithoutEdge)) {
      const { embeddings } = await model.encodeMedia({ type: 'image', image: pictures[picture]! })
      assert.equal(embeddings.length, 32 * rows, picture)
      for (const [row, value] of Object.entries(values))
        assert.ok(Math.abs(embeddings[32 * Number(row)]! - value) < 4e-3, `${picture}, row ${row}`)
    }
  },
)

test('a PNG and its pixels are the same image, which is encoded once', { skip }, async () => {
  using model = await opened('qwen2vl')
  const data = bytesOf('inputs', 'small-64x48.rgb')
  let steps = 0
  const onProgress = () => void steps++
  const first = await model.encodeMedia(
    { type: 'image', image: { width: 64, height: 48, data } },
    { onProgress },
  )
  assert.ok(steps > 2)
  steps = 0
  const second = await model.encodeMedia({ type: 'image', image: pictures['small']! }, { onProgress })
  assert.equal(steps, 0)
  assert.deepEqual(second, first)
})

test('chat messages can contain images', { skip }, async () => {
  const bytes = await withTemplate(open, bytesOf('qwen2vl', 'model.gguf'))
  const reopened = (model: Uint8Array) =>
    load(model, { projector: bytesOf('qwen2vl', 'mmproj.gguf'), precision: 'exact' })
  using model = await reopened(bytes)
  const url = `data:image/png;base64,${Buffer.from(pictures['small']!).toString('base64')}`
  const image = { type: 'image_url', image_url: { url } }
  const messages = [{ role: 'user', content: [image, { type: 'text', text: 'What is it?' }, image] }]
  const tokens = await model.encodeChat(messages)
  assert.equal(tokens.filter((id) => id < -1).length, 24)
  using typed = await reopened(await withTemplate(open, bytesOf('qwen2vl', 'model.gguf'), kTyped))
  assert.equal((await typed.encodeChat(messages)).filter((id) => id < -1).length, 24)
  const [one, two] = [
    model.chat(messages, { maxTokens: 4, temperature: 0 }),
    model.generate(tokens, { maxTokens: 4, temperature: 0 }),
  ]
  const read = async (pieces: AsyncIterable<Engine.Piece>) => {
    const ids: number[] = []
    for await (const { token } of pieces) ids.push(token)
    return ids
  }
  assert.deepEqual(await read(one), await read(two))
  // Evaluated tokens are also available in a fork and in a saved state.
  using fork = await model.fork()
  const options = { maxTokens: 4, temperature: 0, ignoreEnd: true }
  const here = await read(model.generate(tokens, options))
  assert.deepEqual(await read(fork.generate(tokens, options)), here)
  const state = await model.saveState()
  using other = await reopened(bytes)
  await other.loadState(state)
  let reused = 0
  const onDone = (done: Engine.GenerateResult) => void (reused = done.reusedTokens)
  assert.deepEqual(await read(other.generate(tokens, { ...options, onDone })), here)
  assert.ok(reused >= tokens.length - 1)
})

test('a conversation continues with an image in a later turn', { skip }, async () => {
  const bytes = await withTemplate(open, bytesOf('qwen2vl', 'model.gguf'))
  const opened = () => load(bytes, { projector: bytesOf('qwen2vl', 'mmproj.gguf'), precision: 'exact' })
  const image = (name: string) => ({ type: 'image', image: pictures[name]! }) as const
  const text = (words: string) => ({ type: 'text', text: words }) as const
  const first = [{ role: 'user', content: [image('small'), text('What is it?')] }]
  const options = { maxTokens: 5, temperature: 0, ignoreEnd: true }
  using model = await opened()
  const answer = await textOf(model.chat(first, options))
  const second = [
    ...first,
    { role: 'assistant', content: answer },
    { role: 'user', content: [text('And this?'), image('large'), image('small')] },
  ]
  const [before, after] = [await model.encodeChat(first), await model.encodeChat(second)]
  assert.deepEqual(after.slice(0, before.length), before)
  let done: Engine.GenerateResult | undefined
  const continued = await textOf(model.chat(second, { ...options, onDone: (result) => void (done = result) }))
  assert.ok(done!.reusedTokens >= before.length - 1, `${done!.reusedTokens} tokens were reused`)
  using other = await opened()
  assert.equal(await textOf(other.chat(second, options)), continued)
})

test('requests and the command line accept images', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'images-'))
  try {
    const bytes = await withTemplate(open, bytesOf('qwen2vl', 'model.gguf'))
    writeFileSync(join(folder, 'model.gguf'), bytes)
    writeFileSync(join(folder, 'picture.png'), pictures['small']!)
    const mmproj = join(kVectors, 'qwen2vl', 'mmproj.gguf')
    const run = (...options: string[]) =>
      spawnSync(
        process.execPath,
        [packedFile('wasm/dist/cli.js'), 'run', 'model.gguf', 'What is it?', ...options],
        { cwd: folder, encoding: 'utf8' },
      )
    const ran = run(
      ...['--mmproj', mmproj, '--image', 'picture.png', '--json'],
      ...['--max-tokens', '6', '--temperature', '0', '--ignore-end'],
    )
    assert.equal(ran.status, 0, ran.stderr)
    const { text, promptTokens } = JSON.parse(ran.stdout) as { text: string; promptTokens: number }
    const url = `data:image/png;base64,${Buffer.from(pictures['small']!).toString('base64')}`
    const content = [
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: 'What is it?' },
    ]
    using model = await load(bytes, { projector: bytesOf('qwen2vl', 'mmproj.gguf') })
    const messages = [{ role: 'user', content }]
    const options = { maxTokens: 6, temperature: 0, ignoreEnd: true }
    assert.equal(text, await textOf(model.chat(messages, options)))
    const { usage } = await createChatCompletion(model, { messages, max_tokens: 1, temperature: 0 })
    assert.equal(usage.prompt_tokens, promptTokens)
    const bare = run('--image', 'picture.png')
    assert.equal(bare.status, 1, bare.stderr)
    assert.match(bare.stderr, /projector/)
    writeFileSync(join(folder, 'mmproj-model-f16.gguf'), bytesOf('qwen2vl', 'mmproj.gguf'))
    const beside = run(
      ...['--image', 'picture.png', '--json'],
      ...['--max-tokens', '6', '--temperature', '0', '--ignore-end'],
    )
    assert.equal((JSON.parse(beside.stdout) as { text: string }).text, text, beside.stderr)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the projector beside a model is found', { skip }, async () => {
  const picture: Engine.MediaPart = { type: 'image', image: pictures['small']! }
  const files = {
    'model-Q8_0.gguf': bytesOf('qwen2vl', 'model.gguf'),
    'mmproj-F16.gguf': bytesOf('qwen2vl', 'mmproj.gguf'),
    'other/model.gguf': bytesOf('gemma3', 'model.gguf'),
    'other/mmproj.gguf': bytesOf('gemma3', 'mmproj.gguf'),
  }
  const alone = { 'model.gguf': files['model-Q8_0.gguf'] }
  const hub = await startHub([
    { id: 'someone/sees', files },
    { id: 'someone/gated', files, token: 'secret' },
    { id: 'someone/alone', files: alone },
  ])
  try {
    const loaded = (file: string, options: Engine.LoadOptions = {}) =>
      load(`${hub.url}/someone/${file}`, { projector: 'auto', precision: 'exact', ...options })
    const headers = { Authorization: 'Bearer secret' }
    for (const [file, options, name] of [
      ['sees/resolve/main/model-Q8_0.gguf', {}, 'qwen2vl'],
      ['sees/resolve/main/other/model.gguf', {}, 'gemma3'],
      ['gated/resolve/main/model-Q8_0.gguf', { headers }, 'qwen2vl'],
    ] as const) {
      using model = await loaded(file, options)
      using given = await opened(name, { contextLength: undefined, cacheType: undefined })
      assert.deepEqual(
        (await model.encodeMedia(picture)).tokens,
        (await given.encodeMedia(picture)).tokens,
        file,
      )
    }
    using bare = await loaded('alone/resolve/main/model.gguf')
    await assert.rejects(bare.encodeMedia(picture), { code: 'unsupported' })
  } finally {
    await hub.close()
  }
})

test('errors about images say what is wrong', { skip }, async () => {
  const image = (width: number, height: number, data: ArrayLike<number> = []) =>
    ({ type: 'image', image: { width, height, data } }) as const
  using model = await opened('gemma3')
  await assert.rejects(model.encodeMedia(image(0, 0)), { code: 'out-of-range' })
  await assert.rejects(model.encodeMedia(image(10_000, 10_000)), { code: 'out-of-range' })
  await assert.rejects(model.encodeMedia(image(2, 1, [0, 0, 0, 0, NaN, 0])), { code: 'out-of-range' })
  await assert.rejects(model.encodeMedia(image(2, 1, [0])), { code: 'invalid-argument' })
  assert.ok((await model.encodeMedia(image(1, 1, [255, 0, 0]))).embeddings.every(Number.isFinite))
  await assert.rejects(model.encodeMedia({ type: 'image', image: 'https://example.org/a.png' }), {
    code: 'invalid-argument',
  })
  const cut = pictures['small']!.slice(0, 200)
  await assert.rejects(model.encodeMedia({ type: 'image', image: cut }), { code: 'invalid-argument' })
  await assert.rejects(model.encodeMedia({ type: 'image', image: new Uint8Array([0xff, 0xd8, 0xff]) }), {
    code: 'invalid-argument',
  })
  using bare = await load(bytesOf('gemma3', 'model.gguf'))
  await assert.rejects(bare.encodeMedia(image(1, 1, [0, 0, 0])), { code: 'unsupported' })
  // Deepstack features make the tokens of this projector larger than those of the model.
  const other = bytesOf('qwen3vl', 'mmproj.gguf')
  await assert.rejects(opened('gemma3', { projector: other }), { code: 'other-model' })
  await assert.rejects(opened('gemma3', { projector: bytesOf('gemma3', 'model.gguf') }), {
    code: 'unsupported',
  })
  const mmproj = bytesOf('gemma3', 'mmproj.gguf')
  await assert.rejects(opened('gemma3', { projector: mmproj.slice(0, mmproj.length - 64) }), {
    code: 'truncated',
  })
})

test('encoding ends when it is aborted', { skip }, async () => {
  using model = await opened('lfm2')
  const controller = new AbortController()
  const onProgress = () => controller.abort(new Error('enough'))
  const part = { type: 'image', image: pictures['wide']! } as const
  await assert.rejects(model.encodeMedia(part, { signal: controller.signal, onProgress }), {
    message: 'enough',
  })
  assert.ok((await model.encodeMedia({ type: 'image', image: pictures['small']! })).tokens.length > 0)
})
