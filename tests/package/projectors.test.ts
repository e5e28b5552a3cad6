// Every projector that libmtmd runs, with generated weights: embeddings and tokens through the package. The others are
// refused by name.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { LazyArray } from 'ggufscope'
import type * as Engine from 'ggufscope/engine'
import { writeGguf } from '../fixtures/gguf.ts'
import { everyNth } from '../fixtures/short.ts'
import {
  kMadeProjectors,
  logitsOf,
  madeProjector,
  madeText,
  type MadeProjector,
} from '../fixtures/made-projectors.ts'
import { text } from '../fixtures/models.ts'
import { engine } from './engine.ts'
import { kRoot, loadNodePackage } from './packed.ts'
import { difference } from './vectors.ts'

const { open, load } = await loadNodePackage()
const timeout = 600_000

const loaded = ({ model, projector }: MadeProjector, options: Engine.LoadOptions = {}) =>
  engine.load(model, { projector, precision: 'exact', contextLength: 2048, maxForks: 0, ...options })

/** The model with further tokens in place of the last ones of its vocabulary. */
async function withTokens(model: Uint8Array, tokens: readonly string[]): Promise<Uint8Array> {
  using file = await open(model)
  const all = file.metadata.get('tokenizer.ggml.tokens') as LazyArray<string>
  const builder = await file.edit()
  builder.set('tokenizer.ggml.tokens', [...all.slice(0, all.length - tokens.length), ...tokens], {
    arrayOf: 'string',
  })
  return await (await builder.build()).bytes()
}

/** Encodes all media of a projector and compares them with libmtmd's results. Returns the largest difference. */
async function check(made: MadeProjector, model: Engine.Model, compareTexts: boolean): Promise<number> {
  const { tokenizer } = model
  let off = 0
  let at = 0
  for (const [i, part] of made.media.entries()) {
    const { tokens, embeddings, positions } = await model.encodeMedia(part)
    const n = made.counts[i]!.reduce((sum, count) => sum + count, 0)
    assert.equal(tokens.filter((id) => id < -1).length, n, `${made.name}, part ${i}`)
    assert.equal(positions.length, 3 * n)
    off = Math.max(off, difference(embeddings, made.embeddings.subarray(at, at + embeddings.length)))
    at += embeddings.length
    if (!compareTexts) continue
    const [before, after] = ['a', 'b'].map((letter) => tokenizer.encode(letter, { special: true }))
    const texts = [...before!, ...tokens.filter((id) => id >= 0), ...after!]
    assert.deepEqual(texts, made.around[i]!.flat(), `${made.name}, part ${i}`)
  }
  assert.equal(at, made.embeddings.length, made.name)
  return off
}

test('embeddings and tokens of all projectors match libmtmd', { timeout }, async () => {
  assert.ok(kMadeProjectors.length >= 36)
  for (const name of everyNth(kMadeProjectors, 6)) {
    const made = madeProjector(name)
    const lacksTokens = made.around.some((texts) => texts.flat().includes(-1))
    if (lacksTokens) {
      using bare = await loaded(made)
      await assert.rejects(bare.encodeMedia(made.media[0]!), { code: 'not-found' }, name)
      made.model = await withTokens(made.model, ['<|IMG_LINE_BREAK|>'])
    }
    using model = await loaded(made)
    const off = await check(made, model, !lacksTokens)
    assert.ok(off <= made.tolerance, `${name}: ${off}, not ${made.tolerance}`)
  }
})

// With Gemma 4, an image's tokens attend to each other in both directions, but only in layers with a window.
// libmtmd's builds for SSE2 and AVX2 differ by 0.16 with Gemma 3n, whose network of convolutions rounds to half precision.
// On the canvas of MiniCPM-V 4.7, tokens have rows and columns before their time, by one of two orders of the axes.
test(
  'logits after an image of Gemma 3n and 4 and of MiniCPM-V 4.7 match llama.cpp',
  { timeout },
  async () => {
    for (const [textName, name, tolerance] of [
      ['gemma3n', 'gemma3nv', 0.2],
      ['gemma4', 'gemma4v', 0.02],
      ['gemma4', 'gemma4uv', 0.02],
      ['canvas', 'minicpmv4_7', 2e-3],
      ['canvas-2', 'minicpmv4_7-2', 2e-3],
    ] as const) {
      const made = madeProjector(name)
      using model = await loaded(
        { ...made, model: madeText(textName) },
        { cacheType: 'f32', contextLength: 512 },
      )
      const { tokenizer, info } = model
      const [before, after] = ['a', 'b'].map((letter) => tokenizer.encode(letter, { special: true }))
      const last = async (part: Engine.MediaPart) =>
        (await model.evaluate([...before!, part, ...after!])).slice(-info.vocabularySize)
      const logits = logitsOf(name)
      const off = difference(await last(made.media[0]!), logits)
      assert.ok(off <= tolerance, `${name}: logits differ by ${off}`)
    }
  },
)

// llama.cpp gives texts the position 0 on the fourth axis in both orders (compared bit by bit with its llama-debug).
test('a fourth section of RoPE counts in texts, and images with it are refused', { timeout }, async () => {
  const made = madeProjector('minicpmv4_7')
  const withSections = async (name: 'canvas' | 'canvas-2') => {
    using file = await open(madeText(name))
    const builder = await file.edit()
    builder.set('qwen2vl.rope.dimension_sections', [10, 12, 9, 1])
    return { ...made, model: new Uint8Array(await (await builder.build()).bytes()) }
  }
  const options = { cacheType: 'f32', contextLength: 512 } as const
  using model = await loaded(await withSections('canvas'), options)
  using usual = await loaded(await withSections('canvas-2'), options)
  const tokens = model.tokenizer.encode('abba', { special: true })
  const logits = await model.evaluate(tokens)
  assert.deepEqual(logits, await usual.evaluate(tokens))
  using plain = await loaded({ ...made, model: madeText('canvas') }, options)
  assert.notDeepEqual(logits, await plain.evaluate(tokens))
  await assert.rejects(model.encodeMedia(made.media[0]!), { code: 'unsupported', message: /fourth section/ })
})

test('projectors that cannot run are refused by name, before weights are loaded', async () => {
  const llama = new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/golden/arch/llama/model.gguf')))
  const phases: string[] = []
  const onProgress = ({ phase }: Engine.LoadProgress) => void phases.push(phase)
  const load = (kind: 'vision' | 'audio', name: string) =>
    engine.load(llama, {
      projector: writeGguf({
        metadata: [
          ['general.architecture', text('clip')],
          [`clip.has_${kind}_encoder`, { type: 'bool', value: true }],
          [`clip.${kind}.projector_type`, text(name)],
        ],
      }),
      onProgress,
    })
  const images =
    'adapter d1omni_v deepseek4v deepseekocr deepseekocr2 dots3note_v etet glm5v granite4_vision hunyuanocr hunyuanvl ' +
    'minimax_m3 muse-glimmer step3vl yasa2'
  const sounds = 'd1omni_a dots3note_a gemma3na pockettts_gen pockettts_spkenc qwen3tts_gen qwen3tts_spkenc'
  for (const [kind, names] of [
    ['vision', images],
    ['audio', sounds],
  ] as const)
    for (const name of [...names.split(' '), 'magic'])
      await assert.rejects(load(kind, name), (error: { code: string; message: string }) => {
        assert.equal(error.code, 'unsupported', name)
        const why = name === 'magic' ? 'is not known' : 'cannot be run yet'
        return error.message.includes(`projector '${name}' ${why}; these can: `)
      })
  assert.ok(!phases.includes('weights') && !phases.includes('ready'))
})

test("load() of Node takes a projector's path, as it takes the model's", async () => {
  const made = madeProjector('janus_pro')
  const folder = mkdtempSync(join(tmpdir(), 'projector-'))
  try {
    const [model, projector] = ['model.gguf', 'mmproj.gguf'].map((name) => join(folder, name)) as [
      string,
      string,
    ]
    writeFileSync(model, made.model)
    writeFileSync(projector, made.projector)
    for (const given of [projector, pathToFileURL(projector), pathToFileURL(projector).href]) {
      using loaded = await load(model, { projector: given, threads: 1 })
      assert.deepEqual(loaded.info.abilities, ['generate', 'embed', 'image'])
    }
    await assert.rejects(load(model, { projector: join(folder, 'none.gguf') }), { code: 'no-such-file' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
