// Every public function, with every kind of wrong argument and option that JavaScript allows: it must reject with a
// GgufError whose message is a sentence, and never hang. A public function without a row here fails the test.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { smallModel } from '../fixtures/models.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { kRoot, loadHub, loadNodePackage, packedFile } from './packed.ts'

// Files that a wrong path creates, and cached ones, belong to the test.
const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
process.chdir(folder)
process.env['XDG_CACHE_HOME'] = folder
after(() => rmSync(folder, { recursive: true }))

const all = await loadNodePackage()
const hub = await loadHub()
const ai = (await import(
  pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
)) as typeof import('ggufscope/ai')
const { open, load, GgufError, GgufBuilder } = all

/** Whether a parameter may be one of the values below; undefined: not tried. */
type Kind = (value: unknown) => boolean | undefined
type Options = Readonly<Record<string, Kind>>

const kValues: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  NaN,
  '-1': -1,
  '0.5': 0.5,
  '1e300': 1e300,
  '1n': 1n,
  true: true,
  'a text': 'nonsense',
  'an empty text': '',
  'a symbol': Symbol('nonsense'),
  'a function': () => {},
  '[]': [],
  '[null]': [null],
  '{}': {},
}

const never: Kind = () => false
const any: Kind = () => true
const text: Kind = (value) => typeof value === 'string'
const flag: Kind = (value) => typeof value === 'boolean'
const callback: Kind = (value) => typeof value === 'function'
// What a function returns is not tried.
const fetching: Kind = (value) => (typeof value === 'function' ? undefined : false)
const object: Kind = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const emptyList: Kind = (value) => Array.isArray(value) && value.length === 0
const list: Kind = Array.isArray
const number =
  (least = -Infinity, most = Infinity): Kind =>
  (value) =>
    Number.isFinite(value) && least <= Number(value) && Number(value) <= most
const integer =
  (least = -Infinity, most = Infinity): Kind =>
  (value) =>
    Number.isSafeInteger(value) && number(least, most)(value)
const either =
  (...kinds: readonly Kind[]): Kind =>
  (value) =>
    kinds.some((kind) => kind(value) === true)
// In OpenAI's requests, null means absent.
const orNull = (kind: Kind): Kind => either(kind, (value) => value === null)
const maybe = (kind: Kind): Kind => either(kind, (value) => value === undefined)

/** A wrong value for an option is anything else than undefined and what its kind accepts. */
const reading: Options = { signal: never }
const hosting: Options = { wasmUrl: any, assets: either(text, object) }
const writing: Options = { ...reading, onProgress: callback }
const http: Options = {
  ...reading,
  fetch: fetching,
  headers: any,
  retries: number(0),
  timeout: number(0),
}
const hubOptions: Options = { ...reading, fetch: fetching, server: text, token: text }

const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
const file = await open(kModel)
const other = await open(writeGguf(smallModel()))
const model = await load(kModel, { threads: 1, contextLength: 64 })
after(() => {
  model.close()
  file.close()
  other.close()
})
const name = file.tensors[0]!.name
const tokenizer = await file.loadTokenizer()
const tokens = file.metadata.get('tokenizer.ggml.tokens') as Extract<
  ReturnType<typeof file.metadata.get>,
  object
>
const refuse = { fetch: async () => new Response('no', { status: 404 }) }
const messages = [{ role: 'user', content: 'Hi' }]
const builder = () => new GgufBuilder().set('general.architecture', 'x')
const edited = await file.edit()
const written = await builder().build()
const format = all.detectChatFormat({ template: '' })
const sound = new Float32Array(16)
const transcript = { segments: [] }
const finding = { level: 'note', code: 'x', message: 'x', offset: 0, shard: 0 } as const
const sampling: Options = {
  temperature: number(0),
  topK: integer(),
  seed: integer(),
  logitBias: object,
  maxTokens: integer(0),
  stop: either(text, emptyList),
  grammar: text,
  grammarTriggers: emptyList,
  showTokens: emptyList,
  schema: either(object, flag),
  logprobs: never,
  ignoreEnd: flag,
  contextShift: flag,
  keep: never,
  onOverflow: never,
  lookup: never,
  draft: never,
  signal: never,
  onDone: callback,
}
const rendering: Options = {
  template: text,
  tools: list,
  documents: list,
  addGenerationPrompt: flag,
  continue: flag,
  adapt: flag,
  variables: object,
  templateVariables: object,
  now: never,
  maxLength: never,
}
const rows = { rows: never, superBlock: never }

type Call = (...values: never[]) => unknown
/** The function, what each parameter may be, arguments that are right, and options beside those that are tried. */
interface Row {
  readonly call: Call
  readonly takes: readonly (Kind | Options)[]
  readonly right: readonly unknown[]
}
const row = (call: Call, takes: Row['takes'], right: readonly unknown[] = []): Row => ({ call, takes, right })
const drain =
  (make: (...values: never[]) => AsyncIterable<unknown>) =>
  async (...values: never[]) => {
    for await (const _ of make(...values)) break
  }
const bind = <T extends object, N extends keyof T>(one: T, member: N): T[N] =>
  (one[member] as unknown as { bind(one: T): T[N] }).bind(one)

const kFunctions: Readonly<Record<string, Row>> = {
  open: row(
    all.open,
    [
      text,
      {
        ...http,
        ...hosting,
        preview: never,
        cache: flag,
        onKeys: callback,
        onProgress: callback,
        allowMissingShards: flag,
      },
    ],
    [kModel],
  ),
  load: row(
    all.load,
    [
      text,
      {
        ...http,
        ...hosting,
        projector: text,
        contextLength: never,
        threads: never,
        variant: never,
        precision: never,
        cacheType: never,
        cacheTypeK: never,
        cacheTypeV: never,
        sparseAttention: flag,
        adapters: emptyList,
        draft: text,
        maxForks: never,
        cache: flag,
        memoryLimit: number(0),
        workerUrl: either(text, object),
        onProgress: callback,
        preview: never,
      },
    ],
    [kModel, { memoryLimit: 1 }],
  ),
  quantize: row(all.quantize, [text, never, { ...hosting, ...reading, importance: never }], ['Q8_0', sound]),
  compare: row(
    all.compare,
    [never, never, { ...writing, values: never, sampleBytes: never }],
    [file, file, { values: 'none' }],
  ),
  withPaths: row(all.withPaths, [any], ['x']),
  writeFile: row(
    all.writeFile,
    [(value) => value === 'nonsense', never, { ...writing, overwrite: flag }],
    ['there.gguf', written],
  ),
  applyChanges: row(all.applyChanges, [never, never, emptyList], [file, edited, []]),
  parseChanges: row(all.parseChanges, [never], ['{}']),
  formatChanges: row(all.formatChanges, [list], [[]]),
  findingSubject: row(all.findingSubject, [never, never], [file, finding]),
  fixOf: row(all.fixOf, [never, never], [file, finding]),
  lintAdapter: row(all.lintAdapter, [never, never], [other, file]),
  parseImatrix: row(all.parseImatrix, [never]),
  toNpy: row(all.toNpy, [never, text, reading], [file, name]),
  toSafetensors: row(all.toSafetensors, [never, { ...reading, tensors: emptyList }], [file]),
  toSrt: row(all.toSrt, [never], [transcript]),
  toVtt: row(all.toVtt, [never], [transcript]),
  toText: row(all.toText, [never], [transcript]),
  decodeWav: row(all.decodeWav, [never]),
  transcribeStream: row(
    drain(all.transcribeStream),
    [
      never,
      emptyList,
      { sampleRate: never, interval: number(0.1, 60), pause: number(0, 60), language: text },
    ],
    [model, []],
  ),
  createTranscription: row(all.createTranscription, [never, never], [model, {}]),
  schemaToGrammar: row(all.schemaToGrammar, [either(object, flag)], [true]),
  detectChatFormat: row(all.detectChatFormat, [{ template: text, tokens: object }], [{ template: '' }]),
  createReplyParser: row(
    all.createReplyParser,
    [never, { tools: list, prompt: text, newId: callback }],
    [format],
  ),
  toolGrammar: row(
    all.toolGrammar,
    [
      never,
      {
        tools: list,
        toolChoice: object,
        parallelToolCalls: flag,
        schema: either(object, flag),
        prompt: text,
        controlToken: callback,
      },
    ],
    [format, { tools: [] }],
  ),
  createChatCompletion: row(
    all.createChatCompletion,
    [
      never,
      {
        messages: never,
        temperature: orNull(number(0)),
        n: orNull(never),
        stop: orNull(either(text, emptyList)),
        tools: orNull(emptyList),
      },
      { ...reading, now: never },
    ],
    [model, { messages, max_tokens: 1 }],
  ),
  streamChatCompletion: row(
    drain(all.streamChatCompletion),
    [
      never,
      { messages: never, temperature: orNull(number(0)), n: orNull(never) },
      { ...reading, now: never },
    ],
    [model, { messages, max_tokens: 1 }],
  ),
  createCompletion: row(
    all.createCompletion,
    [
      never,
      { prompt: text, temperature: orNull(number(0)), logprobs: orNull(never) },
      { ...reading, now: never },
    ],
    [model, { prompt: 'Hi', max_tokens: 1 }],
  ),
  streamCompletion: row(
    drain(all.streamCompletion),
    [never, { prompt: text, temperature: orNull(number(0)) }, { ...reading, now: never }],
    [model, { prompt: 'Hi', max_tokens: 1 }],
  ),
  createEmbedding: row(
    all.createEmbedding,
    [never, { input: either(text, list), dimensions: orNull(never) }, reading],
    [model, { input: 'Hi' }],
  ),
  createRerank: row(
    all.createRerank,
    [never, { query: text, documents: list, top_n: orNull(never) }, reading],
    [model, { query: 'Hi', documents: [] }],
  ),
  download: row(
    all.download,
    [text, { ...http, onProgress: callback }],
    ['http://localhost:1/x.gguf', refuse],
  ),
  storedFile: row(all.storedFile, [text], ['http://localhost:1/x.gguf']),
  removeStored: row(all.removeStored, [text], ['http://localhost:1/x.gguf']),
  StoredSource: row(
    (...values: never[]) => new all.StoredSource(...(values as unknown as [string])),
    [text, http],
    ['http://localhost:1/x.gguf'],
  ),
  NodeFileSource: row(
    (...values: never[]) => new all.NodeFileSource(...(values as unknown as [string])),
    [text],
    ['x'],
  ),
  GgufBuilder: row(
    (...values: never[]) => new all.GgufBuilder(...(values as unknown as [object])),
    [hosting],
    [],
  ),
}

const kHub: Readonly<Record<string, Row>> = {
  parseHubAddress: row(hub.parseHubAddress, [text], ['a/b']),
  quantizationOf: row(hub.quantizationOf, [text], ['x.gguf']),
  variantsOf: row(hub.variantsOf, [emptyList], [[]]),
  pickVariant: row(hub.pickVariant, [emptyList, maybe(text)], [[], 'Q8_0']),
  pickProjector: row(hub.pickProjector, [emptyList, text], [[], 'x']),
  listRepository: row(hub.listRepository, [text, hubOptions], ['a/b', refuse]),
  findVariant: row(hub.findVariant, [text, hubOptions], ['a/b', refuse]),
  findProjector: row(hub.findProjector, [text, hubOptions], ['a/b', refuse]),
  searchModels: row(hub.searchModels, [text, { ...hubOptions, limit: never }], ['a', refuse]),
}

const kAi: Readonly<Record<string, Row>> = {
  createGgufscope: row(ai.createGgufscope, [either(object, callback)], [{}]),
}

const kMethods: readonly (readonly [what: string, one: object, rows: Readonly<Record<string, Row>>])[] = [
  [
    'file',
    file,
    {
      completeHeader: row(bind(file, 'completeHeader'), [reading]),
      tensor: row(bind(file, 'tensor'), [any]),
      damage: row(bind(file, 'damage'), [reading]),
      lintData: row(bind(other, 'lintData'), [writing]),
      loadTokenizer: row(bind(file, 'loadTokenizer'), [reading]),
      compareTokenizers: row(bind(file, 'compareTokenizers'), [reading]),
      renderChat: row(bind(file, 'renderChat'), [emptyList, rendering], [messages]),
      read: row(
        bind(file, 'read'),
        [never, { ...reading, ...rows, columns: never }],
        [name, { rows: [0, 1] }],
      ),
      dequantize: row(
        bind(file, 'dequantize'),
        [never, { ...reading, ...rows, columns: never }],
        [name, { rows: [0, 1] }],
      ),
      stats: row(
        bind(file, 'stats'),
        [never, { ...writing, ...rows, against: never }],
        [name, { rows: [0, 1] }],
      ),
      memory: row(bind(file, 'memory'), [
        {
          context: never,
          kvType: object,
          batch: never,
          gpuLayers: never,
          cpuExperts: never,
          devices: emptyList,
          host: never,
          mmproj: never,
          draft: never,
          lora: emptyList,
        },
      ]),
      edit: row(bind(file, 'edit'), [{ shard: never, allowDamaged: flag }]),
    },
  ],
  [
    'metadata',
    file.metadata,
    {
      has: row(bind(file.metadata, 'has'), [any]),
      get: row(bind(file.metadata, 'get'), [any]),
      type: row(bind(file.metadata, 'type'), [any]),
      offset: row(bind(file.metadata, 'offset'), [any]),
      meaning: row(bind(file.metadata, 'meaning'), [text], ['x']),
      forEach: row(bind(file.metadata, 'forEach'), [callback], [() => {}]),
    },
  ],
  [
    'array',
    tokens,
    {
      load: row(bind(tokens, 'load'), [reading]),
      at: row(bind(tokens, 'at'), [any], [0]),
      slice: row(bind(tokens, 'slice'), [any, any], [0, 1]),
      bytesAt: row(bind(tokens, 'bytesAt'), [any], [0]),
    },
  ],
  [
    'tokenizer',
    tokenizer,
    {
      encode: row(bind(tokenizer, 'encode'), [text, { special: flag, bos: flag }], ['a']),
      count: row(bind(tokenizer, 'count'), [text, { special: flag, bos: flag }], ['a']),
      countStream: row(
        bind(tokenizer, 'countStream'),
        [either(text, emptyList), { ...writing, special: flag, bos: flag, pieceLength: never }],
        ['a'],
      ),
      decode: row(
        bind(tokenizer, 'decode'),
        [either(emptyList), { special: flag, removeSpecial: flag }],
        [[1]],
      ),
      decodeBytes: row(
        bind(tokenizer, 'decodeBytes'),
        [emptyList, { special: flag, removeSpecial: flag }],
        [[1]],
      ),
      stream: row(bind(tokenizer, 'stream'), [{ special: flag }]),
      'stream().push': row((id: never) => tokenizer.stream().push(id), [integer()], [1]),
      isEndOfGeneration: row(bind(tokenizer, 'isEndOfGeneration'), [integer()], [1]),
      find: row(bind(tokenizer, 'find'), [text], ['a']),
      search: row(bind(tokenizer, 'search'), [
        { text, types: emptyList, from: integer(0), limit: integer(0) },
      ]),
    },
  ],
  [
    'tokens',
    tokenizer.tokens,
    {
      at: row(bind(tokenizer.tokens, 'at'), [any], [0]),
      slice: row(bind(tokenizer.tokens, 'slice'), [any, any], [0, 1]),
    },
  ],
  [
    'builder',
    edited,
    {
      has: row(bind(edited, 'has'), [any]),
      type: row(bind(edited, 'type'), [any]),
      set: row(
        (...values: never[]) => builder().set(...(values as unknown as ['a', 1])),
        [
          (value) => value === 'nonsense',
          (value) => ['number', 'bigint', 'boolean', 'string'].includes(typeof value) || emptyList(value),
          (value) => value === undefined,
        ],
        ['a', 1, 'u32'],
      ),
      copy: row(
        (...values: never[]) => builder().copy(...(values as unknown as [typeof file, string])),
        [never, never, (value) => value === 'nonsense' || value === undefined],
        [file, 'general.name', 'a.b'],
      ),
      remove: row((key: never) => builder().remove(key), [never], ['general.architecture']),
      rename: row(
        (...values: never[]) => builder().rename(...(values as unknown as ['a', 'b'])),
        [never, (value) => value === 'nonsense'],
        ['general.architecture', 'x.y'],
      ),
      addTensor: row(
        (...values: never[]) =>
          builder().addTensor(...(values as unknown as ['a', [1], 'F32', Float32Array])),
        [(value) => value === 'nonsense', emptyList, text, never],
        ['a', [16], 'F32', sound],
      ),
      renameTensor: row(
        async (...values: never[]) => (await file.edit()).renameTensor(...(values as unknown as ['a', 'b'])),
        [never, (value) => value === 'nonsense'],
        [name, 'x'],
      ),
      removeTensor: row(bind(edited, 'removeTensor'), [never]),
      addTokens: row(bind(edited, 'addTokens'), [emptyList, { rows: never }], [[]]),
      removeTokens: row(bind(edited, 'removeTokens'), [emptyList], [[]]),
      quantize: row(
        async (...values: never[]) => (await file.edit()).quantize(...(values as unknown as ['Q8_0'])),
        [
          never,
          {
            ...reading,
            pure: flag,
            types: either(callback, object),
            importance: never,
            importanceFile: text,
            allowRequantize: flag,
            fallback: flag,
            dryRun: flag,
          },
        ],
        ['F32'],
      ),
      mergeAdapter: row(
        bind(edited, 'mergeAdapter'),
        [never, { ...reading, scale: number(), importance: never }],
        [other],
      ),
      build: row(bind(edited, 'build'), [{ ...reading, version: never, endianness: never }]),
      split: row(
        bind(edited, 'split'),
        [text, { ...reading, version: never, endianness: never, maxTensors: number(1), maxBytes: number(1) }],
        ['x'],
      ),
    },
  ],
  [
    'written',
    written,
    {
      pieces: row(drain(bind(written, 'pieces')), [writing]),
      stream: row(async (options: never) => await written.stream(options).getReader().read(), [writing]),
      blob: row(bind(written, 'blob'), [writing]),
      bytes: row(bind(written, 'bytes'), [writing]),
    },
  ],
  [
    'model',
    model,
    {
      generate: row(drain(bind(model, 'generate')), [text, sampling], ['Hi', { maxTokens: 1 }]),
      chat: row(
        drain(bind(model, 'chat')),
        [
          emptyList,
          {
            ...sampling,
            ...rendering,
            onOverflow: never,
            keep: integer(0),
            toolChoice: object,
            parallelToolCalls: flag,
            specialContent: flag,
          },
        ],
        [messages, { maxTokens: 1 }],
      ),
      encodeChat: row(
        bind(model, 'encodeChat'),
        [emptyList, { ...rendering, specialContent: flag }],
        [messages],
      ),
      encodeMedia: row(bind(model, 'encodeMedia'), [never, writing], [{ type: 'audio', audio: sound }]),
      evaluate: row(bind(model, 'evaluate'), [never, { ...reading, audio: never }], [[1]]),
      transcribe: row(bind(model, 'transcribe'), [never, { language: text }], [sound]),
      encode: row(bind(model, 'encode'), [never, {}], [sound]),
      logMel: row(bind(model, 'logMel'), [never, {}], [sound]),
      embed: row(
        bind(model, 'embed'),
        [
          either(text, emptyList),
          { ...reading, pooling: never, normalize: either(flag, integer(-1)), onDone: callback },
        ],
        ['Hi'],
      ),
      rerank: row(
        bind(model, 'rerank'),
        [text, emptyList, { ...reading, topN: never, onDone: callback }],
        ['a', ['b']],
      ),
      setAdapters: row(bind(model, 'setAdapters'), [emptyList, reading], [[]]),
      loadState: row(bind(model, 'loadState'), [never]),
    },
  ],
]

// Members that take nothing, and those of the class that no type has.
const kWithout = new Set(
  `constructor close summary lint tokenizer keys values entries toJSON toTypedArray removeSplit fork profile peaks
  saveState token bytes rowRange tensorType finish sibling read`.split(/\s+/),
)
const kPlainExports = new Set('GgufError WrittenFile storedFiles removePreviews'.split(' '))

/** Sentences of JavaScript engines, not of this package. */
const kEngineWords =
  /undefined is not|null is not|is not a function|is not iterable|Cannot (read|convert|mix)|reading '|BindingError|not an instance|must be of type|Invalid (URL|array)/

async function outcome(run: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((resolve) => (timer = setTimeout(() => resolve(new Error('It hangs.')), 20_000)))
  try {
    await Promise.race([
      (async () => await run())(),
      late.then((error) => {
        throw error
      }),
    ])
    return undefined
  } catch (error) {
    return error ?? new Error(`It throws ${String(error)}.`)
  } finally {
    clearTimeout(timer)
  }
}

function flaw(error: unknown, accepted: boolean): string | undefined {
  if (error === undefined) return accepted ? undefined : 'is accepted'
  if (!(error instanceof GgufError)) return `throws ${String(error)}`
  if (kEngineWords.test(error.message) || error.message.length < 15) return `says ${error.message}`
  return undefined
}

async function flawsOf(what: string, { call, takes, right }: Row): Promise<string[]> {
  const found: string[] = []
  const attempt = async (
    at: number,
    value: unknown,
    words: string,
    accepted: boolean | undefined,
  ): Promise<void> => {
    if (accepted === undefined) return
    const values = [...right]
    values[at] = value
    const error = await outcome(() => call(...(values as never[])))
    const seen = flaw(error, accepted)
    if (seen !== undefined) found.push(`${what}: ${words} ${seen}`)
  }
  for (const [at, kind] of takes.entries()) {
    if (typeof kind === 'function') {
      for (const [words, value] of Object.entries(kValues))
        await attempt(at, value, `argument ${at + 1}, ${words},`, kind(value))
      continue
    }
    for (const [words, value] of Object.entries(kValues))
      if (!object(value) && value !== undefined) await attempt(at, value, `options ${words}`, false)
    const base = (right[at] ?? {}) as object
    await attempt(at, { ...base, nonsense: 1 }, 'the unknown option', false)
    for (const [name, accepts] of Object.entries(kind))
      for (const [words, value] of Object.entries(kValues))
        if (value !== undefined)
          await attempt(at, { ...base, [name]: value }, `option ${name}, ${words},`, accepts(value))
  }
  return found
}

const kRows = [
  ...Object.entries({ ...kFunctions, ...kHub, ...kAi }),
  ...kMethods.flatMap(([what, , rows]) =>
    Object.entries(rows).map(([member, row]) => [`${what}.${member}`, row] as const),
  ),
]
for (const [what, row] of kRows)
  test(what, async () => {
    assert.equal(row.takes.length >= row.right.length, true, 'each argument has a kind')
    assert.deepEqual(await flawsOf(what, row), [])
  })

test('every public function has a row', () => {
  const missing: string[] = []
  const entries = [
    ['ggufscope/node', all, kFunctions],
    ['ggufscope/hub', hub, kHub],
    ['ggufscope/ai', ai, kAi],
  ] as const
  for (const [entry, exports, rows] of entries)
    for (const [name, value] of Object.entries(exports))
      if (typeof value === 'function' && !Object.hasOwn(rows, name) && !kPlainExports.has(name))
        missing.push(`${entry}: ${name}`)
  for (const [what, one, rows] of kMethods)
    for (const [name, { value }] of Object.entries(
      Object.getOwnPropertyDescriptors(Object.getPrototypeOf(one) as object),
    ))
      if (typeof value === 'function' && !Object.hasOwn(rows, name) && !kWithout.has(name))
        missing.push(`${what}.${name}`)
  assert.deepEqual(missing, [])
})
