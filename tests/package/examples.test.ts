// The documentation's examples, as far as they need no registry: their packages have exact versions, the guide lists them, those without
// packages run. npm run test:everywhere runs all of them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startBrowser } from '../browsers/drive.ts'
import { kExamples, kExamplesFolder, replaceServers, showing } from '../everywhere/examples.ts'
import { kHasBrowser } from '../web/browser.ts'
import { startServer } from '../server/server.ts'
import { kRoot, packedRoot } from './packed.ts'

const names = readdirSync(kExamplesFolder).toSorted()
const { version } = JSON.parse(readFileSync(join(kRoot, 'package.json'), 'utf8')) as { version: string }

test('every example is run by test:everywhere, and listed in the documentation with a link to an editor', () => {
  assert.deepEqual(kExamples.map(({ name }) => name).toSorted(), names)
  const page = readFileSync(join(kRoot, 'web/docs/examples.md'), 'utf8')
  const links = [
    ...page.matchAll(
      /\]\(https:\/\/stackblitz\.com\/github\/[^)]*\/examples\/([\w-]+)\?file=([^) ]*)[^)]*\)/g,
    ),
  ]
  assert.deepEqual(links.map(([, name]) => name!).toSorted(), names)
  for (const [, name, file] of links) {
    assert.ok(existsSync(join(kExamplesFolder, name!, decodeURIComponent(file!))), `${name}: ${file}`)
    assert.ok(
      page.includes(`[${name}](https://github.com/ggufscope/ggufscope/tree/main/web/docs/examples/${name})`),
    )
  }
})

test('they name the version of this package, and exact versions of others', () => {
  for (const path of globSync('*/package.json', { cwd: kExamplesFolder })) {
    const manifest = JSON.parse(readFileSync(join(kExamplesFolder, path), 'utf8')) as Record<
      string,
      Record<string, string>
    >
    const { ggufscope, ...others } = { ...manifest['dependencies'], ...manifest['devDependencies'] }
    assert.equal(ggufscope, `^${version}`, path)
    for (const [name, wanted] of Object.entries(others))
      assert.match(wanted, /^\d+\.\d+\.\d+$/, `${path}: ${name}`)
  }
  const cdn = readFileSync(join(kExamplesFolder, 'cdn/index.html'), 'utf8')
  assert.deepEqual([...new Set(cdn.match(/ggufscope@[\d.]+/g))], [`ggufscope@${version}`])
  assert.deepEqual(globSync('*/{package-lock.json,node_modules}', { cwd: kExamplesFolder }), [])
})

test('the example for Node prints facts and a story', async () => {
  await using server = await startServer()
  server.add('/sample.gguf', readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
  const own = mkdtempSync(join(packedRoot(), 'example-'))
  try {
    cpSync(join(kExamplesFolder, 'node'), own, { recursive: true })
    replaceServers(own, server.url)
    const { stdout } = await promisify(execFile)(process.execPath, [join(own, 'index.js')], { cwd: own })
    assert.match(stdout, kExamples.find(({ name }) => name === 'node')!.result)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
})

test(
  'the single HTML file shows facts from the disk, and tells a story from a server',
  { skip: !kHasBrowser && 'there is no browser' },
  async () => {
    const example = kExamples.find(({ name }) => name === 'cdn')!
    await using server = await startServer()
    const own = mkdtempSync(join(packedRoot(), 'example-'))
    const browser = await startBrowser('chromium')
    try {
      cpSync(join(kExamplesFolder, 'cdn'), own, { recursive: true })
      replaceServers(own, server.url)
      server.add('/sample.gguf', readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
      server.mount('/ggufscope', join(packedRoot(), 'node_modules/ggufscope'))
      const page = await browser.newPage()
      await page.goto(pathToFileURL(join(own, 'index.html')).href)
      const facts = await page.evaluate(async () => {
        const text = () => document.querySelector<HTMLElement>('#facts')!.innerText
        for (let tries = 0; tries < 200 && text() === 'Reading...'; tries++)
          await new Promise((done) => setTimeout(done, 50))
        return text()
      })
      assert.match(facts, /llama, 2\d{6} parameters/)
      server.mount('/page', own)
      await page.goto(`${server.url}/page/index.html`)
      assert.match(await showing(example)(page), example.result)
    } finally {
      await browser.close()
      rmSync(own, { recursive: true, force: true })
    }
  },
)
