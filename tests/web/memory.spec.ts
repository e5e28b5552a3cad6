// The panel Memory: the user chooses a computer, and the panel shows the package's estimate for it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { kSample, kSpeechSample, kVoiceSample } from '../../web/src/lib/file/samples.ts'
import { chromium } from '@playwright/test'
import { kBrowser } from './browser.ts'
import { expect, opened, test, type Page } from './site.ts'

test('what fits follows the computer, the context and the cache', async ({ page, site }) => {
  await site.visit(page, `/${kSample}`, '#memory')
  await opened(page)
  const result = page.getByRole('region', { name: 'What it takes' })
  await expect(result.getByRole('heading', { name: /^It fits: [\d.]+ MiB$/ })).toBeVisible()
  await expect(result.getByText('with llama.cpp, on both devices together')).toBeVisible()
  await expect(result.getByText('A page computes 128 tokens at a time, and llama.cpp 512')).toBeVisible()
  // One kind of unit: what is in GB is the unit of speeds, and the sentence that explains units.
  const amounts = (await page.locator('#panel-memory').innerText()).replace(/GB\/s|Memory is in GiB .*/g, '')
  expect(amounts).toContain('MiB')
  expect(amounts).not.toMatch(/\b[kMG]B\b/)
  // Chromium has WebAssembly's 64-bit memory.
  await expect(result.getByText('A page can have 16 GiB: it fits.')).toBeVisible()
  await expect(result.getByRole('button', { name: 'Run it here' })).toBeVisible()
  const before = await result.getByRole('img').nth(1).getAttribute('aria-label')
  await page.getByText('Cache and layers').click()
  await expect(page.getByText('4 of 4 layers on the card')).toBeVisible()
  await page.getByLabel('Cached keys').selectOption('q4_0')
  await expect(result.getByRole('img').nth(1)).not.toHaveAttribute('aria-label', before!)
  await expect(result.getByText(/-ngl 4 -ctk q4_0$/)).toBeVisible()
  await page.getByRole('combobox', { name: 'Computer', exact: true }).selectOption('own')
  await page.getByLabel('Graphics memory, GiB').fill('0')
  await page.getByLabel('Computer memory, GiB').fill('0.001')
  await expect(result.getByRole('heading', { name: /^It does not fit/ })).toBeVisible()
  await expect(page.getByText('No context fits.')).toBeVisible()
  await expect(result).not.toContainText('llama-server')
  // The computer and the cache are restored after a reload.
  await page.getByLabel('Computer memory, GiB').blur()
  await page.getByRole('slider', { name: /tokens of context/ }).press('ArrowLeft')
  await expect(page.getByText('With 320 tokens of context', { exact: true })).toBeVisible()
  // Another file has choices of its own.
  await site.visit(page, `/${kSpeechSample}`, '#memory')
  await expect(page.getByText('With 96 tokens of context', { exact: true })).toBeVisible()
  await site.visit(page, `/${kSample}`, '#memory')
  await expect(page.getByLabel('Computer memory, GiB')).toHaveValue('0.001')
  await expect(page.getByLabel('Cached keys')).toHaveValue('q4_0')
  await expect(page.getByText('With 320 tokens of context', { exact: true })).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Cached keys')).toHaveValue('q4_0')
})

interface Limits {
  maxBufferSize: number
  maxStorageBufferBindingSize: number
}

/** What the browser itself tells about WebGPU; undefined: there is none. */
const gpuOf = (page: Page) =>
  page.evaluate(async (): Promise<Limits | undefined> => {
    const { gpu } = navigator as { gpu?: { requestAdapter(): Promise<{ limits: Limits } | null> } }
    const limits = (await gpu?.requestAdapter())?.limits
    return (
      limits && {
        maxBufferSize: limits.maxBufferSize,
        maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
      }
    )
  })

async function checkLimits(page: Page): Promise<Limits | undefined> {
  const result = page.getByRole('region', { name: 'What it takes' })
  await expect(result.getByRole('heading', { name: 'In this browser, on this device' })).toBeVisible()
  const row = (name: string) => result.locator('dl > div', { hasText: name }).locator('dd')
  await expect(row('WebAssembly, 32-bit')).toHaveText('4 GiB')
  await expect(row('WebAssembly, 64-bit')).toHaveText('16 GiB')
  const told = await page.evaluate(() => (navigator as { deviceMemory?: number }).deviceMemory)
  if (told !== undefined) await expect(row('This device')).toContainText(/^[\d.]+ .iB of memory or more/)
  const gpu = await gpuOf(page)
  const gigabytes = (value: number) => `${Number((value / 1024 ** 3).toPrecision(3))} GiB`
  if (!gpu) await expect(row('WebGPU')).toHaveText('not in this browser')
  else
    await expect(row('WebGPU')).toContainText(
      `buffers of up to ${gigabytes(gpu.maxBufferSize)}, of which a shader reads up to ${gigabytes(gpu.maxStorageBufferBindingSize)} at once. The model’s largest weights have `,
    )
  if (gpu)
    await expect(row('WebGPU')).toContainText(/: it fits\. On the card, the model takes about [\d.]+ .iB/)
  return gpu
}

test('the limits of this browser stand beside the computer', async ({ page, site }) => {
  await site.visit(page, `/${kSample}`, '#memory')
  await opened(page)
  await checkLimits(page)
})

test('the limits of WebGPU are shown', async ({ site }) => {
  // Chromium's software adapter.
  const args = kBrowser.args.filter((one) => one !== '--disable-gpu')
  const browser = await chromium.launch({
    ...kBrowser,
    args: [...args, '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--ignore-gpu-blocklist'],
  })
  try {
    const page = await browser.newPage()
    await site.visit(page, `/${kSample}`, '#memory')
    const gpu = await checkLimits(page)
    test.skip(gpu === undefined, 'this Chromium has no software adapter for WebGPU')
  } finally {
    await browser.close()
  }
})

test('a speech model has its own context, and no command of llama.cpp', async ({ page, site }) => {
  await site.visit(page, `/${kSpeechSample}`, '#memory')
  const result = page.getByRole('region', { name: 'What it takes' })
  await expect(result.getByRole('heading', { name: /^It fits/ })).toBeVisible()
  await expect(page.getByText(/^With 96 tokens of context$/)).toBeVisible()
  await expect(result).not.toContainText('llama-server')
  await expect(result).not.toContainText('tokens a second')
  const figure = /takes about ([\d.]+ MiB)/
  const here = figure.exec((await result.textContent()) ?? '')?.[1]
  await page.getByRole('tab', { name: 'Overview' }).click()
  await expect(
    page.locator('#panel-overview').getByText('With 96 tokens of context', { exact: true }),
  ).toBeVisible()
  await page.getByRole('tab', { name: 'Transcribe' }).click()
  await expect(page.locator('#panel-transcribe').getByText(figure)).toContainText(`takes about ${here} of`)
})

test('a voice without a context has neither one nor a command of llama.cpp', async ({ page, site }) => {
  await site.visit(page, `/${kVoiceSample}`, '#memory')
  const result = page.getByRole('region', { name: 'What it takes' })
  await expect(
    result.getByText(/^It takes about [\d.]+ MiB\. A page can have 16 GiB: it fits\./),
  ).toBeVisible()
  await expect(result).not.toContainText('llama')
  await page.getByRole('tab', { name: 'Overview' }).click()
  await expect(
    page.getByRole('heading', { name: 'Memory to run it on one device', exact: true }),
  ).toBeVisible()
})

test('what Run announces is what the model then takes', async ({ page, site }) => {
  await site.visit(page, `/${kSample}`, '#memory')
  await expect(page.getByRole('heading', { name: /^It fits/ })).toBeVisible()
  // The memory is not what limits so small a model.
  await expect(page.locator('#panel-memory')).not.toContainText('tokens a second')
  // The bars of llama.cpp come first.
  const caches = page.locator('#panel-memory').getByRole('listitem').filter({ hasText: 'cache' })
  const cache = (await caches.last().innerText()).trim()
  await expect(caches.first()).not.toHaveText(cache)
  await page.getByRole('tab', { name: 'Run' }).click()
  const amountIn = async (text: RegExp) => {
    const found = page.locator('#panel-run').getByText(text).first()
    await expect(found).toBeVisible()
    return Number(text.exec((await found.textContent()) ?? '')?.[1])
  }
  const announced = await amountIn(/takes about ([\d.]+) MiB of memory/)
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Who are you?')
  await page.keyboard.press('Enter')
  const taken = await amountIn(/([\d.]+) MiB of memory: /)
  await expect(page.locator('#panel-run').getByText(/ MiB of memory: /)).toContainText(cache)
  expect(Math.abs(taken - announced)).toBeLessThan(0.1 * taken)
})

test('the overview keeps the focus on the context that is changed by keys', async ({ page, site }) => {
  await site.visit(page, `/${kSpeechSample}`, '#overview')
  const slider = page.getByRole('slider', { name: 'tokens of context' })
  const before = Number(await slider.inputValue())
  for (const step of [1, 2]) {
    await slider.press('ArrowLeft')
    await expect(slider).toHaveValue(String(before - step))
    await expect(slider).toBeFocused()
  }
})

test('a cut file is not offered to be run', async ({ page, site }) => {
  site.add('/cut.gguf', readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf')).subarray(0, 1e6))
  await site.visit(page, '/cut.gguf', '#memory')
  const result = page.getByRole('region', { name: 'What it takes' })
  await expect(result.getByText('The file is cut off, so its model cannot be run.')).toBeVisible()
  await expect(result.getByRole('button', { name: 'Run it here' })).toHaveCount(0)
})

test('what no loader takes has no settings, but a way to the reasons', async ({ page, site }) => {
  site.add('/refused.gguf', writeGguf(smallModel()))
  await site.visit(page, '/refused.gguf', '#memory')
  const panel = page.locator('#panel-memory')
  await expect(panel).toContainText('Nothing is estimated, because no loader takes the file')
  await expect(panel.getByRole('combobox')).toHaveCount(0)
  await panel.getByRole('button', { name: 'See the findings' }).click()
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true')
})

for (const hasTouch of [true, false])
  test.describe(hasTouch ? 'on a phone' : 'in a narrow window', () => {
    test.use({ viewport: { width: 390, height: 844 }, hasTouch, isMobile: hasTouch })
    test('the computer at first', async ({ page, site }) => {
      await site.visit(page, kSample, '#memory')
      const computer = page.locator('#panel-memory select').first()
      await expect(computer.locator('option:checked')).toHaveText(
        hasTouch ? 'Phone, 8 GiB' : 'Graphics card of 8 GiB',
      )
    })
  })
