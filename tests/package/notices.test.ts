// The notices of third parties: the built viewer and the built site contain the licences of the packages that they bundle.
import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { thirdPartyNotices } from '../../web/notices.ts'
import { kRoot, packedFile } from './packed.ts'

const kFile = 'THIRD_PARTY_NOTICES.txt'
const own = readFileSync(join(kRoot, 'wasm', kFile), 'utf8').trim()

/** The packages that the files import, by the names in the imports. */
function importedBy(pattern: string): string[] {
  const files = globSync(pattern, { cwd: kRoot }).map((path) => readFileSync(join(kRoot, path), 'utf8'))
  const names = files
    .flatMap((text) => [...text.matchAll(/^\s*import (?!type\b)[^'"]*['"]((?:@[\w-]+\/)?[\w-]+)/gm)])
    .map(([, name]) => name!)
  return [...new Set(names)].filter((name) => name !== 'ggufscope')
}

test('the notices of the viewer have those of the package, and the licences of what it bundles', (t) => {
  const path = join(kRoot, 'web/dist', kFile)
  if (!existsSync(path)) return t.skip('the viewer is not built: npm run build')
  const text = readFileSync(path, 'utf8')
  assert.ok(text.startsWith(own))
  const names = importedBy('web/src/**/*.{ts,svelte}')
  assert.ok(names.includes('svelte') && names.includes('marked'), names.join())
  for (const name of names) {
    const folder = join(kRoot, 'node_modules', name)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    assert.ok(text.includes(`\n${name} ${version} (`), `${name} ${version}`)
    for (const file of globSync('{LICENSE,LICENSE.md}', { cwd: folder }))
      assert.ok(text.includes(readFileSync(join(folder, file), 'utf8').trim()), `${name}/${file}`)
  }
})

test('the notices of the site have the licence of vue', (t) => {
  const path = join(kRoot, 'web/dist/docs', kFile)
  if (!existsSync(path)) return t.skip('the site is not built: npm run build')
  assert.match(readFileSync(path, 'utf8'), /^@vue\/runtime-dom [\d.]+ \(MIT\)$/m)
})

test('the package contains its notices', () => {
  assert.equal(readFileSync(packedFile(`wasm/${kFile}`), 'utf8').trim(), own)
})

test('a build fails if a package contains no licence, in a worker too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-notices-'))
  try {
    const free = join(folder, 'node_modules/@some/one')
    mkdirSync(join(free, 'lib'), { recursive: true })
    writeFileSync(
      join(free, 'package.json'),
      '{ "name": "@some/one", "version": "1.2.3", "license": "(MIT)" }',
    )
    const worker = { 'worker.js': { type: 'chunk', moduleIds: [join(free, 'lib/index.js')] } }
    const notices = thirdPartyNotices('Head')
    const sources: string[] = []
    const context = { emitFile: (file: { source: string }) => (sources.push(file.source), '') }
    notices.collect.generateBundle(undefined, worker)
    const write = () => notices.write.generateBundle.call(context, undefined, {})
    assert.throws(write, /@some\/one 1\.2\.3 is bundled, and contains no licence/)
    writeFileSync(join(free, 'LICENSE'), 'As you like.\n')
    write()
    assert.match(sources[0]!, /^Head\n\n-+\n\n@some\/one 1\.2\.3 \(MIT\)\n\nAs you like\.\n$/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
