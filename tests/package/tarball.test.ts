// What the packed package has beside its code: what the README shows and links to, and source maps.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { packedFile } from './packed.ts'

const root = packedFile('.')
// Emscripten's code alone. That of the engine is a part of engine-worker.js.
const kGlue = new Set(['edit.js', 'quant.js', 'jinja.js'])

test('the picture and the links of the README work', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const targets = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!)
  assert.ok(targets.includes('web/screenshot.png') && targets.length > 20)
  assert.deepEqual(
    targets.filter((path) => !existsSync(join(root, path))),
    [],
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
