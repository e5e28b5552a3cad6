// The texts of the viewer: each language has all of them, and no component has a visible text outside the table.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'svelte/compiler'
import { figure, inWords } from '../../web/src/lib/language/figures.ts'
import { titles } from '../../web/src/lib/graph/flow.ts'
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

/** The messages of lint as its code makes them: {"key ", Quoted{key}, " is not ASCII"} is "key {} is not ASCII". */
function messagesOfLint(): Set<string> {
  const folder = join(import.meta.dirname, '../../core/gguf/lint')
  const found = new Set<string>()
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.cpp'))) {
    const code = readFileSync(join(folder, name), 'utf8')
    for (const [, list = ''] of code.matchAll(
      /\{((?:[^{}"]|"(?:[^"\\]|\\.)*"|\{(?:[^{}"]|"[^"]*")*\})*)\}\)/g,
    ))
      found.add(sentenceOf(list))
    for (const [, text = ''] of code.matchAll(/, "((?:[^"\\]|\\.)*)"\);/g)) found.add(text)
  }
  return found
}
function sentenceOf(list: string): string {
  const parts = list.match(/"(?:[^"\\]|\\.)*"|(?:[^",{}()]|\((?:[^()]|\([^()]*\))*\)|\{[^}]*\})+/g) ?? []
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => {
      if (part.startsWith('"')) return part.slice(1, -1)
      const counted = /^Counted\{.*?, "([^"]*)"(?:, "([^"]*)")?\}$/.exec(part)
      return counted ? `{#${counted.slice(1).filter(Boolean).join('/')}}` : '{}'
    })
    .join('')
}

test('what the package says is in all languages, and it still says it', async () => {
  const tables = await Promise.all(rows.flatMap(({ loadSaid }) => (loadSaid ? [loadSaid()] : [])))
  assert.equal(tables.length, languages.length)
  const [first] = tables.map((table) => Object.keys(table.default).toSorted())
  const docs = join(import.meta.dirname, '../../web/docs/reference')
  const rules = ['lint-rules', 'lint-rules-of-package'].flatMap((name) =>
    Object.values(
      JSON.parse(readFileSync(join(docs, `${name}.json`), 'utf8')) as Record<
        string,
        { meaning: string; cure: string }
      >,
    ),
  )
  const texts = rules.flatMap(({ meaning, cure }) => [meaning, cure])
  const lint = messagesOfLint()
  const code = ['wasm/src', 'core/gguf']
    .map((folder) => {
      const place = join(import.meta.dirname, '../..', folder)
      return readdirSync(place, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|inc|cpp)$/.test(name))
        .map((name) => readFileSync(join(place, name), 'utf8'))
        .join('\n')
    })
    .join('\n')
  for (const { default: table } of tables) {
    assert.deepEqual(Object.keys(table).toSorted(), first)
    for (const [text, translation = ''] of Object.entries(table)) {
      assert.ok(translation.trim(), text)
      const places = text.match(/\{[^}]*\}/g)?.length ?? 0
      const used = new Set(translation.match(/\{\d+\}/g))
      assert.deepEqual(
        [...used].toSorted(),
        Array.from({ length: places }, (_, i) => `{${i}}`),
        text,
      )
    }
  }
  const gone = first!.filter((text) => {
    const pieces = text.split(/\{[^}]*\}/)
    return (
      !texts.includes(text) &&
      !lint.has(text) &&
      !pieces.every((piece) => piece.split(/(?=, )/).every((part) => code.includes(part)))
    )
  })
  assert.deepEqual(gone, [])
  // A few new ones may be English for a while.
  const known = new Set(first)
  const english = texts.filter((text) => !known.has(text))
  assert.ok(english.length < 0.05 * texts.length, english.join('\n'))
  const untranslated = [...lint].filter(
    (text) => /[a-z]{3}/.test(text.replaceAll(/\{[^}]*\}/g, '')) && !known.has(text),
  )
  assert.ok(untranslated.length < 0.4 * lint.size, untranslated.join('\n'))
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
