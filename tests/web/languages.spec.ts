// The viewer in German and Chinese, the choice of a language, and a page from right to left.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { cutOff, kPanels, show } from './layout.ts'
import { expect, opened, test, type Page } from './site.ts'

const kSizes = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
]

/** Texts of the page with a blank between two Chinese sentences. */
const blanksAfterStops = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')].flatMap((element) => {
      const text = [...element.childNodes].map((node) =>
        node instanceof Text ? node.data : node instanceof Comment ? '' : '\0',
      )
      return /。\s+[^\s\0].{0,20}/.exec(text.join('')) ?? []
    }),
  )

/** Punctuation of half a width after or before Chinese characters. */
const narrowMarks = (page: Page) =>
  page
    .locator('main')
    .evaluate((main) =>
      (main as HTMLElement).innerText
        .split('\n')
        .flatMap((line) => /\p{sc=Han}[,:;?!]|[,:;] ?\p{sc=Han}|\p{sc=Han} ?\(/u.exec(line)?.input ?? []),
    )

test.beforeEach(({ site }) => {
  site.add('/one.gguf', writeGguf(smallModel()))
})

for (const { locale, lang, title, tab, read } of [
  {
    locale: 'de-DE',
    lang: 'de',
    title: 'Sehen Sie, was in einer GGUF-Datei steckt.',
    tab: 'Tensoren',
    read: /B von \d,\d+ MB gelesen/,
  },
  {
    locale: 'zh-CN',
    lang: 'zh-Hans',
    title: '看看 GGUF 文件里有什么。',
    tab: '张量',
    read: /^已读取 .*B \/ \d\.\d+ MB/,
  },
]) {
  test.describe(locale, () => {
    test.use({ locale })

    test(`the page is in the language of the browser: ${lang}`, async ({ page, site }) => {
      await site.visit(page)
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(title)
      await expect(page.locator('html')).toHaveAttribute('lang', lang)
      await expect(page.locator('html')).toHaveAttribute('dir', 'ltr')
      expect(await violations(page)).toEqual([])
      await site.visit(page, kSample)
      await expect(page.getByRole('tab', { name: tab })).toBeVisible()
      await expect(page.locator('.read')).toHaveText(read)
    })

    test(`errors are in the language, too: ${lang}`, async ({ page, site }) => {
      const whole = writeGguf(smallModel())
      site.add('/cut.gguf', whole.subarray(0, 40))
      site.add('/no.gguf', new Uint8Array(64).fill(1))
      for (const path of ['/cut.gguf', '/no.gguf', '/absent.gguf']) {
        await site.visit(page, path)
        const message = page.locator('.failure .message')
        await expect(message).toHaveText(/./)
        // What is in another language than the page is marked.
        await expect(message).not.toHaveAttribute('lang')
        await expect(message).not.toHaveText(/\b(the|is|has|expected|answered)\b/)
      }
      // A sentence of one table around a list of those of another.
      await site.visit(page, '/one.gguf', '#memory')
      const refused = page.locator('#panel-memory')
      await expect(refused).toContainText(/llama\.embedding_length/)
      await expect(refused).not.toHaveText(/\b(the|is|has|because|refuses)\b/)
    })

    // In npm test the long German on a phone, and Chinese on a desktop.
    for (const viewport of kSizes.filter(({ width }) => kAll || (lang === 'de') === width < 500))
      test(`nothing is cut off in ${lang} at ${viewport.width} px`, async ({ page, site }) => {
        await page.setViewportSize(viewport)
        await site.visit(page)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        expect(await cutOff(page)).toEqual([])
        await site.visit(page, kSample)
        await expect(page.locator('.tabs')).toBeVisible()
        for (const panel of kPanels) {
          await show(page, panel)
          expect(await cutOff(page), panel).toEqual([])
          expect(await blanksAfterStops(page), panel).toEqual([])
          expect(await narrowMarks(page), panel).toEqual([])
        }
      })
  })
}

test.describe('German', () => {
  test.use({ locale: 'de-DE' })

  test('the first prompts are in a language that the model knows', async ({ page, site }) => {
    const sample = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
    const at = sample.indexOf('general.languages') + 'general.languages'.length + 24
    expect(sample.subarray(at, at + 2).toString()).toBe('en')
    site.add('/stories-de.gguf', Buffer.from(sample).fill('de', at, at + 2))
    await site.visit(page, '/stories-de.gguf', '#run')
    await expect(page.getByRole('button', { name: 'Wer bist du?' })).toBeVisible()
    await expect(page.getByText('Das Modell kann nur')).toHaveCount(0)
    await site.visit(page, kSample, '#run')
    await expect(page.getByRole('button', { name: 'Who are you?' })).toBeVisible()
    await expect(page.getByText('Das Modell kann nur Englisch.')).toBeVisible()
  })

  test('the header of a file has room for the hint of the address at 320 px', async ({ page, site }) => {
    await page.setViewportSize({ width: 320, height: 800 })
    await site.visit(page, kSample)
    await expect(page.locator('.tabs')).toBeVisible()
    expect(await cutOff(page)).toEqual([])
  })

  test('numbers of bytes in findings have points', async ({ page, site }) => {
    const bytes = writeGguf({
      ...smallModel(),
      tensors: [{ name: 'token_embd.weight', shape: [1_234_567], type: 'F32' }],
    })
    site.add('/cut.gguf', bytes.subarray(0, 1_234_567))
    await site.visit(page, '/cut.gguf', '#findings')
    await expect(page.getByRole('tabpanel')).toContainText(/bei Byte 1\.234\.567\b/)
    await expect(page.getByRole('tabpanel')).not.toContainText(/\d{5}/)
  })

  test('the lens, its colours and its table have a comma', async ({ page, site }) => {
    await site.visit(page, kSample, '#tensors/token_embd.weight')
    const values = page.getByRole('region', { name: 'Werte', exact: true })
    await expect(values.locator('.legend')).toContainText(/−0,\d+.*≥ 0,\d+/)
    await expect(values).toContainText(/größter -?0,\d+, Mittel -?0,\d+, RMS 0,\d+/)
    await page.getByText('Werte als Tabelle').click()
    const table = page.getByRole('region', { name: 'Werte als Tabelle' })
    await expect(table.getByRole('cell').first()).toHaveText(/^-?0,\d+$/)
    await expect(table).not.toContainText(/\d\.\d/)
  })
})

test('a browser in another language gets English, without a table of texts', async ({ browser, site }) => {
  const context = await browser.newContext({ locale: 'sv-SE' })
  const page = await context.newPage()
  const tables: string[] = []
  page.on('request', (request) => {
    if (/\/assets\/(de|zh)-/.test(request.url())) tables.push(request.url())
  })
  await site.visit(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('See what is inside a GGUF file.')
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  expect(tables).toEqual([])
  await context.close()
})

test('the language is changed in the page, which keeps its state and the choice', async ({ page, site }) => {
  await site.visit(page, '/one.gguf', '#metadata')
  await opened(page)
  await page.getByRole('searchbox', { name: 'Search keys and values' }).fill('block')
  await page.getByLabel('Language of this page').selectOption('Deutsch')
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await expect(page.getByRole('tab', { name: 'Überblick' })).toBeVisible()
  await expect(page.getByRole('searchbox', { name: 'Schlüssel und Werte durchsuchen' })).toHaveValue('block')
  await page.reload()
  await expect(page.getByRole('tab', { name: 'Überblick' })).toBeVisible()
  await page.getByLabel('Sprache dieser Seite').selectOption('简体中文')
  await expect(page.getByRole('tab', { name: '概览' })).toBeVisible()
  await page.getByLabel('页面语言').selectOption('English')
  await page.reload()
  await expect(page.getByRole('tab', { name: 'Overview' })).toBeVisible()
})

test('a language whose texts cannot be loaded leaves the page as it is', async ({ page, site }) => {
  await page.route(/\/assets\/de-/, (route) => route.abort())
  await site.visit(page)
  const list = page.getByLabel('Language of this page')
  await list.selectOption('Deutsch')
  await expect(list).toHaveValue('en')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('See what is inside a GGUF file.')
})

for (const viewport of everyNth(kSizes, 2))
  test(`from right to left at ${viewport.width} px`, async ({ page, site }) => {
    await page.setViewportSize(viewport)
    await site.visit(page)
    await page.evaluate(() => (document.dir = 'rtl'))
    expect(await cutOff(page)).toEqual([])
    const brand = await page.getByRole('button', { name: 'ggufscope: start page' }).boundingBox()
    expect(brand!.x).toBeGreaterThan(viewport.width / 2)
    await page.getByRole('button', { name: 'Open the sample' }).click()
    await opened(page)
    for (const panel of kPanels) {
      await show(page, panel)
      expect(await cutOff(page), panel).toEqual([])
    }
    // A number and its unit keep their order.
    await expect(page.locator('.read')).toHaveText(/^read \u2066[\d.]+ k?M?B\u2069 of \u2066[\d.]+ MB\u2069/)
    // The tabs go from right to left, and the arrow keys with them.
    await show(page, 'overview')
    await page.getByRole('tab', { name: 'Overview' }).press('ArrowLeft')
    await expect(page.getByRole('tab', { name: 'Metadata' })).toBeFocused()
  })
