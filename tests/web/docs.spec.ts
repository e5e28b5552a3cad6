// The documentation below the viewer: its pages, search, colours, links to the viewer and back, and axe's rules.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import { writeHeader } from '../fixtures/gguf.ts'
import { hostileKeys } from '../fixtures/models.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { violations } from './axe.ts'
import { expect, test } from './site.ts'

/**
 * One page of each kind: written, generated, with wide tables, with drawings. The first ones are checked in all sizes
 * and themes.
 */
const kPages = [
  '',
  'quick-start.html',
  '404.html',
  'reference/api/store.html',
  'performance/data.html',
  'recipes.html',
  'examples.html',
  'guides/run.html',
  'reference/commands.html',
  'reference/errors.html',
  'reference/format.html',
  'reference/lint-rules.html',
  'architecture.html',
].filter((page) => page === '' || existsSync(join(import.meta.dirname, '../../web/dist/docs', page)))

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [size, viewport] of [
    ['desktop', { width: 1280, height: 800 }],
    ['phone', { width: 390, height: 844 }],
  ] as const) {
    if (!kAll && (size === 'phone') !== (colorScheme === 'dark')) continue
    test.describe(`${colorScheme}, ${size}`, () => {
      test.use({ colorScheme, viewport })
      test('every kind of page, by axe', async ({ page, site }) => {
        const whole = size === 'desktop' && colorScheme === 'light'
        for (const path of whole ? everyNth(kPages, 3) : kPages.slice(0, kAll ? 4 : 2)) {
          await page.goto(`${site.url}/docs/${path}`)
          await expect(page.locator('h1')).toBeVisible()
          // The switch of the theme gets its name only after the page is shown.
          await expect(
            page.locator('.VPSwitchAppearance:not([title]), .VPSwitchAppearance[title=""]'),
          ).toHaveCount(0)
          expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(viewport.width)
          expect.soft(await violations(page), path).toEqual([])
        }
      })
    })
  }
}

test('the guide on embedding shows the element itself', async ({ page, site }) => {
  const faults: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  // From another page: the content policy is that of the first one.
  await page.goto(`${site.url}/docs/guides/viewer.html`)
  await page.getByRole('navigation').getByRole('link', { name: 'Embed the viewer' }).first().click()
  const [first, second] = [0, 1].map((at) => page.locator('gguf-viewer').nth(at)) as [Locator, Locator]
  await first.scrollIntoViewIfNeeded()
  await expect(first.getByText(/^A llama model of 2.03 million parameters/)).toBeVisible()
  await second.scrollIntoViewIfNeeded()
  await expect(second.getByText(/^row 0, column 0: -?\d/)).toBeVisible()
  expect(await violations(page)).toEqual([])
  expect(faults).toEqual([])
})

test('on a phone, a table and code fade at the edge where they go on', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${site.url}/docs/quick-start.html`)
  await expect(page.locator('.vp-doc pre[data-more=right]').first()).toBeVisible()
  const table = page.locator('.vp-doc table').first()
  await expect(table).toHaveAttribute('data-more', 'right')
  await table.evaluate((one) => (one.scrollLeft = one.scrollWidth))
  await expect(table).toHaveAttribute('data-more', 'left')
})

for (const width of everyNth([320, 390], 2))
  test(`commands are seen whole, and nothing else makes a page wider, at ${width} px`, async ({
    page,
    site,
  }) => {
    await page.setViewportSize({ width, height: 844 })
    for (const name of ['index', 'quick-start', 'guides/command-line', 'guides/server', 'guides/quantize']) {
      await page.goto(`${site.url}/docs/${name}.html`)
      const commands = page.locator('.vp-doc div.language-sh pre')
      await expect(page.locator('.vp-doc').first()).toBeVisible()
      if (name.startsWith('guides')) await expect(commands.first()).toBeAttached()
      expect(
        await commands.evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
        ),
        name,
      ).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(width)
    }
  })

test('a word is found by the search', async ({ page, site }) => {
  await page.goto(`${site.url}/docs/quick-start.html`)
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('isolated')
  // A hit shows what is around the word.
  await expect(page.locator('#localsearch-list .excerpt').first()).toContainText(/isolated/i)
  await page.locator('#localsearch-list a').first().click()
  await expect(page).toHaveURL(/threads|runtimes|faq|bundlers|wllama/)
  // What a reader looks up by its usual name leads to the guide on it.
  await page.goto(`${site.url}/docs/quick-start.html`)
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('kv cache')
  await expect(page.locator('#localsearch-list a').first()).toHaveAttribute(
    'href',
    /guides\/memory\.html#the-kv-cache/,
  )
  // The changelog, which has most words, comes after the pages about them.
  for (const [word, guide] of [
    ['memory', /guides\/memory\.html#memory/],
    ['quantize', /guides\/quantize\.html/],
    // Words that say nothing do not count, and a whole word counts more than those that begin with it.
    ['how to quantize a model', /guides\/quantize\.html#quantize/],
    ['run', /guides\/run\.html#run-and-chat/],
    ['gpu', /guides\/gpu\.html#graphics-cards/],
  ] as const) {
    await page.getByRole('searchbox').fill(word)
    await expect(page.locator('#localsearch-list a').first()).toHaveAttribute('href', guide)
  }
})

test('an address that the site does not have shows its page of missing addresses, which stays', async ({
  page,
  site,
}) => {
  // Hosts answer unknown addresses with this file.
  await page.route(
    '**/nope',
    async (route) => await route.fulfill({ response: await route.fetch({ url: `${site.url}/404.html` }) }),
  )
  await page.goto(`${site.url}/nope`)
  await expect(page.locator('.NotFound')).toBeVisible()
  // VitePress has taken the page over.
  await expect(page.locator('#app').evaluate((app) => '__vue_app__' in app)).resolves.toBe(true)
  await expect(page.getByText('There is no such page')).toBeVisible()
  await expect(page).toHaveURL(`${site.url}/nope`)
  await page.getByRole('link', { name: 'To the first page' }).click()
  await expect(page).toHaveURL(/\/docs\/$/)
})

test('snippets name the samples of the site that shows them, also after a click on a link', async ({
  page,
  site,
}) => {
  await page.goto(`${site.url}/docs/guides/run.html`)
  const code = page.locator('.vp-doc pre code').first()
  await expect(code).toContainText(`load('${site.url}/sample.gguf'`)
  await expect(page.getByRole('link', { name: 'your own file' })).toHaveAttribute(
    'href',
    /quick-start\.html#your/,
  )
  await page.getByRole('link', { name: 'Count tokens', exact: true }).first().click()
  await expect(code).toContainText(`open('${site.url}/sample.gguf'`)
  const response = await page.request.get(`${site.url}/sample.gguf`)
  expect((await response.body()).subarray(0, 4).toString()).toBe('GGUF')
  for (const path of ['speech.gguf', 'voice.gguf', 'speech.wav'])
    expect((await page.request.get(`${site.url}/${path}`)).status(), path).toBe(200)
})

test('pictures load when they come into view, in the page’s colours, and move nothing', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  await page.addInitScript(() => {
    const seen = Object.assign(window, { moved: 0 })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.moved += (entry as unknown as { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const loaded: string[] = []
  page.on('request', (request) => {
    const name = /pictures\/(.*)\.webp/.exec(request.url())?.[1]
    if (name !== undefined) loaded.push(name)
  })
  await page.goto(`${site.url}/docs/`)
  await expect(page.getByRole('button', { name: 'Copy the line' })).toBeVisible()
  await page.waitForLoadState('networkidle')
  const pictures = page.locator('.picture img.light')
  for (const picture of await pictures.all()) {
    await picture.scrollIntoViewIfNeeded()
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(1000)
  }
  expect(loaded.toSorted()).toEqual(['graph-light', 'hub-light', 'lens-light', 'run-light', 'viewer-light'])
  expect(await page.evaluate(() => (window as unknown as { moved: number }).moved)).toBeLessThan(0.01)
  await page.getByRole('button', { name: 'Copy the line' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('npm install ggufscope')
})

test('on a phone the list of pages opens at the first tap, from the first page too', async ({
  page,
  site,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const list = page.locator('.VPSidebar')
  const follow = async (name: string) => {
    // A press before the page's script has begun is lost, as on every page.
    await page.waitForFunction(() => '__vue_app__' in document.querySelector('#app')!)
    // No pointer: as screen readers press.
    await page.getByRole('button', { name: 'Menu', exact: true }).dispatchEvent('click')
    await expect(list).toHaveClass(/open/)
    await list.getByRole('link', { name, exact: true }).click()
    await expect(list).not.toHaveClass(/open/)
    await expect(list.locator('.is-active.is-link')).toHaveText(name)
  }
  await page.goto(`${site.url}/docs/`)
  await page.locator('a[href$="quick-start.html"]:visible').first().click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Quick start')
  await follow('Recipes')
  await page.reload()
  await follow('Quick start')
  // The date of the page's last change needs no script.
  const date = page.locator('.VPLastUpdated time')
  if ((await date.count()) > 0) await expect(date).toHaveText(/^\d{4}-\d\d-\d\d$/)
})

test('the list of pages does nothing before it is used, and works at the first key', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  await page.goto(`${site.url}/docs/quick-start.html`)
  await expect(page.locator('.VPSwitchAppearance[title]').first()).toBeAttached()
  await page.evaluate(
    () =>
      new Promise((done) => requestIdleCallback(() => requestIdleCallback(() => requestIdleCallback(done)))),
  )
  /** Elements of the list to which Vue has added a listener. */
  const alive = () =>
    page
      .locator('.VPSidebar, .VPSidebar *')
      .evaluateAll(
        (all) =>
          all.filter((one) =>
            Object.getOwnPropertySymbols(one).some(({ description }) => description === '_vei'),
          ).length,
      )
  expect(await alive()).toBe(0)
  await page.keyboard.press('Shift')
  await expect.poll(alive).toBeGreaterThan(0)
})

test('a link into folded details of the API opens them', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  // The page became several: an old link leads to the one that has its target.
  await page.goto(`${site.url}/docs/reference/api/ggufscope.html#lint`)
  await expect(page).toHaveURL(/ggufscope-file\.html#lint$/)
  await expect(page.locator('#lint')).toBeInViewport()
  await expect(page.locator('details.fold:has(#lint)')).toHaveAttribute('open', '')
  await page.goto(`${site.url}/docs/guides/run.html`)
  await page.goto(`${site.url}/docs/reference/api/ggufscope-file.html`)
  await expect(page.locator('#lint')).not.toBeVisible()
  await page.evaluate(() => (location.hash = '#lint'))
  await expect(page.locator('#lint')).toBeInViewport()
})

test('from the viewer to the documentation and back', async ({ page, site }) => {
  await site.visit(page)
  await page.getByRole('link', { name: 'Docs' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('ggufscope')
  await page.goto(`${site.url}/docs/reference/errors.html`)
  await page.getByRole('link', { name: 'Viewer', exact: true }).click()
  await expect(page.getByRole('button', { name: 'ggufscope: start page' })).toBeVisible()
})

test('findings and errors link to their documentation', async ({ page, site }) => {
  const { header, size } = writeHeader(hostileKeys())
  site.add('/hostile-docs.gguf', sparseContent(header, size))
  await site.visit(page, '/hostile-docs.gguf', '#findings')
  await expect(page.locator('.findings h2 a').first()).toHaveAttribute(
    'href',
    /docs\/reference\/lint-rules\.html#/,
  )
  await site.visit(page, '/nothing-here.gguf')
  await page.getByRole('link', { name: 'no-such-file' }).click()
  await expect(page.locator('#no-such-file')).toBeInViewport()
})
