// Audio through the package: the reference vectors of audio projectors, chats with audio, and refusals.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { withTemplate } from '../fixtures/templated.ts'
import { engine, textOf } from './engine.ts'
import { loadNodePackage, packedFile } from './packed.ts'
import { difference, kMarker, mediaVectors } from './vectors.ts'

const { createChatCompletion, load } = engine
const { open } = await loadNodePackage()
const { folder: kVectors, skip, bytesOf, floatsOf, inputsOf, ...vectors } = mediaVectors('audio')
const kInputs = join(kVectors, '../whisper/inputs')
const wavOf = (name: string): Uint8Array => new Uint8Array(readFileSync(join(kInputs, `${name}.wav`)))
const samplesOf = (name: string): Float32Array =>
  new Float32Array(new Uint8Array(readFileSync(join(kInputs, `${name}.f32`))).buffer)

const opened = (name: string, options?: Engine.LoadOptions) => vectors.load(engine, name, options)

test('embeddings and logits of audio match libmtmd', { skip, timeout: 600_000 }, async () => {
  for (const name of readdirSync(kVectors)) {
    using model = await opened(name)
    const { tokenizer } = model
    for (const [input, { prompt, tolerance, result }] of Object.entries(inputsOf(name))) {
      const sounds = (input === 'two' ? ['speech-fr-short', 'speech-en'] : [input]).map(wavOf)
      const parts: (number | Engine.MediaPart)[] = tokenizer.addsBos ? [tokenizer.special.bos!] : []
      for (const [i, text] of prompt.split(kMarker).entries()) {
        if (i > 0) parts.push({ type: 'audio', audio: sounds[i - 1]! })
        parts.push(...tokenizer.encode(text, { special: true }))
      }
      if (input !== 'two') {
        const { embeddings } = await model.encodeMedia({ type: 'audio', audio: sounds[0]! })
        const off = difference(embeddings, floatsOf(name, `${input}.embd.f32`))
        assert.ok(off <= tolerance.embd.max_abs, `${name}, ${input}: embeddings differ by ${off}`)
      }
      const logits = await model.evaluate(parts)
      const size = model.info.vocabularySize
      assert.equal(logits.length, result.n_tokens * size)
      const off = difference(logits.slice(-size), floatsOf(name, `${input}.logits.f32`))
      assert.ok(off <= tolerance.logits.max_abs, `${name}, ${input}: logits differ by ${off}`)
    }
  }
})

test('chat, requests and the command line accept audio', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sounds-'))
  try {
    const bytes = await withTemplate(open, bytesOf('voxtral', 'model.gguf'))
    writeFileSync(join(folder, 'model.gguf'), bytes)
    writeFileSync(join(folder, 'speech.wav'), wavOf('speech-fr-short'))
    using model = await load(bytes, { projector: bytesOf('voxtral', 'mmproj.gguf'), contextLength: 512 })
    const data = Buffer.from(wavOf('speech-fr-short')).toString('base64')
    const text = { type: 'text', text: 'What is it?' }
    const messages = [
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }, text] },
    ]
    const audio = { samples: samplesOf('speech-fr-short'), sampleRate: 16000 }
    const same = [{ role: 'user', content: [{ type: 'audio', audio }, text] }]
    const tokens = await model.encodeChat(messages)
    assert.equal(tokens.filter((id) => id < -1).length, 150)
    assert.deepEqual(await model.encodeChat(same), tokens)
    // Several sounds in a message, and a fork that continues after them.
    const twice = [{ role: 'user', content: [same[0]!.content[0], text, same[0]!.content[0]] }]
    assert.equal((await model.encodeChat(twice)).filter((id) => id < -1).length, 300)
    const options = { maxTokens: 5, temperature: 0, ignoreEnd: true }
    const chatted = await textOf(model.chat(messages, options))
    using fork = await model.fork()
    assert.equal(await textOf(fork.chat(same, options)), chatted)
    const { usage } = await createChatCompletion(model, { messages, max_tokens: 1, temperature: 0 })
    assert.equal(usage.prompt_tokens, tokens.length)
    const mmproj = join(kVectors, 'voxtral', 'mmproj.gguf')
    const cli = packedFile('wasm/dist/cli.js')
    const run = (...more: string[]) =>
      spawnSync(process.execPath, [cli, 'run', 'model.gguf', 'What is it?', ...more], {
        cwd: folder,
        encoding: 'utf8',
      })
    const ran = run(
      ...['--mmproj', mmproj, '--audio', 'speech.wav', '--context', '512', '--json'],
      ...['--max-tokens', '5', '--temperature', '0', '--ignore-end'],
    )
    assert.equal(ran.status, 0, ran.stderr)
    assert.equal((JSON.parse(ran.stdout) as { text: string }).text, chatted)
    const alone = run('--audio', 'speech.wav')
    assert.equal(alone.status, 1)
    assert.match(alone.stderr, /projector/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('errors about audio say what is wrong', { skip }, async () => {
  using model = await opened('ultravox', { contextLength: 400 })
  const part = (audio: Engine.AudioInput) => ({ type: 'audio', audio }) as const
  await assert.rejects(model.encodeMedia(part(new Float32Array(0))), { code: 'invalid-argument' })
  await assert.rejects(model.encodeMedia(part(Float32Array.of(0, NaN))), { code: 'invalid-argument' })
  const long = { samples: new Float32Array(31 * 8000), sampleRate: 8000 }
  await assert.rejects(model.encodeMedia(part(long)), { code: 'out-of-range' })
  const hour = { samples: new Float32Array(3600 * 8000), sampleRate: 8000 }
  await assert.rejects(model.encodeMedia(part(hour)), { code: 'out-of-range' })
  await assert.rejects(model.encodeMedia(part(new Uint8Array([0xff, 0xfb, 0x90]))), {
    code: 'invalid-argument',
  })
  await assert.rejects(model.encodeMedia(part(wavOf('speech-en').slice(0, 30))), { code: 'truncated' })
  const { warnings } = await model.encodeMedia(part(wavOf('speech-en').slice(0, 100)))
  assert.match(warnings.join('\n'), /^The WAV file claims \d+ bytes of samples, but has 56: /)
  const image = { width: 1, height: 1, data: [0, 0, 0] }
  await assert.rejects(model.encodeMedia({ type: 'image', image }), { code: 'unsupported' })
  const broken = { type: 'input_audio', input_audio: { data: '*' } }
  await assert.rejects(model.encodeChat([{ role: 'user', content: [broken] }]), { code: 'invalid-argument' })
  // A sound with another sample rate gives as many tokens.
  const half = { samples: samplesOf('speech-en').filter((_, i) => i % 2 === 0), sampleRate: 8000 }
  assert.equal((await model.encodeMedia(part(half))).tokens.length, 300)

  using bare = await load(bytesOf('ultravox', 'model.gguf'))
  await assert.rejects(bare.encodeMedia(part(new Float32Array(100))), { code: 'unsupported' })
  const seeing = new Uint8Array(readFileSync(join(kVectors, '../vision/gemma3/mmproj.gguf')))
  using other = await opened('ultravox', { projector: seeing })
  await assert.rejects(other.encodeMedia(part(new Float32Array(100))), { code: 'unsupported' })
  const mmproj = bytesOf('ultravox', 'mmproj.gguf')
  await assert.rejects(opened('ultravox', { projector: mmproj.slice(0, mmproj.length - 64) }), {
    code: 'truncated',
  })
})

test('encoding ends when it is aborted', { skip }, async () => {
  using model = await opened('qwen2a')
  const controller = new AbortController()
  let steps = 0
  const onProgress = () => {
    steps++
    controller.abort(new Error('enough'))
  }
  const part = { type: 'audio', audio: wavOf('speech-en') } as const
  await assert.rejects(model.encodeMedia(part, { signal: controller.signal, onProgress }), {
    message: 'enough',
  })
  assert.ok(steps >= 1)
  assert.equal((await model.encodeMedia(part)).tokens.length, 752)
})
