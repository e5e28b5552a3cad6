// How the package's findings are shown: levels, messages, byte offsets.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { array, hostileKeys, text } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { expect, opened, test } from './site.ts'

test('findings show level, code and byte, and levels can be hidden', async ({ page, site }) => {
  // The last tensor ends after the file does, so any strict loader refuses it.
  const whole = writeGguf(hostileKeys())
  site.add('/odd.gguf', whole.subarray(0, whole.length - 20))
  await site.visit(page, '/odd.gguf')
  await opened(page)
  await expect(page.getByText('The file is cut off, so no program loads it.')).toBeVisible()
  await page.getByRole('button', { name: /^See the/ }).click()
  const panel = page.getByRole('tabpanel')
  const groups = panel.getByRole('region')
  const items = panel.getByRole('listitem')
  await expect(items.first()).toBeVisible()
  const more = panel.getByRole('button', { name: /^Show more/ })
  while ((await more.count()) > 0) await more.first().click()
  const all = await groups.count()
  const errors = await groups.filter({ has: page.getByText('Error', { exact: true }) }).count()
  expect(errors).toBeGreaterThan(0)
  // Each finding has an item. Findings with the same message share one.
  expect(await items.count()).toBe(
    Number((await page.getByRole('tab', { name: /^Findings/ }).textContent())?.replace(/\D/g, '')),
  )
  // What is missing has no place.
  for (const text of await items.allTextContents())
    expect(text).toMatch(/at byte\s+[\d,]+ \(0x[\da-f]+\)|Add [a-z_.]+|requires|missing|without/)
  await panel.getByRole('checkbox', { name: /^Errors/ }).uncheck()
  await expect(groups).toHaveCount(all - errors)
})

for (const [width, height] of [
  [1280, 800],
  [390, 844],
] as const)
  test(`each level is one press away from any place at ${width} px`, async ({ page, site }) => {
    await page.setViewportSize({ width, height })
    const whole = writeGguf(hostileKeys())
    site.add('/odd.gguf', whole.subarray(0, whole.length - 20))
    await site.visit(page, '/odd.gguf', '#findings')
    const levels = page.getByRole('navigation', { name: 'Go to a level' })
    const first = (level: string) =>
      page
        .getByRole('region')
        .filter({ has: page.getByText(level, { exact: true }) })
        .first()
    for (const [name, level] of [
      ['Specification', 'Specification'],
      ['Errors', 'Error'],
    ] as const) {
      await levels.getByRole('button', { name }).click()
      await expect(first(level).getByRole('link').first()).toBeFocused()
      await expect(first(level).getByRole('link').first()).toBeInViewport({ ratio: 1 })
      await expect(levels).toBeInViewport({ ratio: 1 })
      // The heading is not below the bar.
      const [bar, heading] = [await levels.boundingBox(), await first(level).locator('h2').boundingBox()]
      expect(heading!.y).toBeGreaterThanOrEqual(bar!.y + bar!.height - 1)
    }
    await page.getByRole('checkbox', { name: /^Errors/ }).uncheck()
    await expect(levels).toHaveCount(0)
  })

test('bytes after the data are reported', async ({ page, site }) => {
  const whole = writeGguf({
    metadata: [['general.architecture', text('llama')]],
    tensors: [{ name: 'a', shape: [1], type: 'F32' }],
  })
  const zip = Uint8Array.of(0x50, 0x4b, 3, 4, ...new Array<number>(60).fill(0))
  const both = new Uint8Array(whole.length + zip.length)
  both.set(whole)
  both.set(zip, whole.length)
  site.add('/appended.gguf', both)
  await site.visit(page, '/appended.gguf', '#findings')
  await opened(page)
  await expect(
    page.getByRole('tabpanel').getByText(/64 bytes follow .*: a ZIP archive begins there/),
  ).toBeVisible()
})

test('the shape that a tensor had in ComfyUI, and counts of one', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  site.add(
    '/comfy.gguf',
    writeGguf({
      metadata: [
        ['general.architecture', text('sd1')],
        ['comfy.gguf.orig_shape.input_blocks.0.0.weight', array('i32', [64, 4, 3, 3])],
      ],
      tensors: [
        { name: 'input_blocks.0.0.weight', shape: [256, 9], type: 'F32' },
        { name: 'one', shape: [1], type: 'F32' },
      ],
    }),
  )
  await site.visit(page, '/comfy.gguf', '#metadata')
  await opened(page)
  await page.getByText('comfy.gguf.orig_shape.input_blocks.0.0.weight').click()
  await expect(page.getByRole('tabpanel').getByText(/before ComfyUI-GGUF stored it/)).toBeVisible()
  await page.getByRole('tab', { name: /^Tensors/ }).click()
  await page.getByRole('rowheader', { name: 'input_blocks.0.0.weight' }).click()
  await expect(page.getByText('64 × 4 × 3 × 3, slowest first')).toBeVisible()
  await page.getByRole('rowheader', { name: 'one', exact: true }).click()
  await expect(page.getByText('1, each of 1 element', { exact: true })).toBeVisible()
})

test('the count is not whole until chat templates are checked', async ({ page, site }) => {
  const whole = writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['tokenizer.chat_template', text('{{ messages[0].content }}{% if x %}')],
    ],
    tensors: [{ name: 'a', shape: [1], type: 'F32' }],
  })
  site.add('/template.gguf', whole)
  await site.visit(page, '/template.gguf')
  await opened(page)
  const tab = page.getByRole('tab', { name: /^Findings/ })
  await expect(tab).toHaveText(/^Findings [0-9]+[+]$/)
  const before = parseInt((await tab.textContent())!.replace(/[^0-9]/g, ''))
  await tab.click()
  await expect(tab).toHaveText(`Findings ${before + 1}`)
  await expect(page.getByRole('tabpanel')).toContainText('template-error')
})

test('a cut file shows what is missing, and a rule with one place says its sentence once', async ({
  page,
  site,
}) => {
  const whole = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  site.add('/cut.gguf', whole.subarray(0, 900_000))
  await site.visit(page, '/cut.gguf')
  await opened(page)
  await expect(
    page.getByText(/^564 kB of 1\.46 MB are missing, with 8 tensors or parts of them\.$/),
  ).toBeVisible()
  const missing = page.getByTestId('missing')
  const strip = (await page.locator('.strip').boundingBox())!
  const hatched = (await missing.boundingBox())!
  expect(hatched.width / strip.width).toBeCloseTo((whole.length - 900_000) / whole.length, 2)
  await page.getByRole('tab', { name: /^Findings/ }).click()
  const cut = page.getByRole('region', { name: /data-truncated/ })
  await expect(cut).toContainText(/and the data of 8 of \d+ tensors is not whole/)
  expect((await cut.textContent())?.match(/bytes are missing/g)).toHaveLength(1)
  // The engine does not say it again.
  const panel = page.locator('#panel-findings')
  await panel.getByRole('button', { name: 'Check whether it loads' }).click()
  await expect(panel).toContainText(
    'Apart from the errors above, the engine of this page finds nothing to refuse.',
  )
  await expect(panel.getByRole('listitem')).toHaveCount(1)
  await panel.getByRole('button', { name: /^Check the values that are there/ }).click()
  await expect(panel).toContainText(
    'The file is cut: the values of 21 tensors of 29 were read, which are whole. None of them is NaN or infinite.',
  )
  // Most good files have such a name.
  await expect(page.getByRole('region', { name: /file-name/ })).toHaveCount(0)
  await page.getByRole('tab', { name: 'Graph' }).click()
  for (const view of ['Bytes', 'Layers']) {
    await page.getByLabel(view, { exact: true }).check()
    await expect(page.getByText('Hatched tensors are not whole in the file.')).toBeVisible()
    // Not all of the eight have a cell, or a box that can be seen.
    await expect(page.locator('#panel-graph .hatched').nth(5)).toBeVisible()
  }
})

test('a long name is shown whole, and checks whose code did not come are made after another try', async ({
  page,
  site,
}) => {
  const name = `${'first.blocks.'.repeat(6)}weight`
  const metadata: Model['metadata'] = [
    ['general.architecture', text('sd1')],
    ['tokenizer.chat_template', text('{% broken')],
  ]
  site.add('/long.gguf', writeGguf({ metadata, tensors: [{ name, shape: [8], type: 'F32' }] }))
  await page.route(/\/assets\/jinja-.*\.wasm/, async (route) => await route.abort())
  await site.visit(page, '/long.gguf', '#findings')
  const panel = page.locator('#panel-findings')
  await expect(panel.getByRole('region', { name: /beyond-ggml/ })).toContainText(`1 tensor, '${name}' first`)
  await expect(panel.getByRole('alert')).toContainText('A part of this page could not be loaded.')
  await page.unroute(/\/assets\/jinja-.*\.wasm/)
  await panel.getByRole('button', { name: 'Try again' }).click()
  await expect(panel.getByRole('region', { name: /template-error/ })).toBeVisible()
  await expect(panel.getByRole('alert')).toHaveCount(0)
})

test('an offset beyond the end of the file is one finding, and no gap', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const bytes = Buffer.from(
    writeGguf({
      metadata: [['general.architecture', text('llama')]],
      tensors: [{ name: 'lost', shape: [8], type: 'F32' }],
    }),
  )
  // After the name: the number of dimensions, one dimension, the type.
  bytes.writeBigUInt64LE(1n << 40n, bytes.indexOf('lost') + 4 + 4 + 8 + 4)
  site.add('/lost.gguf', bytes)
  await site.visit(page, '/lost.gguf')
  await opened(page)
  await expect(page.getByText('1 tensor begins beyond the end of the file.')).toBeVisible()
  await expect(page.getByText(/are missing/)).toHaveCount(0)
  await page.getByRole('tab', { name: /^Findings/ }).click()
  const cut = page.getByRole('region', { name: /data-truncated/ })
  await expect(cut).toContainText("tensor 'lost' begins beyond the end of the file")
  await expect(page.getByRole('region', { name: /tensor-gap/ })).toHaveCount(0)
})

test('no number of findings is shown while the file is checked', async ({ page, site }) => {
  // The checks of the templates wait for their module, which the test holds back.
  let release = () => {}
  const held = new Promise<void>((done) => (release = done))
  await page.route(/jinja.*\.wasm/, async (route) => {
    await held
    await route.continue()
  })
  site.add('/fine.gguf', readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf')))
  await site.visit(page, '/fine.gguf', '#findings')
  await opened(page)
  const panel = page.getByRole('tabpanel')
  await expect(panel.getByText('Checking…')).toBeVisible()
  await expect(panel.getByText('Errors …')).toBeVisible()
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveText(/^Findings\s*(\d+\+)?$/)
  release()
  await expect(panel.getByText('Errors 0')).toBeVisible()
  await expect(panel.getByText('Checking…')).toHaveCount(0)
})

/** A small model whose file has three faults: a key twice, a strange type of a key, and a message that has no translation. */
const kFaulty = writeGguf({
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('one')],
    ['general.name', text('two')],
    ['general.uuid', text('none')],
  ],
  tensors: [{ name: 'token_embd.weight', shape: [32], type: 'F32' }],
})

for (const [locale, twice, cure, key] of [
  [
    'de-DE',
    'Schlüssel „general.name“ kommt schon vor',
    'ggml lehnt die Datei ab.',
    'Der Name des Modells, für Menschen.',
  ],
  ['zh-CN', '键 “general.name” 已经存在', 'ggml 会拒绝该文件。', '模型的名称，供人阅读。'],
] as const)
  test.describe(locale, () => {
    test.use({ locale })
    test(`rules, messages and meanings of keys are in the language: ${locale}`, async ({ page, site }) => {
      site.add('/faulty.gguf', kFaulty)
      await site.visit(page, '/faulty.gguf', '#findings')
      const panel = page.getByRole('tabpanel')
      await expect(panel).toContainText(twice)
      await expect(panel).toContainText(cure)
      // What has no translation is English, and says so to screen readers.
      for (const text of await panel.locator('li > p.wrap:not([lang]), .means:not([lang])').allTextContents())
        expect(text).not.toMatch(/\b(the|is|has|not|of)\b/)
      await page.evaluate(() => (location.hash = '#metadata/general.name'))
      // A key that repeats has a row, and counts.
      await expect(page.locator('#tab-metadata .badge')).toHaveText('4')
      await expect(page.locator('#panel-metadata .meant')).toHaveText(key)
    })
  })

test('weights that are not finite are marked in Layers, and are findings once they were read', async ({
  page,
  site,
}) => {
  const bytes = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  bytes.fill(0xff, 700_000, 700_400)
  site.add('/nan.gguf', bytes)
  await site.visit(page, '/nan.gguf', '#findings')
  const panel = page.locator('#panel-findings')
  await expect(panel).toContainText('Only the header was checked.')
  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByLabel('Layers').check()
  await page.getByRole('button', { name: /^Read all values/ }).click()
  const cell = page.getByRole('button', { name: /, [1-9]\d* NaN, \d+ infinite$/ })
  await expect(cell).toHaveCount(1)
  await expect(cell).toContainText('NaN')
  await page.getByRole('tab', { name: /^Findings 1/ }).click()
  const found = panel.getByRole('region', { name: /tensor-data-invalid/ })
  await expect(found).toContainText(/^Error.*blk\.1\.\S+ of Q4_K is damaged in [1-9]\d* of [\d,]+ elements/)
  // The check of all values names the place.
  await panel.getByRole('button', { name: /^Check all values/ }).click()
  await expect(panel).toContainText('All values were read: 1 tensor holds NaN or infinities.')
  await expect(found).toContainText(/is damaged in 2 of \d+ blocks: block \d+ \(in row \d+\) holds NaN/)
  await expect(panel.getByRole('listitem')).toHaveCount(1)
  // Layers marks what that check found, also before it reads the values itself.
  await page.reload()
  await panel.getByRole('button', { name: /^Check all values/ }).click()
  await expect(panel).toContainText('All values were read: 1 tensor')
  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByLabel('Layers').check()
  await expect(page.getByRole('button', { name: /^blk\.1\..*, with NaN or infinities$/ })).toHaveText(/!/)
  await expect(page.getByRole('button', { name: /, with NaN or infinities$/ })).toHaveCount(1)
})

test('what load() refuses is found on request', async ({ page, site }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  const root = join(import.meta.dirname, '../..')
  const sample = join(root, 'tests/fixtures/stories.gguf')
  const bad = join(folder, 'bad.gguf')
  execFileSync(process.execPath, [
    join(root, 'wasm/dist/cli.js'),
    'set',
    sample,
    'llama.rope.freq_base=-1',
    '--output',
    bad,
  ])
  site.add('/good.gguf', readFileSync(sample))
  site.add(
    '/vocabulary.gguf',
    writeGguf({ metadata: [['general.architecture', text('llama')]], tensors: [] }),
  )
  site.add('/bad.gguf', readFileSync(bad))
  await rm(folder, { recursive: true })
  const panel = page.getByRole('tabpanel')
  for (const [path, result] of [
    ['/good.gguf', 'The engine of this page finds nothing to refuse.'],
    ['/vocabulary.gguf', 'The file has no weights: the engine of this page cannot run it.'],
    ['/bad.gguf', 'The engine of this page refuses the file.'],
  ] as const) {
    await site.visit(page, path, '#findings')
    await panel.getByRole('button', { name: 'Check whether it loads' }).click()
    await expect(panel).toContainText(result)
  }
  await expect(panel.getByRole('region', { name: /load/ })).toContainText('rope.freq_base is not positive')
  await expect(page.getByRole('tab', { name: /^Findings 1/ })).toBeVisible()
})
