// What the packed package has beside its code: what the README shows and links to, and source maps.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { packedFile, packedRoot } from './packed.ts'

const root = packedFile('.')
// Emscripten's code alone. That of the engine is a part of engine-worker.js.
const kGlue = new Set(['edit.js', 'quant.js', 'jinja.js'])

for (const [name, target, least] of [
  ['README.md', 'web/screenshot.png', 20],
  ['CHANGELOG.md', 'web/docs/guides/tools.md', 5],
] as const)
  test(`the links and pictures of ${name} work`, () => {
    const text = readFileSync(join(root, name), 'utf8')
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!)
    assert.ok(targets.includes(target) && targets.length > least)
    assert.deepEqual(
      targets.filter((path) => !existsSync(join(root, path))),
      [],
    )
  })

test('CHANGELOG.md has a section for the version of the package, below that of the coming one', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const versions = [...changes.matchAll(/^## (\S+)$/gm)].map(([, name]) => name!)
  assert.ok(versions.includes(version), `${versions.join(', ')} lack ${version}`)
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })),
  )
})

test('scripts have source maps with their sources', () => {
  const scripts = globSync('wasm/dist/**/*.js', { cwd: root })
  assert.ok(scripts.length > 100)
  for (const script of scripts) {
    if (kGlue.has(script.slice('wasm/dist/'.length))) continue
    const name = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(join(root, script), 'utf8'))?.[1]
    assert.ok(name, `${script} names no source map`)
    const map = JSON.parse(readFileSync(join(root, dirname(script), name), 'utf8')) as {
      sources: string[]
      sourcesContent?: (string | null)[]
    }
    assert.equal(map.sourcesContent?.length, map.sources.length, script)
    assert.ok(map.sources.length > 0 && map.sourcesContent!.every((text) => text), script)
  }
})

// Bundlers look for new URL('./file', import.meta.url) in the text, and esbuild breaks lines within texts.
test('addresses that bundlers look for are whole', () => {
  const broken = /new\s+URL\(\s*(["'])(?:(?!\1)[^\n])*\\\n/
  assert.match('new URL(".\\\n/quant.wasm",import.meta.url)', broken)
  for (const script of globSync('wasm/dist/**/*.js', { cwd: root }))
    assert.doesNotMatch(readFileSync(join(root, script), 'utf8'), broken, script)
})

// Node prints the line that threw, which may have 100,000 characters here.
for (const [entry, call] of [
  ['ggufscope/node', 'await open("absent.gguf")'],
  ['ggufscope', 'open({ read: 1 })'],
  ['ggufscope/edit', 'parseImatrix(new Uint8Array(3))'],
  ['ggufscope/engine', 'await load(1)'],
] as const)
  test(`an error that nobody catches is readable: ${call}`, () => {
    const name = /(\w+)\(/.exec(call)![1]!
    const code = `import { ${name} } from '${entry}'; ${call}`
    const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: packedRoot(),
      encoding: 'utf8',
    })
    assert.equal(ran.status, 1)
    assert.match(ran.stderr, /^GgufError: .*\n +at /m)
    assert.ok(Math.max(...ran.stderr.split('\n').map((line) => line.length)) < 400, ran.stderr.slice(0, 2000))
  })
