// Generates the API reference: TypeDoc reads the sources, and its Markdown plugin writes one page for each entry
// point.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Application, type TypeDocOptions } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'

const root = join(import.meta.dirname, '../..')
const source = join(root, 'wasm/src')

/** The page, the source file, the import name, and a description. */
const kEntries = [
  [
    'ggufscope',
    'index.ts',
    'ggufscope',
    'Open a file: metadata, tensors, lint, tokenizer, chat template. Quantize floats.',
  ],
  ['node', 'node.ts', 'ggufscope/node', 'The same functions, which also accept paths, and writeFile.'],
  ['engine', 'engine/index.ts', 'ggufscope/engine', 'Load a model and run it.'],
  ['edit', 'edit/index.ts', 'ggufscope/edit', 'Build and change files.'],
  ['ai', 'ai/index.ts', 'ggufscope/ai', 'A provider for the AI SDK.'],
  ['store', 'store/index.ts', 'ggufscope/store', "Files stored in the browser's private storage."],
] as const

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
  return withoutJumps(renamed(text)).replace(/^# .*\n/, `# ${entry[2]}\n\n${entry[3]}\n`)
}

function overview(): string {
  const rows = kEntries.map(([page, , name, what]) => `| [\`${name}\`](${page}.md) | ${what} |`)
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
  entryPoints: kEntries.map(([, file]) => join(source, file)),
  tsconfig: join(root, 'wasm/tsconfig.json'),
  plugin: ['typedoc-plugin-markdown'],
  readme: 'none',
  disableSources: true,
  excludeInternal: true,
  excludeExternals: true,
  excludePrivate: true,
  skipErrorChecking: true,
  githubPages: false,
  sort: ['kind', 'source-order'],
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

export async function writeApi(folder: string, write: (path: string, text: string) => void): Promise<void> {
  const app = await Application.bootstrapWithPlugins(options)
  const project = await app.convert()
  if (!project) throw new Error('TypeDoc could not read the types')
  const out = mkdtempSync(join(tmpdir(), 'ggufscope-api-'))
  try {
    await app.outputs.writeOutput({ name: 'markdown', path: out }, project)
    const names = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.md'),
    )
    for (const name of names) {
      const page = name === 'index.md' ? 'ggufscope' : name.replace(/\.md$/, '')
      if (page !== 'README')
        write(join(folder, `${page}.md`), entryPage(page, readFileSync(join(out, name), 'utf8')))
    }
    write(join(folder, 'index.md'), overview())
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
