// The package as content networks offer it: every address of the documentation exists in the packed package, and the element
// starts from the one-line form, served at the addresses of jsDelivr and unpkg.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium, type Browser } from '@playwright/test'
import { modelBytes } from '../everywhere/expected.ts'
import { startServer } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { kRoot, packedFile } from './packed.ts'

const skip = kHasBrowser ? false : 'no Chromium'
const manifest = JSON.parse(readFileSync(packedFile('package.json'), 'utf8')) as {
  version: string
  jsdelivr: string
  unpkg: string
}
const kNetworks: Readonly<Record<string, RegExp>> = {
  jsdelivr: /https:\/\/cdn\.jsdelivr\.net(\/npm\/ggufscope(?:@[\w.-]+)?)(\/[\w./-]*)?/g,
  unpkg: /https:\/\/unpkg\.com(\/ggufscope(?:@[\w.-]+)?)(\/[\w./-]*)?/g,
}
const pages = globSync(['README.md', 'web/docs/**/*.{md,html}'], {
  cwd: kRoot,
  exclude: (path) => path.includes('node_modules'),
})
const text = pages.map((path) => readFileSync(join(kRoot, path), 'utf8')).join('\n')

const page = await startServer({ cors: false })
const network = await startServer()
let browser: Browser
before(async () => {
  page.add('/stories.gguf', modelBytes())
  for (const root of ['/npm/ggufscope', '/ggufscope'])
    for (const version of ['', `@${manifest.version}`, '@latest'])
      network.mount(`${root}${version}`, packedFile('.'))
  if (!skip) browser = await chromium.launch(kBrowser)
})
after(async () => {
  await browser?.close()
  await Promise.all([page.close(), network.close()])
})

test('the fields of content networks name files of the package', () => {
  for (const field of [manifest.jsdelivr, manifest.unpkg])
    assert.ok(statSync(packedFile(field)).isFile(), field)
})

test('the addresses in the documentation exist in the package', () => {
  const paths = Object.values(kNetworks).flatMap((network) =>
    [...text.matchAll(network)].map(([, , path = '']) => path.replace(/\.$/, '')),
  )
  assert.ok(paths.length > 2, paths.join())
  assert.deepEqual(
    paths.filter((path) => !existsSync(packedFile(path))),
    [],
  )
})

/** The line of the guide that loads the element. */
const [line] = /<script type="module" src="https:\/\/cdn\.jsdelivr\.net[^\n]*<\/script>/.exec(
  readFileSync(join(kRoot, 'web/docs/guides/embed.md'), 'utf8'),
)!
const kFile = /ggufscope(\/[^"]+)"/.exec(line)![1]!

for (const root of ['/npm/ggufscope', `/npm/ggufscope@${manifest.version}`, `/ggufscope@latest`])
  test(`the element starts from ${root.replace(manifest.version, 'VERSION')}`, { skip }, async () => {
    const script = line.replace(/src="[^"]*"/, `src="${network.url}${root}${kFile}"`)
    const view = `<gguf-viewer src="${page.url}/stories.gguf" loading="eager"></gguf-viewer>`
    page.add('/index.html', `<!doctype html><link rel="icon" href="data:,">${script}${view}`)
    const tab = await browser.newPage()
    const failed: string[] = []
    tab.on('response', (response) => response.status() >= 400 && failed.push(response.url()))
    tab.on('pageerror', (error) => failed.push(String(error)))
    await tab.goto(`${page.url}/index.html`)
    await tab.locator('.sentence').waitFor()
    assert.match(await tab.locator('.sentence').innerText(), /^A llama model of 2.03 million parameters/)
    assert.deepEqual(failed, [])
    await tab.close()
  })
