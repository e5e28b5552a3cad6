// Text from a file is always shown as text, even if it is markup, and never breaks the layout.
import { writeGguf } from '../fixtures/gguf.ts'
import { hostileKeys, kHostileKeys } from '../fixtures/models.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { violations } from './axe.ts'
import { show } from './layout.ts'
import { kWithoutShared, sharedFiles } from './files.ts'
import { expect, opened, rowCount, test, type Page } from './site.ts'

const nasty = {
  long: 'x'.repeat(100_000),
  lines: 'a\nb\r\nc\u2028d',
  rtl: '\u202eevil\u202c \u0627\u0644\u0639\u0631\u0628\u064a\u0629',
  zero: 'zero\u200bwidth\u200d\ufeffhere',
  marks: `z${'\u0301'.repeat(3000)}`,
  html: '<img src=x onerror="document.title=1"><script>document.title=1</script>',
  template: '{@html "<b>"} ${1} {{ 1 }}',
}

for (const width of [390, 1280]) {
  test(`names that would break a page, ${width} px wide`, async ({ page, site }) => {
    await page.setViewportSize({ width, height: 900 })
    const names = Object.values(nasty)
    site.add(
      '/nasty.gguf',
      writeGguf({
        metadata: [
          ['general.architecture', { type: 'string', value: nasty.rtl }],
          ['general.name', { type: 'string', value: nasty.long }],
          ['general.description', { type: 'string', value: nasty.marks }],
          ['general.license', { type: 'string', value: nasty.html }],
          ...names.map((name) => [`key.${name}`, { type: 'string', value: name }] as const),
        ],
        tensors: names.map((name) => ({ name, shape: [4], type: 'F32' })),
      }),
    )
    await site.visit(page, '/nasty.gguf')
    await opened(page)
    for (const panel of ['Overview', 'Metadata', 'Tensors', 'Findings']) {
      await page.getByRole('tab', { name: panel }).click()
      await expect(page.getByRole('tabpanel')).not.toBeEmpty()
      const page_width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(page_width, panel).toBe(width)
      // All rows keep their height, whatever they contain.
      const heights = await page
        .getByRole('row')
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
      expect(Math.max(0, ...heights)).toBeLessThan(60)
    }
    await page.getByRole('tab', { name: 'Metadata' }).click()
    await expect(page.getByText('zero\\u{200b}width\\u{200d}\\u{feff}here').first()).toBeVisible()
    await expect(page).not.toHaveTitle('1')
    expect(await page.locator('main img, main script, main b').count()).toBe(0)
  })
}

/** What is shown or read out with characters that turn or hide parts of it. Fields that edit a text have it as it is. */
const unnamed = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const turns = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\u2028\ufeff]/
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found: string[] = turns.test(document.title) ? ['the title'] : []
    while (texts.nextNode()) {
      const { nodeValue, parentElement } = texts.currentNode
      if (turns.test(nodeValue ?? '') && parentElement?.checkVisibility())
        found.push(parentElement.outerHTML.slice(0, 200))
    }
    for (const name of ['title', 'aria-label', 'placeholder'])
      for (const one of document.querySelectorAll(`[${name}]`))
        if (turns.test(one.getAttribute(name) ?? '')) found.push(`${name} of ${one.outerHTML.slice(0, 200)}`)
    return found
  })

test('every panel names characters that turn or hide parts of a text', async ({ page, site }) => {
  const evil = 'photo\u202egpj.\u200bexe\u2066'
  const string = (value: string) => ({ type: 'string', value }) as const
  site.add(
    '/evil.gguf',
    writeGguf({
      metadata: [
        ['general.architecture', string('llama')],
        ...['name', 'description', 'license', 'author', 'basename'].map(
          (key) => [`general.${key}`, string(evil)] as const,
        ),
        [`my.${evil}`, string(evil)],
        ['my.list', { type: 'array', of: 'string', value: [evil, evil] }],
        [
          'tokenizer.chat_template',
          string(`{# ${evil} #}{% for m in messages %}{{ m.content }}${evil}{% endfor %}`),
        ],
      ],
      tensors: [evil, `blk.0.${evil}.weight`].map((name) => ({ name, shape: [4], type: 'F32' as const })),
    }),
  )
  await site.visit(page, '/evil.gguf')
  await opened(page)
  const found: string[] = []
  for (const panel of await page.getByRole('tab').evaluateAll((tabs) => tabs.map(({ id }) => id.slice(4)))) {
    await show(page, panel)
    for (const one of await unnamed(page)) found.push(`${panel}: ${one}`)
  }
  for (const item of [
    `metadata/my.${evil}`,
    'metadata/my.list',
    `tensors/${evil}`,
    'graph/bytes',
    'graph/layers',
    'edit/keys/general.name',
  ]) {
    await page.evaluate(
      (hash) => (location.hash = hash),
      `${item.split('/')[0]}/${encodeURIComponent(item.split('/').slice(1).join('/'))}`,
    )
    await expect(page.getByRole('tabpanel')).toContainText(item.startsWith('graph') ? /blk/ : /photo/)
    for (const one of await unnamed(page)) found.push(`${item}: ${one}`)
  }
  expect(found).toEqual([])
  await expect(page.getByText('invisible ones among them: \\u{202e} \\u{200b} \\u{2066}')).toBeVisible()
})

test('keys named like parts of the language', async ({ page, site }) => {
  site.add('/keys.gguf', writeGguf(hostileKeys()))
  await site.visit(page, '/keys.gguf', '#metadata')
  await opened(page)
  // Repeated keys are shown, too.
  expect(await rowCount(page, 'Metadata')).toBe(kHostileKeys.length + 1)
  const row = page.getByRole('row').filter({ has: page.getByText('__proto__', { exact: true }) })
  await expect(row).toContainText('u32')
  await row.click()
  await expect(page.getByRole('heading', { name: '__proto__' })).toBeVisible()
})

test('a duplicate key is shown with its own value', async ({ page, site }) => {
  const value = (value: string) => ({ type: 'string', value }) as const
  site.add('/twice.gguf', writeGguf({ metadata: [['a.b', value('first')], ['a.c', value('other')], ['a.b', value('second')]] })) // prettier-ignore
  await site.visit(page, '/twice.gguf', '#metadata')
  await opened(page)
  expect(await rowCount(page, 'Metadata')).toBe(3)
  await page.getByRole('row').filter({ hasText: 'b (2)' }).click()
  await expect(page.getByText('a.b is there already: readers take the first')).toBeVisible()
  await expect(page.getByRole('complementary').or(page.locator('main'))).toContainText('second')
})

test('files with a flaw are shown, or refused in words', async ({ page, site }) => {
  test.skip(...kWithoutShared)
  for (const path of everyNth(sharedFiles('hostile', 'malformed'), 8)) {
    await test.step(path, async () => {
      await site.visit(page, `/data/${path}`)
      const tabs = page.getByRole('tablist', { name: 'Panels' })
      const alert = page.getByRole('alert')
      await expect(tabs.or(alert)).toBeVisible()
      if (await alert.isVisible()) {
        await expect(alert.getByRole('heading')).not.toHaveText('Something went wrong here')
        return
      }
      for (const panel of ['Metadata', 'Tensors', 'Findings']) {
        await page.getByRole('tab', { name: panel }).click()
        await expect(page.getByRole('tabpanel')).not.toBeEmpty()
      }
    })
  }
})

test('tens of thousands of keys and tensors', async ({ page, site }) => {
  const amount = kAll ? 100_000 : 20_000
  const numbers = Array.from({ length: amount }, (_, i) => i)
  site.add(
    '/many.gguf',
    writeGguf({
      metadata: numbers.map((i) => [`key.${i}`, { type: 'u32', value: i }] as const),
      tensors: numbers.map((i) => ({ name: `blk.${i}.weight`, shape: [8], type: 'F32' })),
    }),
  )
  await site.visit(page, '/many.gguf')
  await opened(page)
  await page.getByRole('tab', { name: 'Metadata' }).click()
  expect(await rowCount(page, 'Metadata')).toBe(amount)
  await page.getByRole('searchbox').fill(String(amount - 1))
  await expect(page.getByText(`1 of ${amount.toLocaleString('en')} keys`)).toBeVisible()
  await page.getByRole('tab', { name: 'Tensors' }).click()
  expect(await rowCount(page, 'Tensors')).toBe(2 * amount)
  expect(await page.locator('*').count()).toBeLessThan(2500)
})

test('every panel of a file whose names are those of the language itself', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'then', ' ', '']
  const block = (name: string) => ({ name: `blk.0.${name}.weight`, shape: [4], type: 'F32' }) as const
  site.add(
    '/language.gguf',
    writeGguf({
      ...hostileKeys(),
      tensors: [
        ...names.map((name) => ({ name, shape: [4], type: 'F32' }) as const),
        ...names.map(block),
        ...names
          .filter((name) => name.trim())
          .map((name) => ({ name: `${name}.0.attn_q.weight`, shape: [4], type: 'F32' }) as const),
      ],
    }),
  )
  await site.visit(page, '/language.gguf')
  await opened(page)
  for (const panel of await page.getByRole('tab').evaluateAll((tabs) => tabs.map(({ id }) => id.slice(4)))) {
    await show(page, panel)
    await expect(page.locator(`#panel-${panel} > .note[role=alert]`)).toHaveCount(0)
    expect(await violations(page), panel).toEqual([])
  }
})
