// The custom element <gguf-viewer> of the packed package, in Chromium: host pages, attributes, events, languages, themes, leaks.
// tests/everywhere runs the host pages in three browsers.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { chromium, type Browser, type Page } from '@playwright/test'
import type { GgufViewerElement } from 'ggufscope/element'
import { addHosts, kHosts, kUsed, useElement } from '../everywhere/element.ts'
import { modelBytes } from '../everywhere/expected.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { violations } from '../web/axe.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { packedFile, packedRoot } from './packed.ts'

const skip = kHasBrowser ? false : 'no Chromium'
const work = mkdtempSync(join(packedRoot(), 'element-'))
writeFileSync(join(work, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
/** With this variable, pictures of the host pages are written to that folder. */
const pictures = process.env['PICTURES']

const home = await startServer({ cors: false })
const foreign = await startServer()
let browser: Browser
let hosts: ReadonlyMap<string, string>
before(async () => {
  for (const server of [home, foreign]) {
    server.add('/stories.gguf', modelBytes())
    server.add('/small.gguf', writeGguf(smallModel()))
  }
  home.mount('/package', packedFile('.'))
  hosts = await addHosts(home, foreign, packedFile('.'), work)
  browser = await chromium.launch({ ...kBrowser, args: [...kBrowser.args, '--js-flags=--expose-gc'] })
})
after(async () => {
  await browser?.close()
  await Promise.all([home.close(), foreign.close()])
  rmSync(work, { recursive: true, force: true })
})

let serial = 0
/** Opens a page with this body, and the element of the same origin. */
async function opened(body: string, size = { width: 1100, height: 900 }): Promise<Page> {
  const path = `/test-${serial++}/index.html`
  home.add(
    path,
    `<!doctype html><html lang="en"><title>test</title><link rel="icon" href="/icon.svg"><script src="/watch.js"></script><body><main><h1>Test</h1>${body}</main><script type="module" src="/package/wasm/dist/element.js"></script>`,
  )
  const page = await browser.newPage({ viewport: size, reducedMotion: 'reduce' })
  await page.goto(home.url + path)
  return page
}
const eager = (more = '') => `<gguf-viewer src="/stories.gguf" loading="eager" ${more}></gguf-viewer>`
const kFacts = '.sentence'

for (const name of kHosts)
  test(`a host page: ${name}`, { skip }, async () => {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, reducedMotion: 'reduce' })
    await page.goto(hosts.get(name)!)
    assert.deepEqual(await page.evaluate(useElement), kUsed)
    for (const dark of [false, true]) {
      await page.evaluate((isDark) => document.documentElement.classList.toggle('dark', isDark), dark)
      await page.evaluate(() => document.querySelector('gguf-viewer')!.setAttribute('panel', 'overview'))
      await page.locator(kFacts).waitFor()
      if (!pictures) continue
      mkdirSync(pictures, { recursive: true })
      await page.screenshot({ path: join(pictures, `${name}-${dark ? 'dark' : 'light'}.png`) })
    }
    await page.close()
  })

test(
  'one small module is loaded before there is a file, and less than 60 kB before one is opened',
  { skip },
  async () => {
    const page = await browser.newPage()
    const loaded: string[] = []
    page.on('request', (request) => void loaded.push(new URL(request.url()).pathname))
    const path = `/test-${serial++}/index.html`
    home.add(
      path,
      '<!doctype html><link rel="icon" href="/icon.svg"><gguf-viewer></gguf-viewer><script type="module" src="/package/wasm/dist/element.js"></script>',
    )
    await page.goto(home.url + path)
    await page.locator('gguf-viewer:defined').waitFor({ state: 'attached' })
    const modules = () => loaded.filter((one) => one.startsWith('/package/'))
    const sizeOf = (paths: readonly string[]) =>
      paths.reduce(
        (sum, one) => sum + gzipSync(readFileSync(packedFile(one.slice('/package/'.length)))).length,
        0,
      )
    assert.deepEqual(modules(), ['/package/wasm/dist/element.js'])
    assert.ok(sizeOf(modules()) < 2500, `${sizeOf(modules())} bytes`)
    await page.locator('gguf-viewer').evaluate((element) => element.setAttribute('src', '/stories.gguf'))
    await page.locator(kFacts).waitFor()
    const before = loaded
      .slice(0, loaded.indexOf('/stories.gguf'))
      .filter((one) => one.includes('/dist/element'))
    assert.ok(before.length > 3)
    assert.ok(sizeOf(before) < 60_000, `${sizeOf(before)} bytes`)
    await page.close()
  },
)

test('attributes and properties reflect each other, and events say what happened', { skip }, async () => {
  const page = await opened('')
  const seen = await page.evaluate(async () => {
    const element = document.createElement('gguf-viewer')
    await customElements.whenDefined('gguf-viewer')
    customElements.upgrade(element)
    const first = [element.src, element.panel, element.item, element.theme, element.loading, element.file]
    Object.assign(element, { panel: 'tensors', item: 'x', theme: 'dark', loading: 'eager' })
    const attributes = element.getAttributeNames().map((name) => `${name}=${element.getAttribute(name)}`)
    element.setAttribute('panel', 'nothing')
    element.setAttribute('theme', 'nothing')
    const unknown = [element.panel, element.theme]
    element.item = null
    const opened = new Promise<[string, boolean, boolean]>((resolve) =>
      element.addEventListener('gguf-open', ({ detail, bubbles, composed }) =>
        resolve([
          `${detail.name} ${detail.file === element.file} ${detail.file.tensors.length}`,
          bubbles,
          composed,
        ]),
      ),
    )
    const closed = new Promise<string>((resolve) =>
      element.addEventListener('gguf-close', ({ type }) => resolve(type)),
    )
    element.source = new File([await (await fetch('/stories.gguf')).arrayBuffer()], 'mine.gguf')
    document.body.append(element)
    const open = await opened
    element.source = undefined
    return { first, attributes, unknown, hasItem: element.hasAttribute('item'), open, closed: await closed }
  })
  assert.deepEqual(seen, {
    first: ['', 'overview', null, 'page', 'lazy', undefined],
    attributes: ['panel=tensors', 'item=x', 'theme=dark', 'loading=eager'],
    unknown: ['overview', 'page'],
    hasItem: false,
    open: ['mine.gguf true 29', true, true],
    closed: 'gguf-close',
  })
  await page.close()
})

test('properties that were set before the element was defined apply', { skip }, async () => {
  const path = `/test-${serial++}/index.html`
  home.add(
    path,
    `<!doctype html><link rel="icon" href="/icon.svg"><gguf-viewer></gguf-viewer><script type="module">
const element = document.querySelector('gguf-viewer')
element.panel = 'metadata'
element.loading = 'eager'
element.src = '/stories.gguf'
await import('/package/wasm/dist/element.js')
</script>`,
  )
  const page = await browser.newPage()
  await page.goto(home.url + path)
  await page.locator('[role=tab][aria-selected=true]', { hasText: 'Metadata 34' }).waitFor()
  assert.equal(await page.locator('gguf-viewer').getAttribute('src'), '/stories.gguf')
  await page.close()
})

test('an error has an event, is shown with its code, and the file can be tried again', { skip }, async () => {
  const page = await opened('<gguf-viewer src="/later.gguf" loading="eager"></gguf-viewer>')
  const alert = page.locator('gguf-viewer [role=alert]')
  await alert.getByText('no-such-file', { exact: true }).waitFor()
  assert.match(
    (await page.evaluate(() => (globalThis as unknown as { events: string[] }).events)).join(),
    /^gguf-error /,
  )
  // What the viewer offers there, and the element cannot, is not shown.
  assert.deepEqual(await alert.locator('button').allTextContents(), ['Try again'])
  home.add('/later.gguf', modelBytes())
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.locator(kFacts).waitFor()
  home.add('/other.gguf', modelBytes().subarray(0, 20))
  await page
    .locator('gguf-viewer')
    .evaluate((element: GgufViewerElement) => void (element.src = '/other.gguf'))
  await alert.getByText('truncated', { exact: true }).waitFor()
  await page.close()
})

test('elements of one page have their own language, theme, file and lens', { skip }, async () => {
  const panel = 'panel="tensors" item="blk.0.attn_q.weight"'
  const page = await opened(
    `${eager(`id="a" lang="de" theme="dark" ${panel}`)}${eager(`id="b" lang="zh" theme="light" ${panel}`)}<div lang="de-AT">${eager('id="c"')}</div>`,
  )
  await page.locator('#a [role=tab]', { hasText: 'Tensoren' }).waitFor()
  await page.locator('#b [role=tab]', { hasText: '张量' }).waitFor()
  await page.locator('#c [role=tab]', { hasText: 'Befunde' }).waitFor()
  await page
    .locator('#a')
    .getByText(/^Zeile 0, Spalte 0: -?\d/)
    .waitFor()
  await page
    .locator('#b')
    .getByText(/^第 0 行.*第 0 列.*\d$/)
    .first()
    .waitFor()
  const paper = (id: string) =>
    page.locator(`${id} .gguf`).evaluate((root) => getComputedStyle(root).backgroundColor)
  assert.equal(await paper('#a'), 'rgb(16, 19, 21)')
  assert.equal(await paper('#b'), 'rgb(242, 243, 240)')
  // What is drawn later is in the element's language, too.
  await page.locator('#b [role=tab]').nth(4).click()
  await page.locator('#b').getByText('检查未发现问题。').waitFor()
  await page.locator('#a [role=tab]').nth(0).click()
  await page
    .locator('#a')
    .getByText(/llama-Modell/)
    .first()
    .waitFor()
  await page.locator('#a').evaluate((element: GgufViewerElement) => void (element.lang = 'en'))
  await page.locator('#a [role=tab]', { hasText: 'Tensors' }).waitFor()
  await page.locator('#c [role=tab]', { hasText: 'Befunde' }).waitFor()
  await page.close()
})

test(
  'the theme is that of the page, and follows it; variables and parts change the rest',
  { skip },
  async () => {
    const page = await opened(
      `<style>:root { color-scheme: light } :root.dark { color-scheme: dark } gguf-viewer { --gguf-accent: rgb(1, 2, 3); height: 700px } gguf-viewer::part(selected-tab) { color: rgb(4, 5, 6) }</style>${eager('panel="tensors" item="blk.0.attn_q.weight"')}`,
    )
    await page.getByText(/^row 0, column 0: -?\d/).waitFor()
    const looks = () =>
      page.locator('gguf-viewer').evaluate((element) => {
        const root = element.shadowRoot!
        const tab = getComputedStyle(root.querySelector('[aria-selected=true]')!)
        const canvas = root.querySelector('canvas')!
        const [red, green, blue] = canvas
          .getContext('2d')!
          .getImageData(200, 200, 60, 60)
          .data.reduce((sum, value, i) => ((sum[i % 4]! += value / 3600), sum), [0, 0, 0, 0])
        return {
          paper: getComputedStyle(root.querySelector('.gguf')!).backgroundColor,
          border: tab.borderBottomColor,
          text: tab.color,
          height: element.getBoundingClientRect().height,
          isPictureDark: red + green + blue < 380,
        }
      })
    const rest = { border: 'rgb(1, 2, 3)', text: 'rgb(4, 5, 6)', height: 700 }
    assert.deepEqual(await looks(), { ...rest, paper: 'rgb(242, 243, 240)', isPictureDark: false })
    await page.evaluate(() => document.documentElement.classList.add('dark'))
    await page.waitForFunction(() => {
      const canvas = document.querySelector('gguf-viewer')!.shadowRoot!.querySelector('canvas')!
      const { data } = canvas.getContext('2d')!.getImageData(200, 200, 60, 60)
      return data.reduce((sum, value, i) => (i % 4 === 3 ? sum : sum + value / 3600), 0) < 380
    })
    assert.deepEqual(await looks(), { ...rest, paper: 'rgb(16, 19, 21)', isPictureDark: true })
    await page.close()
  },
)

test('an element below the visible part of the page waits until it is almost there', { skip }, async () => {
  const page = await opened(
    '<div style="height: 5000px"></div><gguf-viewer src="/stories.gguf"></gguf-viewer><gguf-viewer src="/small.gguf" loading="eager" panel="tensors"></gguf-viewer>',
  )
  await page.locator('gguf-viewer').nth(1).locator('[role=tabpanel]').first().waitFor({ state: 'attached' })
  assert.equal(await page.locator('gguf-viewer').first().locator('.frame').count(), 0)
  // Turning to a tab does not scroll the page.
  assert.equal(await page.evaluate(() => scrollY), 0)
  await page.evaluate(() => scrollTo(0, 4200))
  await page.locator('gguf-viewer').first().locator(kFacts).waitFor()
  await page.close()
})

test('what is narrow depends on the element, not on the window', { skip }, async () => {
  const page = await opened(`<div style="width: 400px">${eager('panel="metadata"')}</div>`)
  await page.locator('[role=row]', { hasText: 'general.architecture' }).click()
  const dialog = page.locator('gguf-viewer [role=dialog]')
  await dialog.waitFor()
  const [inner, outer] = await Promise.all([dialog.boundingBox(), page.locator('gguf-viewer').boundingBox()])
  assert.deepEqual(inner, outer)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.close()
})

test('a moved element keeps its file; removed ones leave nothing behind', { skip }, async () => {
  const page = await opened(eager('panel="tensors" item="blk.0.attn_q.weight"'))
  await page.getByText(/^row 0, column 0: -?\d/).waitFor()
  const result = await page.evaluate(async () => {
    const element = document.querySelector('gguf-viewer')!
    const { file } = element
    document.body.prepend(element)
    await new Promise((done) => setTimeout(done))
    const isKept = element.file === file && element.isConnected
    element.remove()
    await new Promise((done) => setTimeout(done))
    const isClosed = element.file === undefined && element.shadowRoot!.childNodes.length === 0
    const again = new Promise((resolve) => element.addEventListener('gguf-open', resolve, { once: true }))
    document.body.append(element)
    await again
    element.remove()
    const refs: WeakRef<object>[] = []
    // In a function of its own, whose variables end with it.
    const openAndRemove = async (panel: string) => {
      const one = document.createElement('gguf-viewer')
      const opened = new Promise((resolve) => one.addEventListener('gguf-open', resolve, { once: true }))
      Object.assign(one, {
        src: '/stories.gguf',
        loading: 'eager',
        panel,
      })
      document.body.append(one)
      await opened
      refs.push(new WeakRef(one), new WeakRef(one.file!), new WeakRef(one.shadowRoot!))
      one.remove()
    }
    for (const panel of ['overview', 'tensors', 'findings', 'overview', 'graph', 'metadata'])
      await openAndRemove(panel)
    const { gc } = globalThis as unknown as { gc(): void }
    const end = performance.now() + 20_000
    let left = refs.length
    while (left > 0 && performance.now() < end) {
      await new Promise((done) => setTimeout(done, 50))
      gc()
      left = refs.filter((ref) => ref.deref()).length
    }
    return { isKept, isClosed, left }
  })
  assert.deepEqual(result, { isKept: true, isClosed: true, left: 0 })
  await page.close()
})

test('axe finds nothing in any panel, light and dark, wide and narrow', { skip }, async () => {
  for (const [theme, width] of [
    ['light', 1100],
    ['dark', 420],
  ] as const) {
    const page = await opened(eager(`theme="${theme}"`), { width, height: 900 })
    const panels = ['overview', 'metadata', 'tensors', 'graph', 'findings']
    // In npm test each panel has one of the two looks.
    for (const panel of panels.filter((_, i) => kAll || (i % 2 === 0) === (theme === 'light'))) {
      await page
        .locator('gguf-viewer')
        .evaluate((element, name) => element.setAttribute('panel', name), panel)
      await page.locator(`#panel-${panel}:not([hidden]) > *`).first().waitFor()
      await page.waitForFunction(
        () => !document.querySelector('gguf-viewer')!.shadowRoot!.querySelector('[data-later]'),
      )
      if (panel === 'overview') await page.locator('#context').waitFor({ state: 'attached' })
      assert.deepEqual(await violations(page), [], `${panel}, ${theme}`)
    }
    await page.close()
  }
})

test('the page is left alone: its address, history, storage, title and language', { skip }, async () => {
  const page = await opened(eager('lang="de"'))
  await page.locator(kFacts).waitFor()
  const before = await page.evaluate(() => history.length)
  for (const tab of await page.locator('[role=tab]').all()) await tab.click()
  await page
    .locator('gguf-viewer')
    .getByText(/nichts|gefunden/)
    .first()
    .waitFor()
  assert.deepEqual(
    await page.evaluate(() => [
      location.search + location.hash,
      history.length,
      localStorage.length + sessionStorage.length,
      document.title,
      document.documentElement.lang,
      document.documentElement.dataset['theme'] ?? '',
      Object.keys(globalThis)
        .filter((name) => /gguf/i.test(name))
        .join(),
    ]),
    ['', before, 0, 'test', 'en', '', ''],
  )
  await page.close()
})

test('the module can be imported where there is no DOM', () => {
  const path = packedFile('wasm/dist/element.js')
  const program = `const { GgufViewerElement } = await import(${JSON.stringify(path)}); console.log(typeof GgufViewerElement)`
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  assert.equal(said, 'function\n')
})
