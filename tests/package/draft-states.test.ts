// Models of tests/fixtures/golden through the package: draft models that read their target's hidden states, and an audio
// decoder, compared with llama.cpp's results.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { everyNth } from '../fixtures/short.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { load } = (await import(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)) as typeof Engine
const read = (path: string) => new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/golden', path)))
const ids = (path: string) => JSON.parse(new TextDecoder().decode(read(path))) as number[]

const prompt = ids('draft/eagle3/tokens.json')

async function tokens(
  model: Engine.Model,
  given: number[],
  options: Engine.GenerateOptions,
): Promise<number[]> {
  const all: number[] = []
  for await (const { token } of model.generate(given, options)) all.push(token)
  return all
}

test('a draft model that reads hidden states changes no token', async () => {
  const target = read('arch/llama/model.gguf')
  using alone = await load(target)
  for (const name of ['eagle3', 'eagle3-own', 'dflash-plain', 'dflash-markov', 'dflash-selector']) {
    const draft = read(`draft/${name}/model.gguf`)
    const reached = new Map<Engine.LoadProgress['of'], Engine.LoadProgress>()
    using model = await load(target, {
      draft,
      onProgress: (one) => void (one.phase === 'weights' && reached.set(one.of, one)),
    })
    assert.deepEqual([...reached.keys()], ['model', 'draft'], 'its weights follow those of the model')
    for (const { loaded, total } of reached.values()) assert.equal(loaded, total)
    assert.ok(reached.get('draft')!.total < draft.length)
    assert.ok(model.info.memory.weights > alone.info.memory.weights)
    for (const sampling of [{ temperature: 0 }, { seed: 5 }]) {
      const options = { ...sampling, maxTokens: 40, ignoreEnd: true }
      assert.deepEqual(await tokens(model, prompt, options), await tokens(alone, prompt, options))
    }
    await assert.rejects(load(draft), { code: 'unsupported', message: /without its target/ })
    await assert.rejects(load(read('arch/mamba/model.gguf'), { draft }), { code: 'invalid-argument' })
  }
})

test('drafts for a Gemma 4 model change no token, and are refused for another model', async () => {
  const target = read('draft/gemma4/model.gguf')
  using alone = await load(target)
  for (const name of ['gemma4-assistant', 'dflash-gemma4']) {
    const draft = read(`draft/${name}/model.gguf`)
    using model = await load(target, { draft })
    assert.ok(model.info.memory.weights > alone.info.memory.weights)
    for (const sampling of [{ temperature: 0 }, { seed: 5 }]) {
      const options = { ...sampling, maxTokens: 40, ignoreEnd: true }
      assert.deepEqual(await tokens(model, prompt, options), await tokens(alone, prompt, options))
    }
    await assert.rejects(load(draft), { code: 'unsupported', message: /without its target/ })
  }
  const assistant = read('draft/gemma4-assistant/model.gguf')
  await assert.rejects(load(read('arch/llama/model.gguf'), { draft: assistant }), {
    code: 'invalid-argument',
    message: /another architecture than llama/,
  })
})

/** A file of the MTP head alone. */
async function headOf(bytes: Uint8Array): Promise<Uint8Array> {
  using file = await open(bytes)
  const builder = await file.edit()
  for (const { name } of file.tensors) if (/^blk\.[01]\./.test(name)) builder.removeTensor(name)
  return await (await builder.build()).bytes()
}

const kHeads = ['glm4moe', 'deepseek2', 'hy_v3', 'mimo2', 'step35', 'qwen35', 'qwen35moe', 'qwen4exp']
test('the MTP head of a model drafts for it and changes no token', async () => {
  // The core's tests compare the heads of all with llama.cpp. Of these, one has experts, one recurrent layers.
  for (const name of everyNth(kHeads, 5)) {
    const file = read(`draft/mtp-${name}/model.gguf`)
    const given = ids(`draft/mtp-${name}/tokens.json`)
    using alone = await load(file)
    const one = alone.info.memory.weights
    for (const draft of [file, await headOf(file)]) {
      using model = await load(file, { draft })
      const both = model.info.memory.weights
      assert.ok(both > one && both < 2 * one, `${both} bytes, without the head ${one}`)
      for (const sampling of [{ temperature: 0 }, { seed: 5 }]) {
        const options = { ...sampling, maxTokens: 40, ignoreEnd: true }
        assert.deepEqual(await tokens(model, given, options), await tokens(alone, given, options))
      }
    }
    await assert.rejects(load(read('arch/llama/model.gguf'), { draft: file }), { code: 'invalid-argument' })
  }
})

test('the decoder of WavTokenizer gives the spectrum of each token', async () => {
  const sound = ids('codec/wavtokenizer-dec/tokens.json')
  const want = new Float32Array(read('codec/wavtokenizer-dec/output.f32').buffer)
  using model = await load(read('codec/wavtokenizer-dec/model.gguf'))
  assert.equal(model.info.encoder, true)
  const got = await model.embed(sound, { pooling: 'none' })
  assert.equal(got.length, want.length)
  const difference = Math.max(...got.map((x, i) => Math.abs(x - want[i]!)))
  assert.ok(difference < 0.02, `differs by ${difference}`)
  await assert.rejects(tokens(model, sound, {}), { code: 'unsupported' })
})
