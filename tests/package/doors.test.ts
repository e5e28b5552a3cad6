// What a model can do is one list, modelAbilities. This table has a row for each ability and a column for each door of
// the package; through every door the result is the same.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import sharp from 'sharp'
import {
  embed,
  generateObject,
  generateSpeech,
  generateText,
  rerank,
  streamText,
  transcribe,
  type ModelMessage,
} from 'ai'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { kLong } from '../fixtures/short.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { engine } from './engine.ts'
import { kSpeakers } from '../../web/src/lib/speech/speaks.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'
import { serving } from './serving.ts'
import { smallBert } from './small-bert.ts'
import { smallDecider } from './small-decider.ts'
import { kVectors } from './vectors.ts'

type Ability = Engine.Ability
const {
  createChatCompletion,
  createDecision,
  createEmbedding,
  createRerank,
  createSpeech,
  createTranscription,
  load,
} = engine
const { createGgufscope } = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof Ai
const { open } = await loadNodePackage()

const folder = mkdtempSync(join(tmpdir(), 'doors-'))
after(() => rmSync(folder, { recursive: true }))
const path = (name: string): string => join(folder, name)
const fixture = (name: string): string => join(kRoot, 'tests/fixtures', name)

const png = await sharp(
  Uint8Array.from({ length: 40 * 22 * 3 }, (_, i) => (i * 7) % 256),
  { raw: { width: 40, height: 22, channels: 3 } },
)
  .png()
  .toBuffer()
const wav = readFileSync(fixture('commands.wav'))
/** The first second of it. */
const second = Buffer.from(wav.subarray(0, 44 + 32_000))
second.writeUInt32LE(second.length - 8, 4)
second.writeUInt32LE(32_000, 40)
writeFileSync(path('second.wav'), second)
writeFileSync(path('picture.png'), png)

const kQuestion = 'What do bees make?'
const kDocuments = ['owls sleep by day', 'bees make honey', 'honey']
/** A short deterministic answer, in the names of each door. */
const kTokens = 4

interface Case {
  readonly model: string
  readonly mmproj?: string
  /** The content of the user's message in OpenAI's form, and of the AI SDK. */
  readonly content?: unknown
  readonly sdk?: ModelMessage & { role: 'user' }
  /** Options of `ggufscope run`. */
  readonly run?: readonly string[]
}

async function projecting(name: string): Promise<Pick<Case, 'model' | 'mmproj'>> {
  const made = madeProjector(name)
  writeFileSync(path(`${name}.gguf`), await withTemplate(open, made.model))
  writeFileSync(path(`projector-of-${name}`), made.projector)
  return { model: path(`${name}.gguf`), mmproj: path(`projector-of-${name}`) }
}

// No model that speaks is part of the repository.
const voices = join(kVectors, 'new/speech/pockettts')
const said = { type: 'text', text: kQuestion } as const
writeFileSync(path('ranker.gguf'), await smallBert(4))
writeFileSync(path('decider.gguf'), await smallDecider(open))
const kCases: Readonly<Record<Ability, Case>> = {
  generate: { model: fixture('stories.gguf'), content: kQuestion, sdk: { role: 'user', content: kQuestion } },
  embed: { model: fixture('stories.gguf') },
  rerank: { model: path('ranker.gguf') },
  decide: { model: path('decider.gguf') },
  image: {
    ...(await projecting('janus_pro')),
    content: [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
      said,
    ],
    sdk: { role: 'user', content: [{ type: 'file', data: png, mediaType: 'image/png' }, said] },
    run: ['--image', path('picture.png')],
  },
  audio: {
    ...(await projecting('lfm2a')),
    content: [{ type: 'input_audio', input_audio: { data: second.toString('base64'), format: 'wav' } }, said],
    sdk: { role: 'user', content: [{ type: 'file', data: second, mediaType: 'audio/wav' }, said] },
    run: ['--audio', path('second.wav')],
  },
  transcribe: { model: fixture('commands.gguf') },
  speak: { model: join(voices, 'text.gguf'), mmproj: join(voices, 'mmproj.gguf') },
}
const kAbilities = engine.modelAbilities.filter((ability) => ability !== 'speak' || existsSync(voices))

/** What a door that works gives: the text of an answer, a vector, the order of documents, or a transcript. */
type Result = string | number[]
/** A door's way to an ability; a text says why there is none. */
type Cell = ((one: Case) => Promise<Result>) | string

async function withModel<T, Loaded extends Engine.LoadedModel = Engine.Model>(
  { model, mmproj }: Case,
  use: (model: Loaded) => Promise<T>,
): Promise<T> {
  const bytes = (file: string) => new Uint8Array(readFileSync(file))
  const projector = mmproj ? bytes(mmproj) : undefined
  using loaded = await load<Loaded>(bytes(model), {
    threads: 1,
    projector,
    contextLength: projector ? 512 : undefined,
  })
  return await use(loaded)
}

async function cli(command: string, { model, mmproj }: Case, ...args: string[]): Promise<unknown> {
  const all = [command, ...args, '--threads', '1', '--json', ...(mmproj ? ['--mmproj', mmproj] : [])]
  const ran = await runCli(
    command === 'transcribe' ? [...all, '--model', model] : [command, model, ...all.slice(1)],
  )
  assert.equal(ran.status, 0, ran.err)
  return JSON.parse(ran.out)
}

const ask = ({ model, mmproj }: Case, route: string, body: unknown): Promise<unknown> =>
  serving(model, mmproj ? ['--mmproj', mmproj] : [], async (post) => {
    const response = await post(route, body)
    assert.equal(response.status, 200, await response.clone().text())
    return await response.json()
  })

const request = ({ content }: Case): Engine.ChatCompletionRequest => ({
  messages: [{ role: 'user', content }],
  temperature: 0,
  max_tokens: kTokens,
  ignore_eos: true,
})
const textOf = (answer: unknown): string => (answer as Engine.ChatCompletion).choices[0]!.message.content!
const vectorOf = (answer: unknown): number[] => (answer as Engine.EmbeddingAnswer).data[0]!.embedding
const orderOf = (answer: unknown): number[] =>
  (answer as Engine.RerankAnswer).results.map(({ index }) => index)
const transcriptOf = (answer: unknown): string => (answer as { text: string }).text.trim()
/** The probabilities of each option, in the order of the options. */
const probabilitiesOf = (decision: unknown): number[] =>
  Object.values((decision as Engine.ChoiceDecision).probabilities)
const decisionOf = (answer: unknown): number[] =>
  probabilitiesOf((answer as Engine.DecisionAnswer).answers['answer'])
const kChoices = ['honey', 'milk', 'nests']
const decision = {
  type: 'choice',
  instructions: kQuestion,
  criteria: Object.fromEntries(kChoices.map((name) => [name, null])),
} as const
const kState = 'Bees fly to the flowers.'
const decisionRequest = { state: kState, questions: { answer: decision } }
const kSpoken = { temperature: 0 }
const speechRequest = { input: kQuestion, ...kSpoken } as const
const provided = (model: Engine.LoadedModel) => createGgufscope(model)

const form = (): FormData => {
  const data = new FormData()
  data.set('file', new File([wav], 'commands.wav'))
  data.set('language', 'en')
  return data
}

/** Answers to a message, with or without media. */
const answers: Record<'package' | 'openai' | 'cli' | 'serve' | 'ai', Exclude<Cell, string>> = {
  package: (one) =>
    withModel(one, async (model) => {
      let text = ''
      const options = { temperature: 0, maxTokens: kTokens, ignoreEnd: true }
      for await (const piece of model.chat([{ role: 'user', content: one.content }], options))
        text += piece.text
      return text
    }),
  openai: (one) => withModel(one, async (model) => textOf(await createChatCompletion(model, request(one)))),
  cli: async (one) => {
    const options = ['--chat', '--temperature', '0', '--max-tokens', String(kTokens), '--ignore-end']
    return ((await cli('run', one, kQuestion, ...options, ...(one.run ?? []))) as { text: string }).text
  },
  serve: async (one) => textOf(await ask(one, '/v1/chat/completions', request(one))),
  ai: (one) =>
    withModel(one, async (model) => {
      const messages = [one.sdk!]
      const providerOptions = { ggufscope: { ignore_eos: true } }
      const options = { temperature: 0, maxOutputTokens: kTokens, maxRetries: 0, providerOptions }
      return (await generateText({ model: provided(model)(), messages, ...options })).text
    }),
}

const kReadsFiles = 'the MCP server reads files and runs no model'
/** A file of the viewer's source that uses the ability. */
const inViewer =
  (file: string, use: RegExp): Exclude<Cell, string> =>
  async () => {
    assert.match(readFileSync(join(kRoot, 'web/src', file), 'utf8'), use)
    return ''
  }

const kDoors = ['package', 'openai', 'cli', 'serve', 'ai', 'mcp', 'viewer'] as const
const kTable: Readonly<Record<Ability, Readonly<Record<(typeof kDoors)[number], Cell>>>> = {
  generate: { ...answers, mcp: kReadsFiles, viewer: inViewer('lib/run/attachments.ts', /content/) },
  image: { ...answers, mcp: kReadsFiles, viewer: inViewer('lib/run/attachments.ts', /type: 'image'/) },
  audio: { ...answers, mcp: kReadsFiles, viewer: inViewer('lib/run/attachments.ts', /type: 'audio'/) },
  embed: {
    package: (one) => withModel(one, async (model) => [...(await model.embed(kQuestion))]),
    openai: (one) =>
      withModel(one, async (model) => vectorOf(await createEmbedding(model, { input: kQuestion }))),
    cli: 'embedding is for programs',
    serve: async (one) => vectorOf(await ask(one, '/v1/embeddings', { input: kQuestion })),
    ai: (one) =>
      withModel(
        one,
        async (model) =>
          (await embed({ model: provided(model).embeddingModel(), value: kQuestion })).embedding,
      ),
    mcp: kReadsFiles,
    viewer: inViewer('lib/run/search.svelte.ts', /model\.embed\(/),
  },
  rerank: {
    package: (one) =>
      withModel(one, async (model) => (await model.rerank(kQuestion, kDocuments)).map(({ index }) => index)),
    openai: (one) =>
      withModel(one, async (model) =>
        orderOf(await createRerank(model, { query: kQuestion, documents: kDocuments })),
      ),
    cli: 'ranking is for programs',
    serve: async (one) => orderOf(await ask(one, '/v1/rerank', { query: kQuestion, documents: kDocuments })),
    ai: (one) =>
      withModel(one, async (model) => {
        const ranker = provided(model).rerankingModel()
        const { ranking } = await rerank({ model: ranker, query: kQuestion, documents: kDocuments })
        return ranking.map(({ originalIndex }) => originalIndex)
      }),
    mcp: kReadsFiles,
    viewer: inViewer('lib/run/engine.svelte.ts', /model\.rerank\(/),
  },
  decide: {
    package: (one) =>
      withModel(one, async (model) => probabilitiesOf(await model.decide({ state: kState, ...decision }))),
    openai: (one) =>
      withModel(one, async (model) => decisionOf(await createDecision(model, decisionRequest))),
    cli: async (one) => {
      const options = kChoices.flatMap((name) => ['--option', name])
      return decisionOf(await cli('decide', one, kState, '--question', kQuestion, ...options))
    },
    serve: async (one) => decisionOf(await ask(one, '/v1/systemone', decisionRequest)),
    ai: (one) =>
      withModel(one, async (model) => {
        const { object, providerMetadata } = await generateObject({
          model: provided(model)(),
          output: 'enum',
          enum: kChoices,
          system: kQuestion,
          prompt: kState,
        })
        const probabilities = probabilitiesOf(providerMetadata!['ggufscope']!['decision'])
        assert.equal(object, kChoices[probabilities.indexOf(Math.max(...probabilities))])
        return probabilities
      }),
    mcp: kReadsFiles,
    viewer: 'decisions are for programs',
  },
  transcribe: {
    package: (one) =>
      withModel(one, async (model: Engine.SpeechModel) =>
        transcriptOf(await model.transcribe(wav, { language: 'en' })),
      ),
    openai: (one) =>
      withModel(one, async (model: Engine.SpeechModel) =>
        transcriptOf(await createTranscription(model, { file: wav, language: 'en' })),
      ),
    cli: async (one) =>
      transcriptOf(await cli('transcribe', one, fixture('commands.wav'), '--language', 'en')),
    serve: async (one) => transcriptOf(await ask(one, '/v1/audio/transcriptions', form())),
    ai: (one) =>
      withModel(one, async (loaded: Engine.SpeechModel) => {
        const model = provided(loaded).transcriptionModel()
        const providerOptions = { ggufscope: { language: 'en' } }
        return (await transcribe({ model, audio: wav, providerOptions })).text
      }),
    mcp: kReadsFiles,
    viewer: inViewer('lib/speech/listener.svelte.ts', /\.transcribe\(/),
  },
  speak: {
    package: (one) =>
      withModel(one, async (model) => {
        const samples: number[] = []
        for await (const part of model.speak(kQuestion, kSpoken)) samples.push(...part.samples)
        return [...engine.toWav(Float32Array.from(samples), 24_000)]
      }),
    openai: (one) => withModel(one, async (model) => [...(await createSpeech(model, speechRequest))]),
    cli: async ({ model, mmproj }) => {
      const output = path('speech.wav')
      const options = [
        '--mmproj',
        mmproj!,
        '--temperature',
        '0',
        '--threads',
        '1',
        '--output',
        output,
        '--force',
      ]
      const ran = await runCli(['speak', model, kQuestion, ...options])
      assert.equal(ran.status, 0, ran.err)
      return [...readFileSync(output)]
    },
    serve: ({ model, mmproj }) =>
      serving(model, ['--mmproj', mmproj!], async (post) => {
        const response = await post('/v1/audio/speech', speechRequest)
        assert.equal(response.headers.get('content-type'), 'audio/wav')
        return [...new Uint8Array(await response.arrayBuffer())]
      }),
    ai: (one) =>
      withModel(one, async (loaded) => {
        const model = provided(loaded).speechModel()
        const providerOptions = { ggufscope: { temperature: 0 } }
        return [...(await generateSpeech({ model, text: kQuestion, providerOptions })).audio.uint8Array]
      }),
    mcp: kReadsFiles,
    viewer: inViewer('lib/speech/speech.svelte.ts', /model\.speak\(/),
  },
}

test('the viewer has a panel for each architecture that speaks', () => {
  const pipelines = readFileSync(join(kRoot, 'core/speech/speech_model.cpp'), 'utf8')
  const names = [...pipelines.matchAll(/\{"\w+_gen", "\w*", "(\w+)", /g)].map(([, name]) => name!)
  assert.ok(names.length > 0)
  assert.deepEqual(
    names.filter((name) => !kSpeakers.includes(name)),
    [],
  )
})

test('the table has a row for each ability, and the models have them', async () => {
  assert.deepEqual(Object.keys(kTable).sort(), [...engine.modelAbilities].sort())
  for (const ability of kAbilities) {
    const abilities = await withModel(kCases[ability], async ({ info }) => info.abilities)
    assert.ok(abilities.includes(ability), `${ability}: ${abilities.join(', ')}`)
  }
})

async function checkDoors(t: TestContext, ability: Ability, one: Case): Promise<void> {
  const reference = kTable[ability].package
  assert.ok(typeof reference === 'function')
  const expected = await reference(one)
  assert.ok(expected.length > 0)
  for (const door of kDoors) {
    const cell = kTable[ability][door]
    if (typeof cell === 'string') t.diagnostic(`not through ${door}: ${cell}`)
    else if (door !== 'package')
      assert.deepEqual(await cell(one), door === 'viewer' ? '' : expected, `${ability} through ${door}`)
  }
}
for (const ability of kAbilities)
  test(`${ability}: every door gives the same`, (t) => checkDoors(t, ability, kCases[ability]))

test('speak: every door gives the same with Qwen3-TTS', { skip: kLong || !existsSync(voices) }, (t) => {
  const qwen = join(kVectors, 'new/speech/qwen3tts')
  return checkDoors(t, 'speak', { model: join(qwen, 'text.gguf'), mmproj: join(qwen, 'mmproj.gguf') })
})

test('the server has a route for each ability, and refuses those that a model lacks', async () => {
  const { kRoutes } = (await import(
    pathToFileURL(packedFile('wasm/dist/cli/serve/routes.js')).href
  )) as unknown as { kRoutes: { ability?: Ability; paths: string[] }[] }
  const served = new Set(kRoutes.map(({ ability }) => ability).filter((ability) => ability !== undefined))
  // Images and audio are parts of messages.
  assert.deepEqual([...served, 'image', 'audio'].sort(), [...engine.modelAbilities].sort())
  await assert.rejects(ask(kCases.rerank, '/v1/chat/completions', request(kCases.generate)), /400/)
})

test('serve takes the projector beside the model, unless told not to, and keeps images in its prompt cache', async () => {
  const beside = mkdtempSync(join(folder, 'beside-'))
  const { model, mmproj, content } = kCases.image
  for (const [name, from] of [
    ['model.gguf', model],
    ['mmproj-model-f16.gguf', mmproj!],
  ] as const)
    writeFileSync(join(beside, name), readFileSync(from))
  const body = request(kCases.image)
  const file = join(beside, 'model.gguf')
  const expected = await answers.package(kCases.image)
  await serving(file, [], async (post) => {
    const first = (await (await post('/v1/chat/completions', body)).json()) as Engine.ChatCompletion
    assert.equal(textOf(first), expected)
    const messages = [...body.messages, { role: 'assistant', content: 'x' }, { role: 'user', content }]
    const next = { ...body, messages }
    const second = (await (await post('/v1/chat/completions', next)).json()) as Engine.ChatCompletion
    const { cached_tokens } = second.usage.prompt_tokens_details
    assert.ok(cached_tokens >= first.usage.prompt_tokens - 1, `${cached_tokens} tokens were cached`)
    const streamed = await (await post('/v1/chat/completions', { ...body, stream: true })).text()
    assert.match(streamed, /"delta":{"content":/)
    // A long text beside an image is tokenized in another thread.
    const long = { type: 'text', text: 'Bees make honey. '.repeat(60_000) }
    const longBody = { ...body, messages: [{ role: 'user', content: [(content as object[])[0], long] }] }
    const tokenized = async () => {
      const answer = await post('/v1/chat/completions', longBody)
      assert.equal(answer.status, 400)
      assert.match(await answer.text(), /out-of-range/)
    }
    await tokenized() // starts the thread
    const done: string[] = []
    const other = async () => {
      assert.equal((await post('/tokenize', { content: 'owl' })).status, 200)
      done.push('other')
    }
    await Promise.all([tokenized().finally(() => done.push('long')), other(), other(), other()])
    assert.deepEqual(done, ['other', 'other', 'other', 'long'])
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const broken = { ...body, messages: [{ role: 'user', content: [image] }] }
    assert.equal((await post('/v1/chat/completions', broken)).status, 400)
  })
  await serving(file, ['--no-mmproj'], async (post) => {
    const refused = await post('/v1/chat/completions', body)
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /without a projector/)
  })
})

/** Files in every form, and what becomes of them: the text of the prompt, an image, or an error. */
const base64 = png.toString('base64')
const kFiles: readonly [file: object, result: 'seen' | RegExp | { code: string }][] = [
  [{ mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(png) } }, 'seen'],
  [{ mediaType: 'image', data: { type: 'data', data: base64 } }, 'seen'],
  [{ mediaType: 'image/*', data: { type: 'data', data: base64 } }, 'seen'],
  [
    { mediaType: 'image/png', data: { type: 'url', url: new URL(`data:image/png;base64,${base64}`) } },
    'seen',
  ],
  [
    { mediaType: 'text/plain', data: { type: 'data', data: Buffer.from('honey').toString('base64') } },
    /honey/,
  ],
  [{ mediaType: 'text/markdown', data: { type: 'text', text: 'honey' } }, /honey/],
  [
    { mediaType: 'application/json', data: { type: 'data', data: new TextEncoder().encode('{"a":1}') } },
    /"a":1/,
  ],
  [{ mediaType: 'text/plain', data: { type: 'data', data: 'AAE=/' } }, { code: 'invalid-argument' }],
  [
    { mediaType: 'text/plain', data: { type: 'data', data: new Uint8Array([255]) } },
    { code: 'invalid-argument' },
  ],
  [{ mediaType: 'application/pdf', data: { type: 'data', data: base64 } }, { code: 'unsupported' }],
  [{ mediaType: 'video/mp4', data: { type: 'data', data: base64 } }, { code: 'unsupported' }],
  [{ mediaType: 'audio/wav', data: { type: 'data', data: new Uint8Array(second) } }, { code: 'unsupported' }],
  [{ mediaType: 'image/png', data: { type: 'reference', reference: { a: 'b' } } }, { code: 'unsupported' }],
  [{ mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } }, { code: 'invalid-argument' }], // prettier-ignore
]

test("files in users' messages and in tools' results are seen, read or refused, never written as base64", async () => {
  await withModel(kCases.image, async (loaded) => {
    const model = provided(loaded)()
    let prompt: readonly number[] = []
    const { encodeChat } = loaded
    loaded.encodeChat = async (...args) => (prompt = await encodeChat.apply(loaded, args)) as number[]
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'shot', input: {} }
    for (const [file, result] of kFiles)
      for (const where of ['user', 'tool', 'tool, as AI SDK 5 has it'] as const) {
        const { mediaType, data } = file as { mediaType: string; data: { type: string; data?: unknown } }
        const isOlder = where === 'tool, as AI SDK 5 has it'
        if (isOlder && typeof data.data !== 'string') continue
        const part = isOlder ? { type: 'media', mediaType, data: data.data } : { type: 'file', ...file }
        const output = { type: 'content', value: [{ type: 'text', text: 'here' }, part] }
        const content = [{ type: 'tool-result', toolCallId: 'c', toolName: 'shot', output }]
        const messages =
          where === 'user'
            ? [{ role: 'user', content: [part, said] }]
            : [
                { role: 'user', content: [said] },
                { role: 'assistant', content: [call] },
                { role: 'tool', content },
              ]
        const answer = model.doGenerate({ prompt: messages as Ai.PromptMessage[], maxOutputTokens: 1 })
        const name = `${where} ${JSON.stringify(file).slice(0, 80)}`
        if (typeof result === 'object' && !(result instanceof RegExp)) {
          await assert.rejects(answer, result, name)
          continue
        }
        await answer
        const images = prompt.filter((id) => id < -1).length
        const text = loaded.tokenizer.decode(prompt.filter((id) => id >= 0))
        assert.equal(images > 0, result === 'seen', name)
        if (result !== 'seen') assert.match(text, result, name)
        assert.ok(text.length < 300 && base64.length > 600, `${name}: ${text}`)
      }
  })
})

test('warnings about a damaged sound that can still be read come through the package, the AI SDK, the server and the CLI', async () => {
  const cut = wav.subarray(0, 20_000)
  const message = {
    role: 'user',
    content: [{ type: 'input_audio', input_audio: { data: cut.toString('base64'), format: 'wav' } }],
  }
  const claims = /claims \d+ bytes of samples, but has 19956/
  const request = { messages: [message], temperature: 0, max_tokens: 1 }
  await withModel(kCases.audio, async (model) => {
    let result: Engine.ChatResult | undefined
    for await (const _ of model.chat([message], { maxTokens: 1, onDone: (done) => (result = done) }));
    assert.match(result!.warnings.join(), claims)
    const told: string[] = []
    await model.encodeChat([message], { onWarning: (warning) => told.push(warning) })
    assert.match(told.join(), claims)
    assert.match((await createChatCompletion(model, request)).warnings!.join(), claims)
    const prompt = [
      { role: 'user' as const, content: [{ type: 'file' as const, data: cut, mediaType: 'audio/wav' }] },
    ]
    const { warnings } = await generateText({
      model: createGgufscope(model)(),
      messages: prompt,
      maxOutputTokens: 1,
    })
    assert.match(JSON.stringify(warnings), claims)
    const streamed = streamText({ model: createGgufscope(model)(), messages: prompt, maxOutputTokens: 1 })
    await streamed.consumeStream()
    assert.match(JSON.stringify(await streamed.warnings), claims)
  })
  const { model, mmproj } = kCases.audio
  writeFileSync(path('cut.wav'), cut)
  const options = ['--mmproj', mmproj!, '--audio', path('cut.wav'), '--max-tokens', '1', '--threads', '1']
  const ran = await runCli(['run', model, ...options, 'x'])
  assert.equal(ran.status, 0, ran.err)
  assert.equal(ran.err.match(new RegExp(claims, 'g'))?.length, 1, ran.err)
  await serving(model, ['--mmproj', mmproj!], async (post) => {
    const answer = (await (await post('/v1/chat/completions', request)).json()) as Engine.ChatCompletion
    assert.match(answer.warnings!.join(), claims)
    const stream = await (await post('/v1/chat/completions', { ...request, stream: true })).text()
    assert.equal(stream.match(/"warnings":/g)?.length, 1)
  })
  await serving(kCases.transcribe.model, [], async (post) => {
    for (const format of ['json', 'verbose_json']) {
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(cut)]), 'cut.wav')
      form.set('response_format', format)
      const { warnings } = (await (await post('/v1/audio/transcriptions', form)).json()) as {
        warnings: string[]
      }
      assert.match(warnings.join(), claims)
    }
  })
})

test(
  'warnings of speech, and the share that is spoken, come through every door',
  { skip: !existsSync(voices) },
  async (t) => {
    const projector = readFileSync(kCases.speak.mmproj!)
    projector.write('klingon', projector.indexOf('english', projector.indexOf('model_variant')))
    writeFileSync(path('klingon.gguf'), projector)
    const one = { ...kCases.speak, mmproj: path('klingon.gguf') }
    const claim = /^the settings of the variant 'klingon' are not known/
    const isWhole = (shares: number[]) => {
      assert.ok(shares.length > 1 && shares.every((share, i) => share >= (shares[i - 1] ?? 0) && share <= 1))
    }
    await withModel(one, async (model) => {
      const results: Engine.SpokenResult[] = []
      const shares: number[] = []
      const onDone = (result: Engine.SpokenResult) => void results.push(result)
      const onProgress = (done: number) => void shares.push(done)
      const bytes = await createSpeech(model, speechRequest, { onDone, onProgress })
      assert.equal(results.length, 1)
      assert.match(results[0]!.warnings.join(), claim)
      assert.equal(results[0]!.sampleCount, (bytes.length - 44) / 2)
      isWhole(shares)
      for (const name of ['onProgress', 'onDone'] as const) {
        const failing = { [name]: () => Promise.reject(new Error('enough')) }
        await assert.rejects(createSpeech(model, speechRequest, failing), /enough/)
      }
      await assert.rejects(createSpeech(model, { ...speechRequest, stream_format: 'sse' }), {
        code: 'invalid-argument',
      })
      const { warnings } = await generateSpeech({ model: provided(model).speechModel(), text: kQuestion })
      assert.match(
        JSON.stringify(warnings),
        /"type":"other","message":"the settings of the variant 'klingon'/,
      )
    })
    const args = [one.model, kQuestion, '--mmproj', one.mmproj, '--threads', '1', '--force']
    const ran = await runCli(['speak', ...args, '--output', path('klingon.wav')])
    assert.equal(ran.status, 0, ran.err)
    assert.equal(ran.err.match(/variant 'klingon'/g)?.length, 1, ran.err)
    await serving(one.model, ['--mmproj', one.mmproj], async (post) => {
      const whole = await post('/v1/audio/speech', { ...speechRequest, response_format: 'pcm' })
      const header = JSON.parse(whole.headers.get('ggufscope-warnings')!) as string[]
      assert.match(header.join(), claim)
      const pcm = Buffer.from(await whole.arrayBuffer())
      const stream = await post('/v1/audio/speech', { ...speechRequest, stream_format: 'sse' })
      const events = (await stream.text())
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map(
          (line) =>
            JSON.parse(line.slice(6)) as { type: string; audio: string; done: number; warnings: string[] },
        )
      const last = events.pop()!
      assert.equal(last.type, 'speech.audio.done')
      assert.match(last.warnings.join(), claim)
      isWhole(events.map(({ done }) => done))
      assert.ok(Buffer.concat(events.map(({ audio }) => Buffer.from(audio, 'base64'))).equals(pcm))
      const refused = await post('/v1/audio/speech', {
        ...speechRequest,
        stream_format: 'sse',
        response_format: 'wav',
      })
      assert.equal(refused.status, 400)
    })
    await serving(kCases.speak.model, ['--mmproj', kCases.speak.mmproj!], async (post) => {
      const { headers } = await post('/v1/audio/speech', speechRequest)
      assert.equal(headers.get('ggufscope-warnings'), null)
    })
    t.diagnostic('the viewer: speak.spec.ts')
  },
)

test("OpenAI's files, and parts that cannot be read, in messages", async () => {
  await withModel(kCases.image, async (model) => {
    const tokens = async (part: object) => await model.encodeChat([{ role: 'user', content: [part] }])
    const file = (file_data: unknown) => ({ type: 'file', file: { file_data, filename: 'x' } })
    const seen = (ids: readonly number[]) => ids.filter((id) => id < -1).length
    assert.ok(seen(await tokens(file(`data:image/png;base64,${base64}`))) > 0)
    const address = new URL(`data:image/png;base64,${base64}`)
    for (const part of [
      { type: 'image', image: address },
      { type: 'image_url', image_url: address },
      { type: 'image_url', image_url: { url: address } },
      { type: 'image_url', image_url: address.href },
      { type: 'image_url', image_url: { url: `DATA:image/png;name=a.png;charset=utf-8;Base64,${base64}` } },
    ])
      assert.ok(seen(await tokens(part)) > 0, JSON.stringify(part).slice(0, 60))
    const text = await tokens(file('data:text/plain,hon%65y'))
    assert.match(model.tokenizer.decode(text), /honey/)
    for (const [part, code] of [
      [file(base64), 'invalid-argument'],
      [file(undefined), 'unsupported'],
      [file(`data:application/pdf;base64,${base64}`), 'unsupported'],
      [{ type: 'image' }, 'invalid-argument'],
      [{ type: 'audio', audio: null }, 'invalid-argument'],
      [{ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AA' } }, 'unsupported'],
      [{ type: 'video', video: base64 }, 'unsupported'],
      [{ type: 'document', document: base64 }, 'unsupported'],
      [{ type: 'input_image', image_url: `data:image/png;base64,${base64}` }, 'unsupported'],
      [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
        'invalid-argument',
      ],
      [{ type: 'image_url', image_url: [`data:image/png;base64,${base64}`] }, 'invalid-argument'],
      [{ type: 'image_url', image_url: new URL('https://example.com/a.png') }, 'invalid-argument'],
      [{ type: 'image_url', image_url: base64 }, 'invalid-argument'],
    ] as const)
      await assert.rejects(tokens(part), { code }, JSON.stringify(part).slice(0, 60))
  })
})
