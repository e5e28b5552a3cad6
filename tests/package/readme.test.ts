// Every snippet of the README and of the documentation, as printed, in a new project of npm with the packed package, a real
// server and the trained sample model. The text after a snippet's language selects the test:
//   ts           type-checked, and run on Node, where it must print something
//   ts run       the same; the site can also run it in the page, without its types
//   ts browser   type-checked: it needs a page (or a browser's storage)
//   ts types     type-checked: it needs another kind of model
//   js, json     parsed: settings of a bundler and the like
//   sh           lines of "npx ggufscope" or "ggufscope" run; lines of "npm" name a script of package.json
//   sh example   commands and options exist, but files are missing; also used for lines that call other programs
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { readmeTable, tableInReadme } from '../../scripts/make-readme-table.ts'
import { everyNth } from '../fixtures/short.ts'
import { startHub, type HubServer } from '../server/hub.ts'
import { startServer, type Server } from '../server/server.ts'
import { kSite } from '../../web/docs/.vitepress/site.ts'
import { kNodes, kRoot, loadNodePackage, packedFile, packedRoot } from './packed.ts'

const run = promisify(execFile)
const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
const kDocs = join(kRoot, 'web/docs')

interface Block {
  /** the page's path and the block's line */
  readonly at: string
  readonly page: string
  readonly language: string
  readonly mark: string
  readonly text: string
}

function blocksOf(path: string): Block[] {
  const page = relative(kRoot, path)
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/^( *)```(\w+)([^\n]*)\n(.*?)^ *```/gms)].map((match) => ({
    at: `${page}:${text.slice(0, match.index).split('\n').length}`,
    page,
    language: match[2]!,
    mark: match[3]!.trim(),
    text: match[4]!.replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }))
}

// Generated pages without snippets of their own are excluded, because they are made from tested tables.
const pages = globSync('**/*.md', { cwd: kDocs })
  .filter((page) => !page.startsWith('reference/api/') && page !== 'reference/commands.md')
  .toSorted()
const blocks = [join(kRoot, 'README.md'), ...pages.map((page) => join(kDocs, page))].flatMap(blocksOf)
const snippets = blocks.filter(({ language }) => language === 'ts')
const readme = readFileSync(join(kRoot, 'README.md'), 'utf8')
/** All of the README, and a sixth of the documentation's. */
const shortened = (all: readonly Block[]): Block[] => [
  ...all.filter(({ page }) => page === 'README.md'),
  ...everyNth(
    all.filter(({ page }) => page !== 'README.md'),
    6,
  ),
]

let server: Server
let hub: HubServer
let folder: string
before(async () => {
  server = await startServer()
  server.add('/sample.gguf', readFileSync(kModel))
  for (const kind of ['gguf', 'wav'])
    server.add(`/speech.${kind}`, readFileSync(join(kRoot, 'tests/fixtures', `commands.${kind}`)))
  server.add('/voice.gguf', readFileSync(join(kRoot, 'tests/fixtures/voice.gguf')))
  const bytes = readFileSync(kModel)
  hub = await startHub([
    {
      id: 'bartowski/SmolLM2-135M-Instruct-GGUF',
      files: { 'SmolLM2-135M-Instruct-Q4_K_M.gguf': bytes, 'SmolLM2-135M-Instruct-Q8_0.gguf': bytes },
    },
    {
      id: 'ggml-org/SmolVLM-256M-Instruct-GGUF',
      files: { 'SmolVLM-256M-Instruct-Q8_0.gguf': bytes, 'mmproj-SmolVLM-256M-Instruct-Q8_0.gguf': bytes },
    },
  ])
  // As the quick start says.
  folder = mkdtempSync(join(packedRoot(), 'readme-'))
  const npm = (...words: string[]) => run('npm', words, { cwd: folder })
  await npm('init', '-y')
  await npm('pkg', 'set', 'type=module')
  const [tarball] = globSync(join(packedRoot(), 'ggufscope-*.tgz'))
  await npm('install', '--offline', '--no-audit', '--no-fund', tarball!)
  // The tests' servers have the files of the site and of the hub.
  writeFileSync(
    join(folder, 'servers.mjs'),
    `const { fetch } = globalThis
const servers = ${JSON.stringify({ [kSite]: `${server.url}/`, 'https://huggingface.co/': `${hub.url}/` })}
globalThis.fetch = (source, options) => {
  const [published, own] = Object.entries(servers).find(([published]) => String(source).startsWith(published)) ?? ['', '']
  return fetch(published ? own + String(source).slice(published.length) : source, options)
}
`,
  )
})
after(async () => {
  await server.close()
  await hub.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A folder for the files of one snippet. It contains the model. */
function folderFor(at: string): string {
  const own = join(folder, at.replaceAll(/[^\w]+/g, '-'))
  mkdirSync(own)
  copyFileSync(kModel, join(own, 'model.gguf'))
  return own
}

describe('TypeScript snippets run as printed, in a new project', { concurrency: 2 }, () => {
  for (const { at, text, mark, page } of shortened(
    snippets.filter(({ mark }) => !['browser', 'types'].includes(mark)),
  )) {
    test(at, async () => {
      const servers = pathToFileURL(join(folder, 'servers.mjs')).href
      assert.ok(['', 'run'].includes(mark), `unknown mark "${mark}"`)
      const own = folderFor(at)
      // The README's snippets must be plain JavaScript that also runs on Node 20.
      const plain = page === 'README.md'
      if (plain) assert.doesNotMatch(text, /\busing \w+ =/)
      const isScript = await transform(text, { loader: 'js' }).then(
        () => true,
        () => false,
      )
      const path = join(own, `index.${plain || isScript ? 'js' : 'ts'}`)
      writeFileSync(path, text)
      for (const node of plain ? kNodes : [process.execPath]) {
        const { stdout } = await run(node, ['--import', servers, path], { cwd: own })
        assert.ok(stdout.trim().length > 0, 'it prints nothing')
      }
    })
  }
})

test('TypeScript snippets have the types of the package', async () => {
  const own = join(folder, 'types')
  mkdirSync(own)
  for (const { at, text } of snippets)
    writeFileSync(join(own, `${at.replaceAll(/[^\w]+/g, '-')}.ts`), `${text}\nexport {}\n`)
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable', 'esnext.array'],
    types: ['node', 'vite/client'],
    typeRoots: [join(kRoot, 'node_modules/@types'), join(kRoot, 'node_modules')],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  }
  writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(kRoot, 'node_modules/typescript-7/bin/tsc')
  await run(process.execPath, [tsc, '-p', own]).catch((error: { stdout?: string }) => {
    assert.fail(error.stdout)
  })
})

const linesOf = (text: string) =>
  text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line && !line.startsWith('#'))

const { scripts } = JSON.parse(readFileSync(join(kRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
const kShell = `ggufscope() { "$NODE" "$CLI" "$@"; }
npx() { [ "$1" = ggufscope ] || return 9; shift; ggufscope "$@"; }
`

/** Checks that the commands and options of a line exist. */
async function checkExample(line: string): Promise<void> {
  for (const [, command, rest] of line.matchAll(/\bggufscope ([a-z-]+)([^|]*)/g)) {
    const { stdout } = await run(process.execPath, [packedFile('wasm/dist/cli.js'), command!, '--help'])
    for (const [, option] of rest!.matchAll(/\s(--[a-z-]+)/g))
      assert.ok(stdout.includes(option!), `${line}: ${command} has no ${option}`)
  }
}

/** Runs a line like a shell if it calls only this package. For npm, it checks that the script exists. */
async function checkLine(line: string, mark: string, cwd: string): Promise<void> {
  const [, script] = /^npm (?:run )?([\w:-]+)/.exec(line) ?? []
  if (script !== undefined)
    return assert.ok(
      ['init', 'pkg', 'install', 'ci'].includes(script) || scripts[script],
      `${line}: no such script`,
    )
  const programs = line.split('|').map((part) => part.trim().replace(/^npx /, '').split(' ')[0])
  if (mark === 'example' || programs.some((program) => program !== 'ggufscope')) {
    assert.ok(mark === 'example' || programs.includes('ggufscope'), `${line}: neither npm nor ggufscope`)
    return await checkExample(line)
  }
  const env = {
    ...process.env,
    HF_ENDPOINT: hub.url,
    NODE: process.execPath,
    CLI: packedFile('wasm/dist/cli.js'),
  }
  const { stdout } = await run('sh', ['-c', kShell + line], { cwd, env })
  assert.ok(/> *\S+$/.test(line) || stdout.trim().length > 0, `${line} prints nothing`)
}

describe('commands run', { concurrency: 2 }, () => {
  for (const { at, text, mark } of shortened(blocks.filter(({ language }) => language === 'sh'))) {
    test(at, async () => {
      const own = folderFor(at)
      mkdirSync(join(own, 'models'))
      copyFileSync(kModel, join(own, 'models/model.gguf'))
      writeFileSync(join(own, 'book.txt'), 'It was a dark and stormy night.\n')
      const wide = join(own, 'model-F16.gguf')
      if (text.includes('model-F16.gguf')) {
        using file = await (await loadNodePackage()).open(kModel)
        const builder = await (await file.edit()).quantize('F16', { allowRequantize: true })
        writeFileSync(wide, await (await builder.build()).bytes())
      }
      // Lines run in order, because a command may read the output of an earlier one.
      for (const line of linesOf(text)) await checkLine(line, mark, own)
    })
  }
})

test('settings and JSON parse', async () => {
  for (const { at, language, text } of blocks) {
    if (language === 'json') assert.doesNotThrow(() => JSON.parse(text) as unknown, at)
    if (language === 'js')
      await transform(text, { loader: 'js' }).catch((error: unknown) =>
        assert.fail(`${at}: ${String(error)}`),
      )
  }
})

test('every row of a table has the cells of its header', () => {
  const faults = ['README.md', 'CHANGELOG.md', ...pages.map((page) => `web/docs/${page}`)].flatMap((page) => {
    // Lines of code blocks become empty, so that line numbers stay.
    const text = readFileSync(join(kRoot, page), 'utf8').replaceAll(/^( *)```.*?^\1```/gms, (block) =>
      block.replaceAll(/[^\n]/g, ''),
    )
    let columns = 0
    return text.split('\n').flatMap((line, i) => {
      const cells = /^\s*\|.*\|\s*$/.test(line) ? line.replaceAll('\\|', '').split('|').length : 0
      if (cells === 0 || columns === 0) columns = cells
      return cells === columns ? [] : [`${page}:${i + 1}: ${cells - 2} cells of ${columns - 2}`]
    })
  })
  assert.deepEqual(faults, [])
})

test('blocks have no `using`, which Safari and Node 20 lack, but on the page about it', () => {
  const pagesWith = blocks.filter(({ text }) => /^\s*(await )?using \w/m.test(text)).map(({ page }) => page)
  assert.deepEqual(pagesWith, ['web/docs/guides/bundlers.md'])
})

test('no two blocks of a page write the same file, and no address is a placeholder', () => {
  const kWrites = /(?:writeFile\(|--output )['"]?([^\s'",)]+)/g
  for (const page of new Set(blocks.map(({ page }) => page))) {
    const own = blocks.filter((block) => block.page === page && ['ts', 'sh'].includes(block.language))
    const written = own.flatMap(({ text }) => [
      ...new Set([...text.matchAll(kWrites)].map(([, name]) => name!)),
    ])
    const twice = written.filter((name, i) => written.indexOf(name) !== i)
    assert.deepEqual(twice, [], `${page}: written by two blocks`)
    for (const { at, text } of own) assert.doesNotMatch(text, /owner\/name/, at)
  }
})

test('there are snippets, and the README has its size', () => {
  assert.ok(snippets.filter(({ page }) => page === 'README.md').length >= 3)
  assert.ok(blocks.filter(({ language }) => language === 'sh').length >= 4)
  const lines = readme.split('\n').length
  assert.ok(lines <= 221, `README.md has ${lines - 1} lines`)
})

test("the README's table of figures is made of the stored results of the benchmarks", () => {
  assert.equal(tableInReadme(readme), readmeTable(), 'run node scripts/make-readme-table.ts')
})

test('recipes have at most 20 lines', () => {
  for (const { at, text } of blocks.filter(({ page }) => page === 'web/docs/recipes.md'))
    assert.ok(text.trimEnd().split('\n').length <= 20, at)
})

test('files of the repository that the documentation names are there', () => {
  const dead = ['README.md', '.github/CONTRIBUTING.md', ...pages.map((page) => `web/docs/${page}`)].flatMap(
    (page) =>
      [
        ...readFileSync(join(kRoot, page), 'utf8').matchAll(
          /`((?:core|scripts|tests|wasm|web|\.github)\/[\w./-]*)`/g,
        ),
      ]
        .map(([, path]) => path!)
        // Built files are missing in a fresh checkout.
        .filter((path) => !/\/dist\b/.test(path) && !existsSync(join(kRoot, path)))
        .map((path) => `${page}: ${path}`),
  )
  assert.deepEqual(dead, [])
})
