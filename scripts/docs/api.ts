// Generates the API reference: TypeDoc reads the sources, and its Markdown plugin writes one page for each entry
// point. Long ones become several pages.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Application, type TypeDocOptions } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { arranged } from './api-layout.ts'
import { split } from './api-split.ts'
import { kTopics } from './api-topics.ts'

const root = join(import.meta.dirname, '../..')
const source = join(root, 'wasm/src')

/** The page, the source file, the import name, a description, and the names that come first in their group. */
const kEntries = [
  [
    'ggufscope',
    'index.ts',
    'ggufscope',
    'Open a file: metadata, tensors, lint, tokenizer, chat template. Quantize floats.',
    ['open', 'compare', 'GgufFile', 'Tokenizer', 'OpenOptions', 'TensorInfo', 'Metadata'],
  ],
  [
    'node',
    'node.ts',
    'ggufscope/node',
    'The same functions, which also accept paths, and writeFile.',
    ['open', 'load'],
  ],
  [
    'engine',
    'engine/index.ts',
    'ggufscope/engine',
    'Load a model and run it.',
    ['load', 'Model', 'SpeechModel', 'LoadOptions'],
  ],
  ['edit', 'edit/index.ts', 'ggufscope/edit', 'Build and change files.', ['GgufBuilder']],
  [
    'hub',
    'hub/index.ts',
    'ggufscope/hub',
    'Find models on hubs.',
    ['listRepository', 'findVariant', 'searchModels'],
  ],
  [
    'audit',
    'audit/index.ts',
    'ggufscope/audit',
    'Check files before they are published.',
    ['audit', 'hashFile'],
  ],
  [
    'element',
    'element.d.ts',
    'ggufscope/element',
    'The custom element `<gguf-viewer>`, which shows a file in any page.',
    ['GgufViewerElement'],
  ],
  ['ai', 'ai/index.ts', 'ggufscope/ai', 'A provider for the AI SDK.', ['createGgufscope']],
  [
    'store',
    'store/index.ts',
    'ggufscope/store',
    "Files stored in the browser's private storage.",
    ['download'],
  ],
] as const

/** The order in which entries describe what several of them export: those that have everything come last. */
const kDescribed = kEntries
  .map(([, file]) => file)
  .toSorted((a, b) => Number(a === 'node.ts') - Number(b === 'node.ts'))

/**
 * TypeDoc names a page after its file: "index" is the main entry's, "README" the list of all. An anchor before a
 * heading becomes the heading's own.
 */
function renamed(text: string): string {
  const anchored = text.replaceAll(/<a id="([^"]+)"><\/a>\n\n(#+ .*)/g, '$2 {#$1}')
  return anchored.replaceAll(/\]\(index\.md(#[^)]*)?\)/g, '](ggufscope.md$1)')
}

/** Raises headings that are more than one level below the one before. */
function withoutJumps(text: string): string {
  let last = 0
  return text.replaceAll(/^(#+)(?= )/gm, (marks) => '#'.repeat((last = Math.min(marks.length, last + 1))))
}

function entryPage(name: string, text: string): string {
  const entry = kEntries.find(([page]) => page === name)!
  return withoutJumps(arranged(renamed(text), entry[4])).replace(/^# .*\n/, `# ${entry[2]}\n\n${entry[3]}\n`)
}

function overview(): string {
  const rows = kEntries.map(([page, , name, what]) => {
    const parts = (kTopics[page] ?? []).map(({ name, title }) => `[${title}](${page}-${name}.md)`)
    return `| [\`${name}\`](${page}.md) | ${what}${parts.length > 0 ? ` Also: ${parts.join(', ')}.` : ''} |`
  })
  return [
    '---',
    'description: Every function, class and type of the package, by import name.',
    '---',
    '',
    '# API',
    '',
    'Generated from the types of the package. Each entry point has its own import name:',
    '',
    '| import | content |',
    '| --- | --- |',
    ...rows,
    '',
    'Every asynchronous function accepts an `AbortSignal` as `signal` and rejects with its reason. Every other error is a',
    '[`GgufError`](ggufscope.md#gguferror) with a [code](../errors.md).',
    '',
  ].join('\n')
}

const options: TypeDocOptions & PluginOptions = {
  entryPoints: kDescribed.map((file) => join(source, file)),
  tsconfig: join(root, 'wasm/tsconfig.json'),
  plugin: ['typedoc-plugin-markdown'],
  readme: 'none',
  disableSources: true,
  excludeInternal: true,
  excludeExternals: true,
  excludePrivate: true,
  skipErrorChecking: true,
  githubPages: false,
  sort: ['source-order'],
  groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*', 'References'],
  logLevel: 'Error',
  router: 'module',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: false,
  useHTMLAnchors: true,
  expandObjects: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'list',
  propertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  enumMembersFormat: 'table',
  tableColumnSettings: { hideSources: true, hideInherited: true, hideModifiers: true },
}

/** anchors: the file that says which anchors moved from a page to its parts */
export async function writeApi(
  folder: string,
  anchors: string,
  write: (path: string, text: string) => void,
): Promise<void> {
  const app = await Application.bootstrapWithPlugins(options)
  const project = await app.convert()
  if (!project) throw new Error('TypeDoc could not read the types')
  const out = mkdtempSync(join(tmpdir(), 'ggufscope-api-'))
  try {
    await app.outputs.writeOutput({ name: 'markdown', path: out }, project)
    const names = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.md'),
    )
    const whole = names.flatMap((name): [string, string][] => {
      const page = name === 'index.md' ? 'ggufscope' : name.replace(/\.md$/, '')
      return page === 'README' ? [] : [[page, entryPage(page, readFileSync(join(out, name), 'utf8'))]]
    })
    const { pages, moved } = split(new Map(whole))
    for (const [page, text] of pages) write(join(folder, `${page}.md`), text)
    write(join(folder, 'index.md'), overview())
    write(anchors, JSON.stringify(moved))
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
