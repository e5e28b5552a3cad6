// The largest vocabularies: scrolling is smooth, the DOM is small, and memory is bounded.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, makeTokens, previewModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, opened, test } from './site.ts'

const dist = join(import.meta.dirname, '../../wasm/dist/index.js')
const { open: openFile } = (await import(pathToFileURL(dist).href)) as typeof import('ggufscope')
const shape = kPreviewShapes.find(({ tokens }) => tokens === 262_144)
if (!shape) throw new Error('no shape')
const tokens = makeTokens(shape.tokens, shape.letters, 1)

test.beforeEach(({ site }) => {
  const { header, size } = writeHeader(previewModel(shape))
  site.add('/big.gguf', sparseContent(header, size))
})

test('a worker checks a long header, and the page a short one', async ({ page, site }) => {
  const { header, size } = writeHeader(previewModel(shape))
  const read = (offset: number, length: number) => Promise.resolve(header.slice(offset, offset + length))
  using whole = await openFile({ size, name: 'big.gguf', read })
  await whole.completeHeader()
  const workers: string[] = []
  page.on('worker', (worker) => workers.push(worker.url()))
  const checked = () => workers.filter((url) => url.includes('lint-worker')).length
  const tab = page.getByRole('tab', { name: /^Findings/ })
  await site.visit(page, '/big.gguf', '#findings')
  const findings = [...whole.lint(), ...(await whole.lintKeys())]
  await expect(tab).toHaveText(`Findings ${findings.length}`)
  expect(checked()).toBe(1)
  await site.visit(page, kSample, '#findings')
  await expect(tab).toHaveText(/Findings \d+/)
  expect(checked()).toBe(1)
})

test('an array of 262,144 entries', async ({ page, site }) => {
  await site.visit(page, '/big.gguf', '#metadata/tokenizer.ggml.tokens')
  await opened(page)
  const grid = page.getByRole('grid', { name: 'Entries of tokenizer.ggml.tokens' })
  await expect(grid).toHaveAttribute('aria-rowcount', '262144')
  await expect(grid.getByRole('row').first()).toContainText(tokens[0] ?? '')

  // Scrolls from one end to the other, to a different position in every frame.
  const result = await grid.evaluate(async (box) => {
    const memory = () => {
      ;(globalThis as unknown as { gc?: () => void }).gc?.()
      return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize
    }
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const before = memory()
    const frames = 240
    let mostNodes = 0
    const rows = new Set<Element>()
    const work: number[] = []
    for (let i = 0; i <= frames; i++) {
      const start = performance.now()
      box.scrollTop = ((box.scrollHeight - box.clientHeight) * i) / frames
      box.dispatchEvent(new Event('scroll'))
      await Promise.resolve()
      void box.querySelector('.rows')?.getBoundingClientRect()
      work.push(performance.now() - start)
      await frame()
      mostNodes = Math.max(mostNodes, document.querySelectorAll('*').length)
      for (const row of box.querySelectorAll('.rows > *')) rows.add(row)
    }
    work.sort((a, b) => a - b)
    return {
      grown: memory() - before,
      mostNodes,
      rows: rows.size,
      median: work[frames >> 1] ?? 0,
      p95: work[Math.floor(frames * 0.95)] ?? 0,
    }
  })
  test.info().annotations.push({ type: 'scrolling', description: JSON.stringify(result) })
  expect(result.mostNodes).toBeLessThan(1000)
  // Rows are used again.
  expect(result.rows).toBeLessThan(100)
  expect(result.grown).toBeLessThan(8e6)
  await expect(grid.getByRole('row').last()).toContainText(tokens.at(-1) ?? '')
  await expect(grid.getByRole('row').last()).toHaveAttribute('aria-rowindex', '262144')
})

test('jumping to an entry, and finding one', async ({ page, site }) => {
  await site.visit(page, '/big.gguf', '#metadata/tokenizer.ggml.tokens')
  const grid = page.getByRole('grid', { name: 'Entries of tokenizer.ggml.tokens' })
  await expect(grid).toHaveAttribute('aria-rowcount', '262144')
  await page.getByLabel('Go to entry number').fill('131072')
  await page.keyboard.press('Enter')
  await expect(grid.getByRole('row', { selected: true })).toContainText(tokens[131_072] ?? '')

  const query = 'zzx'
  const wanted = tokens.flatMap((token, index) => (token.toLowerCase().includes(query) ? [index] : []))
  expect(wanted.length).toBeGreaterThan(0)
  await page.getByLabel('Find in the entries').fill(query)
  await expect(
    page.getByText(`${wanted.length.toLocaleString('en-US')} found`, { exact: true }),
  ).toBeVisible()
  expect(Number(await grid.getAttribute('aria-rowcount'))).toBe(wanted.length)
  await expect(grid.getByRole('rowheader').first()).toHaveText(String(wanted[0]))
})

test('long texts are complete and have line numbers', async ({ page, site }) => {
  const lines = Array.from({ length: 5000 }, (_, i) => `line ${i + 1}`)
  const { header, size } = writeHeader({
    metadata: [['tokenizer.chat_template', { type: 'string', value: lines.join('\n') }]],
  })
  site.add('/text.gguf', sparseContent(header, size))
  await site.visit(page, '/text.gguf', '#metadata/tokenizer.chat_template')
  const text = page.getByRole('region', { name: 'Text of tokenizer.chat_template' })
  await expect(text.locator('.line')).toHaveCount(2000)
  await text.getByRole('button', { name: /Show more/ }).click()
  await text.getByRole('button', { name: /Show more/ }).click()
  await expect(text.locator('.line')).toHaveCount(5000)
  await expect(text.locator('.line').last()).toHaveText('line 5000')
  await expect(text.locator('.line').last()).toHaveAttribute('data-number', '5000')
})
