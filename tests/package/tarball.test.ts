// What the packed package has beside its code: what the README shows and links to, and source maps.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packedFile } from './packed.ts'

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

// Node shows the line of the code that threw.
test('an error that nobody catches is shown with a short line of code', () => {
  for (const [entry, call] of [
    ['index', 'open(new Uint8Array(8)).then((file) => file.lint())'],
    ['node', "open('not/there.gguf')"],
    ['engine/index', 'load(new Blob([new Uint8Array(8)]))'],
  ] as const) {
    const address = pathToFileURL(packedFile(`wasm/dist/${entry}.js`)).href
    const [name] = call.split('(')
    const code = `import { ${name} } from ${JSON.stringify(address)}\nawait ${call}`
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stderr, /GgufError/)
    const longest = Math.max(...stderr.split('\n').map((line) => line.length))
    assert.ok(longest < 2500, `${entry}: a line of ${longest} characters`)
  }
})
