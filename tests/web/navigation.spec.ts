// Addresses, deep links, recent files, and the keyboard.
import { readFileSync } from 'node:fs'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { panelNames } from '../../web/src/lib/page/panel-names.ts'
import { expect, opened, test } from './site.ts'

const good = writeGguf(smallModel())

test.beforeEach(({ site }) => {
  site.add('/one.gguf', good)
  site.add('/two.gguf', good)
})

test('the sample opens from the start page', async ({ page, site }) => {
  await site.visit(page)
  await page.getByRole('button', { name: 'Open the sample' }).click()
  await opened(page)
  expect(new URL(page.url()).searchParams.get('url')).toBe(kSample)
  await expect(page.getByText(/^A .* model of .* parameters/)).toBeVisible()
  await expect(page.getByRole('img', { name: /Q4_K \d/ })).toBeVisible()
})

test('on a phone, the samples take two rows, and a starter model one line', async ({ page, site }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page)
  const tops = await page
    .locator('.or .button')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  expect(new Set(tops).size).toBe(2)
  const starters = page.getByRole('region', { name: 'Small models to begin with' }).getByRole('button')
  await expect(starters).toHaveCount(3)
  for (const starter of await starters.all()) expect((await starter.boundingBox())!.height).toBeLessThan(45)
})

test('a link with the former name of the sample opens it, and lint finds nothing', async ({ page, site }) => {
  await site.visit(page, 'sample.gguf')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(kSample)
  const tab = page.getByRole('tab', { name: 'Findings' })
  // The chat template is checked when the findings are shown.
  await expect(tab).toHaveText('Findings')
  await tab.click()
  await expect(tab).toHaveText('Findings 0')
})

test('a sample opens on the panel that it is for, and has no finding', async ({ page, site }) => {
  const isOpen = (name: RegExp) =>
    expect(page.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true')
  await site.visit(page)
  await page.getByRole('button', { name: 'Speech-to-text sample' }).click()
  await isOpen(/^Transcribe/)
  await page.getByRole('tab', { name: /^Findings/ }).click()
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveText('Findings 0')
  // A link to it without a panel, too.
  await page.goto(`${site.url}/?url=speech.gguf`)
  await isOpen(/^Transcribe/)
  // An address may name the panel before a file is open, by the name of its tab.
  await page.goto(`${site.url}/#template`)
  await page.getByRole('button', { name: 'Open the sample' }).click()
  await isOpen(/^Template/)
  await expect(page).toHaveURL(/#template$/)
  await site.visit(page, kSample, '#Memory')
  await isOpen(/^Memory/)
})

test('an address may call a panel by another name, and an unknown name is said', async ({ page, site }) => {
  await site.visit(page, kSample, '#look-inside')
  await expect(page.getByRole('radio', { name: 'Look inside' })).toBeChecked()
  const selected = page.locator('[role=tab][aria-selected=true]')
  const goTo = (hash: string) => page.evaluate((hash) => void (location.hash = hash), hash)
  const note = page.getByRole('note')
  await goTo('Overwiev')
  await expect(note).toHaveText('There is no panel “Overwiev”. This is Overview.')
  await expect(selected).toHaveId('tab-overview')
  await goTo('graph/treemap')
  await expect(page.getByRole('radio', { name: 'Bytes' })).toBeChecked()
  await expect(note).toHaveCount(0)
  for (const [place, others] of Object.entries(panelNames)) {
    const [panel = ''] = place.split('/')
    for (const name of others.split(' ')) {
      await goTo(name)
      // The sample hears nothing and does not speak: it has no such panels.
      if (!/^(transcribe|speak)$/.test(panel)) await expect(selected).toHaveId(`tab-${panel}`)
      else await expect(note).toContainText('is not for this file')
    }
  }
})

test('a file opens by its link even if the early request of the wasm module fails', async ({
  page,
  site,
}) => {
  let requests = 0
  await page.route(/inspect-[^/]*\.wasm$/, (route) => (requests++ === 0 ? route.abort() : route.continue()))
  await site.visit(page, kSample)
  await opened(page)
  expect(requests).toBe(2)
})

test('of the built-in sample, only the header is read', async ({ page, site }) => {
  const ranges: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.url().endsWith(`/${kSample}`)) ranges.push(request.headers()['range'])
  })
  await site.visit(page, kSample)
  await opened(page)
  expect(ranges).toEqual(['bytes=0-32767'])
})

test('a deep link leads to a key, and to a tensor', async ({ page, site }) => {
  await site.visit(page, '/one.gguf', '#metadata/test.string.3')
  await expect(page.getByRole('region', { name: 'Text of test.string.3' })).toHaveText('üñí人🙂')
  await site.visit(page, '/two.gguf', '#tensors/blk.1.attn_q.weight')
  await expect(page.getByRole('region', { name: 'The selected tensor' })).toContainText('8 × 8')
})

test('a standardized key shows its meaning and unit', async ({ page, site }) => {
  await site.visit(page, '/one.gguf', '#metadata/llama.block_count')
  const about = page.locator('.about', { has: page.getByRole('heading', { name: 'llama.block_count' }) })
  await expect(about.locator('.meant')).toHaveText(/^\S.+\. \(blocks\)$/)
  await site.visit(page, '/one.gguf', '#metadata/test.string.3')
  await expect(page.getByRole('region', { name: 'Text of test.string.3' })).toBeVisible()
  await expect(page.locator('.meant')).toHaveCount(0)
})

test('the address follows the selection, and Back restores it', async ({ page, site }) => {
  await site.visit(page)
  await page.getByLabel('Address of a GGUF file or a repository').fill('/one.gguf')
  await page.keyboard.press('Enter')
  await opened(page)
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await expect(page).toHaveURL(/\?url=%2Fone\.gguf#tensors$/)
  await page.getByLabel('Address of a GGUF file or a repository').fill('/two.gguf')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('two.gguf')
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('one.gguf')
  await expect(page.getByRole('tab', { name: 'Tensors' })).toHaveAttribute('aria-selected', 'true')
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('See what is inside a GGUF file.')
})

test('recent files are kept, newest first, and can be cleared', async ({ page, site }) => {
  for (const path of ['/one.gguf', '/two.gguf', '/one.gguf']) {
    await site.visit(page, path)
    await opened(page)
  }
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  const entries = page.getByRole('region', { name: 'Recent files' }).getByRole('listitem')
  await expect(entries).toHaveText([/one\.gguf/, /two\.gguf/])
  await entries.nth(1).getByRole('button').click()
  await opened(page)
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  await page.getByRole('button', { name: 'Clear the list' }).click()
  await expect(page.getByRole('region', { name: 'Recent files' })).toBeHidden()
})

test('everything by keyboard', async ({ page, site }) => {
  await site.visit(page, '/one.gguf')
  await opened(page)
  await page.getByRole('tab', { name: 'Overview' }).focus()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Metadata' })).toBeFocused()
  await expect(page.getByRole('tab', { name: 'Metadata' })).toHaveAttribute('aria-selected', 'true')

  await page.getByRole('grid', { name: 'Metadata' }).waitFor()
  await page.keyboard.press('/')
  await expect(page.getByRole('searchbox', { name: 'Search keys and values' })).toBeFocused()
  await page.keyboard.type('bool')
  await expect(page.getByText('4 of')).toBeVisible()
  // The next control saves the list.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  const grid = page.getByRole('grid', { name: 'Metadata' })
  await expect(grid).toBeFocused()
  await page.keyboard.press('End')
  await expect(page.getByRole('heading', { name: 'test.bool.empty' })).toBeVisible()
  await page.keyboard.press('ArrowUp')
  await expect(page.getByRole('heading', { name: 'test.bool.array' })).toBeVisible()
  const active = await grid.getAttribute('aria-activedescendant')
  await expect(page.locator(`[id="${active}"]`)).toHaveAttribute('aria-selected', 'true')

  await page.getByRole('tab', { name: 'Metadata' }).focus()
  await page.keyboard.press('ArrowRight')
  const tensors = page.getByRole('grid', { name: 'Tensors' })
  await expect(tensors).toBeVisible()
  await page.keyboard.press('/')
  await page.keyboard.type('blk.1')
  await expect(tensors).toHaveAttribute('aria-rowcount', '4')
  await tensors.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(tensors).toHaveAttribute('aria-rowcount', '2')
  await page.keyboard.press(' ')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'The selected tensor' })).toContainText(
    'blk.1.attn_norm.weight',
  )
})

test('on a phone the details lie over the list, and Escape closes them', async ({ page, site }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, '/one.gguf', '#metadata')
  await page.getByText('architecture').click()
  const detail = page.getByRole('dialog', { name: 'Value of the selected key' })
  await expect(detail).toBeVisible()
  await expect(detail.getByRole('button', { name: 'Back to the list' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(detail).toBeHidden()
  await expect(page.getByRole('grid', { name: 'Metadata' })).toBeFocused()
})

test('on a phone Back closes the details, and then leaves the file', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page)
  await page.getByLabel('Choose GGUF files').setInputFiles({
    name: 'mine.gguf',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(good),
  })
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByRole('grid', { name: 'Tensors' }).getByText('blk.1.attn_q.weight').click()
  const detail = page.getByRole('dialog', { name: 'The selected tensor' })
  await expect(detail).toBeVisible()
  await page.goBack()
  await expect(detail).toBeHidden()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('mine.gguf')
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('See what is inside a GGUF file.')
  await page.goForward()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('mine.gguf')
})

test('what was typed and chosen in a panel is there after looking elsewhere', async ({ page, site }) => {
  await site.visit(page, kSample, '#tokenizer')
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('bees')
  await page.getByRole('tab', { name: 'Metadata' }).click()
  await page.getByLabel('Search keys and values').fill('token')
  await page.getByRole('grid', { name: 'Metadata' }).getByText('eos_token_id').click()
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByLabel('By block').uncheck()
  await page.getByRole('tab', { name: 'Metadata' }).click()
  await expect(page.getByLabel('Search keys and values')).toHaveValue('token')
  await expect(page.getByRole('heading', { name: /eos_token_id/ })).toBeVisible()
  await expect(page).toHaveURL(/#metadata\/tokenizer\.ggml\.eos_token_id$/)
  await page.getByRole('tab', { name: 'Tokenizer' }).click()
  await expect(page.getByRole('textbox', { name: 'Text', exact: true })).toHaveValue('bees')
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await expect(page.getByLabel('By block')).not.toBeChecked()
})

test('the search looks at whole values, not at what a row shows of them', async ({ page, site }) => {
  const long = `${'x'.repeat(5000)} Needle in\nthe last line`
  site.add(
    '/long.gguf',
    writeGguf({ metadata: [['test.long', { type: 'string', value: long }]], tensors: [] }),
  )
  await site.visit(page, '/long.gguf', '#metadata')
  await page.getByLabel('Search keys and values').fill('needle in')
  await expect(page.getByText('1 of 1 key', { exact: true })).toBeVisible()
})

test('a link from another page can be dropped', async ({ page, site }) => {
  await site.visit(page)
  const transfer = await page.evaluateHandle((url) => {
    const data = new DataTransfer()
    data.setData('text/uri-list', `# a comment\r\n${url}\r\n`)
    return data
  }, `${site.url}/two.gguf`)
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  await opened(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('two.gguf')
})

test('columns sort, types filter, blocks fold', async ({ page, site }) => {
  await site.visit(page, kSample, '#tensors')
  const grid = page.getByRole('grid', { name: 'Tensors' })
  const names = () => grid.getByRole('rowheader').allTextContents()
  await page.getByLabel('By block').uncheck()
  const file = await names()
  await grid.getByRole('button', { name: 'Bytes' }).click()
  await expect(grid.getByRole('columnheader', { name: 'Bytes' })).toHaveAttribute('aria-sort', 'ascending')
  const up = await names()
  await grid.getByRole('button', { name: 'Bytes' }).click()
  await expect(grid.getByRole('columnheader', { name: 'Bytes' })).toHaveAttribute('aria-sort', 'descending')
  expect(up).not.toEqual(file)
  const sizes = await grid
    .locator('.bytes[role=gridcell]')
    .evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).title.replace(/\D/g, ''))))
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
  await page.getByLabel('Type', { exact: true }).selectOption('Q8_0')
  await expect(grid).toHaveAttribute('aria-rowcount', '2')
  await page.getByLabel('Type', { exact: true }).selectOption('')
  await page.getByLabel('By block').check()
  await page.getByRole('button', { name: 'Fold all' }).click()
  await expect(grid).toHaveAttribute('aria-rowcount', '5')
})

test('copying puts the key and the value into the clipboard', async ({ page, site }) => {
  await site.visit(page, '/one.gguf', '#metadata/test.string.2')
  await page.getByRole('button', { name: 'Copy key' }).click()
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('test.string.2')
  await page.getByRole('button', { name: 'Copy value' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('line\nbreak')
})

test('a link to the file is copied, and tables are saved in three formats', async ({ page, site }) => {
  await site.visit(page, '/one.gguf', '#tensors')
  await opened(page)
  await page.getByRole('button', { name: 'Copy link' }).click()
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
  const saved = async (panel: string, format: string) => {
    await page.getByRole('tab', { name: panel }).click()
    const download = page.waitForEvent('download')
    await page.getByLabel('Save the table as').and(page.locator(':visible')).selectOption(format)
    const file = await download
    return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')] as const
  }
  const model = smallModel()
  const tensors = model.tensors!
  const [name, csv] = await saved('Tensors', 'CSV')
  expect(name).toBe('one.gguf.tensors.csv')
  expect(csv.split('\r\n')).toHaveLength(1 + tensors.length)
  expect(csv).toContain(`"${tensors[0]!.name}","${tensors[0]!.type}","${tensors[0]!.shape.join(' × ')}"`)
  const [, json] = await saved('Metadata', 'JSON')
  const keys = JSON.parse(json) as { key: string; value: string }[]
  expect(keys.map(({ key }) => key)).toEqual(model.metadata!.map(([key]) => String(key)))
  const [, markdown] = await saved('Findings', 'Markdown')
  expect(markdown).toMatch(
    /^\| level \| rule \| message \| offset \| file \|\n\| --- \| --- \| --- \| --: \| --: \|\n\| /,
  )
})

test('light and dark: as the system has it, or as chosen', async ({ page, site }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await site.visit(page)
  const lightness = () =>
    page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)?.[0]))
  expect(await lightness()).toBeLessThan(60)
  await page.getByRole('button', { name: /^Colours: system/ }).click()
  expect(await lightness()).toBeGreaterThan(200)
  await page.reload()
  expect(await lightness()).toBeGreaterThan(200)
})

test('the focus goes to the heading of what was opened, and nowhere on a page that nobody used', async ({
  page,
  site,
}) => {
  const focused = () =>
    page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent.trim()}`)
  await site.visit(page, '/one.gguf')
  await opened(page)
  expect(await focused()).toMatch(/^BODY/)
  // By mouse: the address field goes with the start page.
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  const address = page.getByLabel('Address of a GGUF file or a repository')
  await address.fill(`${site.url}/two.gguf`)
  await address.press('Enter')
  await opened(page)
  await expect.poll(focused).toBe('H1 two.gguf')
  // The next key goes on from there.
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Copy link' })).toBeFocused()
  // A file of this computer, and an address without a file.
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  await page.getByRole('button', { name: 'Open the sample' }).focus()
  await page.keyboard.press('Enter')
  await opened(page)
  await expect.poll(focused).toMatch(/^H1 .*\.gguf$/)
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  await address.fill(`${site.url}/missing.gguf`)
  await address.press('Enter')
  await expect(page.getByRole('alert').first()).toBeVisible()
  await expect.poll(focused).toMatch(/^H1 /)
})

test('a name that has room is shown whole, and a link is copied at 320 px', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await site.visit(page, kSample)
  await opened(page)
  const cut = await page
    .locator('h1 span')
    .evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
    )
  expect(cut).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  // There the middle is cut, and the end is seen.
  const seen = await page.locator('h1 span').evaluateAll((all) =>
    all.map((one) => {
      const { left, top, height } = one.getBoundingClientRect()
      return document.elementFromPoint(left + 4, top + height / 2) === one
    }),
  )
  expect(seen).toEqual([true, true])
  const button = page.getByRole('button', { name: 'Copy link' })
  await button.click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(kSample)
  const { width, height } = (await button.or(page.getByRole('button', { name: 'Copied' })).boundingBox())!
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
})
