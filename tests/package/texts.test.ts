// The texts of the viewer: each language has all of them, and no component has a visible text outside the table.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'svelte/compiler'
import { figure, inWords } from '../../web/src/lib/language/figures.ts'
import { titles } from '../../web/src/lib/graph/flow.ts'
import { saidByCore, saidByPackage, saidOfKeys } from './package-sentences.ts'
import { Sentences } from '../../web/src/lib/language/sentences.ts'
import { languages as rows } from '../../web/src/texts/languages.ts'

const kSource = join(import.meta.dirname, '../../web/src')
const kTexts = join(kSource, 'texts')

type Table = Readonly<Record<string, string>>

const foldersOf = (place: string) =>
  readdirSync(place, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
const languages = foldersOf(kTexts).filter((name) => name !== 'package')
const areas = readdirSync(join(kTexts, 'de'))
  .filter((name) => name !== 'index.ts')
  .map((name) => name.replace('.ts', ''))

async function exported<T>(language: string, area: string): Promise<T> {
  const module = (await import(join(kTexts, language, `${area}.ts`))) as Record<string, T>
  return module[area]!
}
/** The keys of the German table. The compiler checks the code against them. */
const english = (
  await Promise.all(areas.map(async (area) => Object.keys(await exported<Table>('de', area))))
).flat()

/** Names of a text's placeholders, the same in each form of a plural. Only the number may be absent from some. */
function placeholders(text: string): string {
  const [first = '', ...more] = text.split('|').map((form) => {
    const names = new Set(form.match(/\{(?!n\})\w+\}/g))
    return [...names].toSorted().join(' ')
  })
  for (const other of more) assert.equal(other, first, text)
  return text.includes('{n}') ? `${first} {n}` : first
}

test('no text is in the table twice, and each is in the code', () => {
  assert.equal(new Set(english).size, english.length)
  const code = readdirSync(kSource, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(svelte|ts)$/.test(name) && !name.startsWith('texts'))
    .map((name) => readFileSync(join(kSource, name), 'utf8'))
    .join('\n')
  assert.deepEqual(
    english.filter((text) => !code.includes(text)),
    [],
  )
})

test('the titles of the graph are in the table', () => {
  assert.deepEqual(
    Object.values(titles).filter((title) => !english.includes(title)),
    [],
  )
})

test('each language is a row, and has all texts with their placeholders and plurals', async () => {
  const rows = readFileSync(join(kTexts, 'languages.ts'), 'utf8')
  assert.deepEqual(
    languages.toSorted(),
    [...rows.matchAll(/import\('\.\/(\w+)\/index\.ts'\)/g)].map(([, name]) => name).toSorted(),
  )
  for (const language of languages) {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    for (const area of areas) {
      const table = await exported<Table>(language, area)
      const keys = Object.keys(await exported<Table>('de', area))
      assert.deepEqual(Object.keys(table).toSorted(), keys.toSorted())
      for (const [text, translation] of Object.entries(table)) {
        assert.ok(translation.trim(), text)
        assert.equal(placeholders(translation), placeholders(text), `${language}: ${text}`)
        const forms = text.includes('|') ? pluralCategories.length : 1
        assert.equal(translation.split('|').length, forms, `${language}: ${text}`)
      }
    }
  }
})

test('each language writes numbers and chooses plurals as Intl does', () => {
  const values = [
    0, 1, 2, 7, 10, 999, 1000, 9999, 12345, 999_499, 1e6, 2_033_408, 7_241_732_096, 4e11, 1.2e13,
  ]
  const figures = [...values, 0.5, 1.5, 0.1234, 12.3456, 99.95, -1234.5, 123456789n, NaN]
  const orders = ['zero', 'one', 'two', 'few', 'many', 'other']
  const long = { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits: 3 } as const
  for (const language of rows) {
    const plurals = new Intl.PluralRules(language.code)
    const forms = orders.filter((name) =>
      plurals.resolvedOptions().pluralCategories.some((one) => one === name),
    )
    for (const value of values) {
      const words = new Intl.NumberFormat(language.code, long).format(value).replaceAll('\u00a0', ' ')
      assert.equal(inWords(value, language), words)
      assert.equal(language.form(value), forms.indexOf(plurals.select(value)), `${language.code}: ${value}`)
    }
    for (const value of figures)
      for (const [most, least] of [
        [0, 0],
        [2, 0],
        [2, 2],
        [4, 1],
      ] as const) {
        const intl = new Intl.NumberFormat(language.code, {
          maximumFractionDigits: most,
          minimumFractionDigits: least,
        })
        assert.equal(figure(value, most, least, language), intl.format(value))
      }
  }
})

/** Folders whose errors the viewer can show. */
const kFoldersOfCore = [
  'core/gguf', 'core/base', 'core/model', 'core/engine', 'core/text', 'core/audio', 'core/vision', 'core/media',
  'core/speech', 'core/gpu', 'core/jinja', 'wasm',
] // prettier-ignore
/** The others are those of the command line, the AI SDK, reports of audits and requests of servers. */
const kFoldersOfPackage = [
  'audio', 'chat', 'compare', 'decision', 'edit', 'engine', 'file', 'gpu', 'header', 'hub', 'media', 'memory',
  'runtime', 'schema', 'sources', 'sparse', 'store', 'tensors', 'text',
].map((folder) => `wasm/src/${folder}`) // prettier-ignore
/** Parts of messages as the code joins them; the tables have the whole ones. */
const kJoined = new Set([
  '{}{#byte}, more than the device binds',
  '{} the tensor data at byte {}: {}',
  '{}{}bad magic at byte 0: {}',
  'tensor {}{} of type {}',
  'file type {} was removed from llama.cpp{}',
  'file type {} is unknown{}',
  'is {}: llama.cpp takes {} to {}',
  'has {#element}, not {}',
  'has fewer than three elements: one each for red, green and blue',
  'is below image_min_pixels',
  'has an odd count of elements: they are widths and heights',
  'names a block beyond the last one',
  'no attention heads{}',
  '{} key heads do not divide {#head}{}',
  'attention heads have no elements{}',
  'rope.dimension_count {} is beyond the rotation{}',
  'an image of {} x {}',
  '{} pixels has none',
  '{} pixels has more than the {} that are taken',
  '{} is no key that readers know: {} was probably meant{}',
  'The input is damaged: {}{}. {}',
  '{} {}, but its {} is {}, not {}',
  'tensor {} is in shard {}{} already',
  'split.tensors.count is {}, but the shards have {}',
  'the prompt that the template makes lacks {}',
  // Findings of lintData(), and of paths.
  'tensor {} of {} is damaged in {} of {}: {}',
  '{} (and {} more tensors)',
  "{} names a repository, and no file: give a file's path or address",
  'Addresses that begin with {} cannot be read: {}. Give a path, or an address of {}',
])
/** The same as they are said. */
const kWhole = [
  'matrices that are read together have 2 bytes, more than the device binds',
  'the activations of a batch have 2 bytes, more than the device binds',
  'the cache of a layer has 2 bytes, more than the device binds',
  'the states of a layer have 2 bytes, more than the device binds',
  'vectors or the record of a pass have 2 bytes, more than the device binds',
  'bad magic at byte 0: a GGUF file begins with the letters GGUF',
  "tensor 'a' is of type 30, which ggml does not know",
  "tensor 'a' and 3 more are of type Q4_2, which was removed from ggml",
  'file type 5 was removed from llama.cpp',
  'file type 99 is unknown',
  "'clip.vision.image_size' is 3: llama.cpp takes 4 to 9",
  "'clip.vision.image_mean' has 1 element, not 3",
  "'clip.vision.image_mean' has fewer than three elements: one each for red, green and blue",
  "'clip.vision.image_max_pixels' is below image_min_pixels",
  "'clip.vision.image_grid_pinpoints' has an odd count of elements: they are widths and heights",
  "'clip.vision.feature_layer' names a block beyond the last one",
  'no attention heads in layer 3',
  '3 key heads do not divide 8 heads in layer 3',
  'attention heads have no elements',
  'rope.dimension_count 64 is beyond the rotation in layer 3',
  'an image of 0 x 7 pixels has none',
  'an image of 90000 x 70000 pixels has more than the 100000000 that are taken',
  "tensor 'a' of F32 is damaged in 2 of 5242880 elements: element 524288 of row 2 holds an infinity",
  "tensor 'a' of F16 is damaged in 1 of 5 elements: element 4 of row 2 holds NaN (and 5 more tensors)",
  "tensor 'a' of Q4_K is damaged in 1 of 1 block: block 0 (in row 0) holds NaN",
  "tensor 'a' of Q4_K is damaged in 2 of 576 blocks: block 7 (in row 1) holds an infinity",
  "tensor 'a' of Q8_1 is damaged in 2 of 576 blocks: block 7 (in row 1) is of a type that no file should hold",
  // Of the viewer.
  "tensor 'a' of Q4_K is damaged in 512 of 147456 elements",
  // Composed of several: what, where and in what.
  'truncated at byte 1048560 in tensor name 812',
  'impossible count 77 at byte 16 in key-value count',
  "'general.name' is u32, not string",
  "'tokenizer.ggml.tokens' is string, not an array of string",
  "truncated (at least 12 more bytes expected) at byte 90 in value of key 'llama.context_length'",
  ...[
    'the file: llama.embedding_length is missing or 0',
    'the file: llama.block_count is missing or 0, so the number of layers is unknown; layer 3 has no tensors',
    'the file: llama.attention.head_count is missing or 0, so the size of keys and values is unknown',
    'the draft model with this model: a model that speaks by itself drafts nothing',
    'it as a projector: the file for mmproj is of the kind model',
    'it as an adapter: the file for lora is of the kind model',
    "the projector with this model: none of its matrices gives rows of 64, the model's width: they give 12, 16",
  ].map((problem) => `Nothing is estimated, because no loader takes ${problem}.`),
  'huggingface.co answered 401 for model.gguf. It asks for a token.',
  'huggingface.co answered 503 for model.gguf. It asks to wait 3 s. Try again later.',
  '"general.licence" is no key that readers know: general.license was probably meant',
  '"general.licence" is no key that readers know: general.license was probably meant, which is there too',
  'The input is damaged: the file b.gguf of this split model is not there. Read it again.',
  'b.gguf is shard 2, but its split.no is 0, not 1',
  'b.gguf is of 2 shards, but its split.count is not there, not 2',
  'b.gguf is of a set of 1 tensor, but its split.tensors.count is 3, not 1',
  "tensor 'a' is in shard 1 already",
  'split.tensors.count is 4, but the shards have 5 tensors',
  "the prompt that the template makes lacks the user's message",
  "the prompt that the template makes lacks the user's first message of a conversation of three",
  'the template is only the name llama3: the format llama3 is used',
]

const tablesOf = async (load: 'loadSaid' | 'loadErrors') =>
  await Promise.all(
    rows.flatMap((row) =>
      row[load] ? [row[load]().then((table) => [row.code, table.default] as const)] : [],
    ),
  )

/** Rules of lint: what they mean, and what helps. */
const rulesOfLint = ['lint-rules', 'lint-rules-of-package'].flatMap((name) =>
  Object.values(
    JSON.parse(
      readFileSync(join(import.meta.dirname, '../../web/docs/reference', `${name}.json`), 'utf8'),
    ) as Record<string, { meaning: string; cure: string }>,
  ).flatMap(({ meaning, cure }) => [meaning, cure]),
)

/** English words that a whole translation does not have outside of names and quoted texts. */
const kLeft = /(?<![\w."'“„-])\b(?:the|this|is|are|has|have|not|and|of|more|no)\b(?!["'”“-])/
const isHalf = (translation: string) => kLeft.test(translation.replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, ''))

/** A sentence with values in its places, of which counts are 1 or 2. */
const example = (sentence: string, n: 1 | 2) =>
  sentence
    .replaceAll(
      /\{#([^}/]+)(?:\/([^}]+))?\}/g,
      (_, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`,
    )
    .replaceAll(/(?<=[a-z])\{\}/g, ' {}')
    .replaceAll('{}', 'x9')

test('the titles of fixes are in each language', async () => {
  const source = readFileSync(join(import.meta.dirname, '../../wasm/src/edit/fixes.ts'), 'utf8')
  const found = [...source.matchAll(/(?:title: |\bset\(|: text\()(?:'([^']+)'|"([^"]+)"|`([^`]+)`)/g)].map(
    ([, one, two, three]) => (one ?? two ?? three)!.replaceAll(/\$\{[^}]+\}/g, 'x'),
  )
  assert.ok(found.length > 12)
  for (const [code, table] of await tablesOf('loadSaid')) {
    const translate = new Sentences(table)
    const missing = found.filter((title) => translate.translate(title) === undefined)
    assert.deepEqual(missing, [], code)
  }
})

for (const [what, load, sentences] of [
  ['rules', 'loadSaid', rulesOfLint],
  ['messages of lint', 'loadSaid', [...saidByCore('core/gguf/lint')]],
  ['meanings and units of keys', 'loadSaid', [...saidOfKeys()]],
  ['errors of the core', 'loadErrors', kFoldersOfCore.flatMap((folder) => [...saidByCore(folder)])],
  ['errors of the package', 'loadErrors', [...saidByPackage(kFoldersOfPackage)]],
] as const)
  test(`in all languages: ${what}`, async () => {
    assert.ok(sentences.length > 100, 'sentences are found')
    for (const [code, table] of await tablesOf(load)) {
      const translate = new Sentences(table)
      const english = sentences.filter(
        (sentence) =>
          !kJoined.has(sentence) &&
          ([1, 2] as const).some((n) => {
            const translation = translate.translate(example(sentence, n))
            return translation === undefined || isHalf(translation)
          }),
      )
      assert.deepEqual(english, [], code)
    }
  })

test('joined messages are in all languages, with the forms of German plurals', async () => {
  const tables = new Map(await tablesOf('loadErrors'))
  for (const table of tables.values()) {
    const translate = new Sentences(table)
    for (const text of kWhole) {
      const translation = translate.translate(text)
      assert.ok(translation !== undefined, text)
      assert.doesNotMatch(translation, /\b(?:the|is|are|of|has|have|more)\b/, text)
    }
  }
  const said = new Sentences(tables.get('de')!)
  const depend = (n: string) => said.translate(`'x' is missing, on which depend the shapes of ${n}`)
  assert.equal(depend('1 tensor'), "'x' fehlt; davon hängen die Formen von 1 Tensor ab")
  assert.equal(depend('2 tensors'), "'x' fehlt; davon hängen die Formen von 2 Tensoren ab")
  // An amount in the place of a sentence.
  const cut = "The file is truncated at byte 9: of the 256 rows of tensor 'x' the first 87 are there."
  assert.match(said.translate(cut) ?? '', /Von den 256 Zeilen von Tensor 'x'/)
})

test('what the package said once is in no table, and places are kept', async () => {
  const tables = await tablesOf('loadErrors')
  const [first] = tables.map(([, table]) => Object.keys(table).toSorted())
  const code = ['wasm/src', 'core']
    .map((folder) => {
      const place = join(import.meta.dirname, '../..', folder)
      return readdirSync(place, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|inc|cpp|hpp)$/.test(name))
        .map((name) =>
          readFileSync(join(place, name), 'utf8').replaceAll(/"\s*\n\s*"|' \+\s*\n\s*'|\\(?=["'])/g, ''),
        )
        .join('\n')
    })
    .join('\n')
  for (const [, table] of tables) {
    assert.deepEqual(Object.keys(table).toSorted(), first)
    for (const [text, translation = ''] of Object.entries(table)) {
      assert.ok(translation.trim(), text)
      const places = text.match(/\{(?:#[^}]*|~)?\}/g)?.length ?? 0
      const used = new Set(
        [...translation.matchAll(/\{(\d+)(?:#[^}]*)?\}/g)].map(([, place]) => Number(place)),
      )
      assert.deepEqual(
        [...used].toSorted((a, b) => a - b),
        Array.from({ length: places }, (_, i) => i),
        text,
      )
    }
  }
  const known = new Set(
    [
      ...rulesOfLint,
      ...saidOfKeys(),
      ...saidByCore('core'),
      ...saidByCore('wasm'),
      ...saidByPackage(['wasm/src']),
    ].map((text) => text.replaceAll(/(?<=[a-z])\{\}/g, ' {}')),
  )
  const gone = first!.filter((text) => {
    const pieces = text.split(/\{(?:#[^}]*|~)?\}/)
    return (
      !known.has(text.replaceAll('{~}', '{}')) &&
      !pieces.every((piece) =>
        piece
          .split(/(?=, )| (?=at byte|in |of |has |is |and |holds |reads |are |names )|(?<=:) /)
          .every((part) => code.includes(part)),
      )
    )
  })
  assert.deepEqual(gone, [])
})

test('Chinese texts have marks of full width beside Chinese characters', async () => {
  const own = await Promise.all(areas.map((area) => exported<Table>('zh', area)))
  const ofPackage = [...(await tablesOf('loadSaid')), ...(await tablesOf('loadErrors'))]
  const texts = [...own, ...ofPackage.flatMap(([code, table]) => (code.startsWith('zh') ? [table] : []))]
    .flatMap((table) => Object.values(table))
    .filter((text) => text !== undefined)
  assert.ok(texts.length > 2000)
  // "data:" is the scheme of an address.
  const narrow =
    /\p{sc=Han}[,:;?!]|(?<!data)[,:;?!] ?\p{sc=Han}|\p{sc=Han} ?\((?=.*\p{sc=Han}.*\))|[。，；：、] (?!\/)/u
  assert.deepEqual([...new Set(texts.filter((text) => narrow.test(text)))], [])
})

test('sentences with names and numbers are recognized', () => {
  const table = new Sentences({
    'key {} is there already': 'Schlüssel {0} kommt schon vor',
    '{} is {}, no UUID': '{0} ist {1}, keine UUID',
    '{} has {#element} for {#block}': '{2} Blöcke, {1} Elemente: {0}',
    'a key is empty': 'Ein Schlüssel ist leer',
    ' (and {} more)': ' (und {0} weitere)',
  })
  assert.equal(table.translate('a key is empty'), 'Ein Schlüssel ist leer')
  assert.equal(table.translate("key 'a is b' is there already"), "Schlüssel 'a is b' kommt schon vor")
  assert.equal(table.translate("'x' has 1 element for 2 blocks"), "2 Blöcke, 1 Elemente: 'x'")
  assert.equal(
    table.translate("key 'a' is there already (and 7 more)"),
    "Schlüssel 'a' kommt schon vor (und 7 weitere)",
  )
  assert.equal(table.translate("uuid is '{0}', no UUID"), "uuid ist '{0}', keine UUID")
  const german = new Sentences({ 'key {} is missing.': 'Schlüssel {0} fehlt.' }, rows[1]!.marks)
  assert.equal(german.translate("key 'a' is missing."), 'Schlüssel „a“ fehlt.')
  // A list of messages, which end without a full stop there.
  const refusals = new Sentences({
    'no loader takes it: {~}.': 'kein Programm nimmt sie: {0}.',
    'key {} is missing.': 'Schlüssel {0} fehlt.',
    ' (and {} more)': ' (und {0} weitere)',
  })
  assert.equal(
    refusals.translate("no loader takes it: key 'a' is missing; key 'b' is missing (and 2 more)."),
    "kein Programm nimmt sie: Schlüssel 'a' fehlt; Schlüssel 'b' fehlt (und 2 weitere).",
  )
  assert.equal(refusals.translate('one thing; another thing'), undefined)
  // Another table may have the whole: half of it would be in two languages.
  assert.equal(refusals.translate("key 'a' is missing; another thing"), undefined)
  // Words of a longer sentence are no name.
  assert.equal(table.translate('a is b, which it should be, no UUID'), undefined)
  assert.equal(table.translate('toString'), undefined)
  assert.equal(table.translate('nothing like it'), undefined)
})

interface Node {
  type: string
  start: number
  [key: string]: unknown
}
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const kAttributes = new Set(['aria-label', 'aria-roledescription', 'aria-valuetext', 'title', 'placeholder', 'alt', 'label', 'empty', 'what']) // prettier-ignore
/** Names, units and examples that are the same in all languages. */
const kExempt =
  /^(ggufscope|GGUF|RMS|NMSE|NaN|tokenizer\.json|general\.author|https:\/\/\S+|<\|tool\|>|1, 15043, 29871|\{ "enum": .*|true|false)$/
const isVisible = (text: string) => /\p{L}{2}/u.test(text) && !kExempt.test(text.trim())

/** Texts of an expression that become visible: not those that t() translates, or that are compared or passed on. */
function textsIn(node: unknown): Node[] {
  if (!isNode(node)) return []
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' && isVisible(node['value']) ? [node] : []
    case 'TemplateLiteral': {
      const quasis = node['quasis'] as { value: { cooked: string } }[]
      return quasis.some(({ value }) => isVisible(value.cooked))
        ? [node]
        : (node['expressions'] as unknown[]).flatMap(textsIn)
    }
    case 'ConditionalExpression':
      return [...textsIn(node['consequent']), ...textsIn(node['alternate'])]
    case 'LogicalExpression':
    case 'BinaryExpression':
      return node['type'] === 'LogicalExpression' || node['operator'] === '+'
        ? [...textsIn(node['left']), ...textsIn(node['right'])]
        : []
    default:
      return []
  }
}

/** Texts of a template that are not translated. */
function visibleTexts(node: unknown): Node[] {
  if (Array.isArray(node)) return node.flatMap(visibleTexts)
  if (!isNode(node)) return []
  if (node.type === 'Text') return isVisible(String(node['data'])) ? [node] : []
  if (node.type === 'StyleDirective') return []
  if (node.type === 'ExpressionTag') return textsIn(node['expression'])
  if (node.type === 'Attribute') {
    if (!kAttributes.has(String(node['name']))) return []
    return visibleTexts(node['value'])
  }
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) || isNode(value) ? visibleTexts(value) : [],
  )
}

function outsideTheTable(source: string): string[] {
  const { fragment } = parse(source, { modern: true })
  return visibleTexts(fragment).map(({ start }) => {
    const line = source.slice(0, start).split('\n').length
    return `${line}: ${source.slice(start).split('\n')[0]}`
  })
}

test('no component has a visible text outside the table', () => {
  const found = readdirSync(kSource, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.svelte'))
    .flatMap((name) =>
      outsideTheTable(readFileSync(join(kSource, name), 'utf8')).map((text) => `${name}:${text}`),
    )
  assert.deepEqual(found, [])
})

test('no message of an error is outside the table', () => {
  // These report faults of the viewer itself.
  const found = readdirSync(kSource, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(svelte|ts)$/.test(name) && !/^main|worker|chunk-source/.test(name))
    .filter((name) => /new Error\(\s*['"`]/.test(readFileSync(join(kSource, name), 'utf8')))
  assert.deepEqual(found, [])
})

test('the check finds texts, attributes and parts of expressions', () => {
  assert.equal(outsideTheTable('<p>Open</p>').length, 1)
  assert.equal(outsideTheTable('<input placeholder="Name of a model" /><img alt="A ship" />').length, 2)
  assert.equal(outsideTheTable("<p>{busy ? 'Reading…' : t('Read')}</p><p>{name || '(empty)'}</p>").length, 2)
  assert.equal(outsideTheTable('<p title={`${count} files`}>{#if one}and more{/if}</p>').length, 2)
  assert.equal(
    outsideTheTable("<p class=\"muted\">{t('Read')} {kind === 'model' ? '' : '-'} 4 kB</p>").length,
    1,
  )
})
