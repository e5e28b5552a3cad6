// Frames a second while the viewer's lists scroll and its picture of a large matrix moves, and the longest task of the
// page's thread while a header of 8 MB is opened, in Chromium on the built viewer.
//   npm run bench -- viewer
// A frame's time is the distance of two animation frames. Chromium starts at most 60 a second.
import { join } from 'node:path'
import { chromium, type Locator, type Page } from '@playwright/test'
import { previewModel, kPreviewShapes } from '../fixtures/models.ts'
import { writeHeader } from '../fixtures/gguf.ts'
import { startServer } from '../server/server.ts'
import { sparseContent } from '../server/content.ts'
import { kBrowser } from '../web/browser.ts'
import { machine } from './common/figures.ts'

/** Number of animation frames in which each view moves. */
const kFrames = 180

const server = await startServer({ isolated: true })
server.mount('/', join(import.meta.dirname, '../../web/dist'))
const large = writeHeader(previewModel(kPreviewShapes[0]!))
server.add('/large.gguf', sparseContent(large.header, large.size))
const matrix = writeHeader({ tensors: [{ name: 'w', shape: [4096, 14336], type: 'Q4_0' }] })
server.add('/matrix.gguf', sparseContent(matrix.header, matrix.size))

const browser = await chromium.launch(kBrowser)

interface Result {
  /** frames a second, on average */
  average: number
  /** milliseconds of the frame that is longer than 99 % of all */
  slow: number
}
const resultOf = (times: number[]): Result => {
  const gaps = times.slice(1).map((time, i) => time - times[i]!)
  const sorted = gaps.toSorted((a, b) => a - b)
  return {
    average: (1000 * gaps.length) / (times.at(-1)! - times[0]!),
    slow: sorted[Math.floor(sorted.length * 0.99)]!,
  }
}

/** Scrolls a list by 1.5 of its heights a frame, so that each frame shows other rows. */
async function scroll(grid: Locator): Promise<Result> {
  const times = await grid.evaluate(async (box, frames) => {
    const seen: number[] = []
    const most = box.scrollHeight - box.clientHeight
    for (let i = 0; i <= frames; i++) {
      box.scrollTop = (1.5 * i * box.clientHeight) % most
      seen.push(await new Promise<number>((resolve) => requestAnimationFrame(resolve)))
    }
    return seen
  }, kFrames)
  return resultOf(times)
}

/** Zooms into the picture and out again with the wheel, as fast as frames come. */
async function zoom(canvas: Locator): Promise<Result> {
  await canvas.focus()
  const times = await canvas.evaluate(async (box, frames) => {
    const seen: number[] = []
    const { left, top, width, height } = box.getBoundingClientRect()
    const place = {
      clientX: left + 0.4 * width,
      clientY: top + 0.6 * height,
      bubbles: true,
      cancelable: true,
    }
    for (let i = 0; i <= frames; i++) {
      box.dispatchEvent(new WheelEvent('wheel', { ...place, deltaY: i < frames / 2 ? -60 : 60 }))
      seen.push(await new Promise<number>((resolve) => requestAnimationFrame(resolve)))
    }
    return seen
  }, kFrames)
  return resultOf(times)
}

async function visit(path: string, hash: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(() => {
    const tasks: number[] = []
    Object.assign(globalThis, { tasks })
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: 'longtask',
      buffered: true,
    })
  })
  await page.goto(`${server.url}/?${new URLSearchParams({ url: path })}${hash}`)
  await page.getByRole('tablist', { name: 'Panels' }).waitFor()
  return page
}

const show = (what: string, { average, slow }: Result) =>
  console.log(`| ${what} | ${average.toFixed(1)} | ${slow.toFixed(1)} |`)

try {
  console.log(`${machine()}, Chromium ${browser.version()}\n`)
  console.log('| view | frames a second | 99th percentile of a frame, ms |')
  console.log('| --- | --: | --: |')
  const lists: Record<string, string> = {
    'metadata keys': '#metadata',
    'tokens of a vocabulary': '#metadata/tokenizer.ggml.tokens',
    tensors: '#tensors',
    'vocabulary browser': '#tokenizer',
  }
  for (const [what, hash] of Object.entries(lists)) {
    const page = await visit('/large.gguf', hash)
    const grid = page.getByRole('grid').last()
    await grid.getByRole('row').nth(5).waitFor()
    await page.waitForTimeout(1500)
    show(what, await scroll(grid))
    await page.close()
  }
  const page = await visit('/matrix.gguf', '#tensors/w')
  const canvas = page.getByRole('application', { name: /^Values of/ })
  await canvas.focus()
  await page.keyboard.press('Home')
  await page.getByRole('button', { name: /^Read \d/ }).click()
  await page.getByText(/^(Reading .* of|Computing…)/).waitFor({ state: 'hidden' })
  await page.waitForTimeout(1500)
  show('matrix of 4,096 x 14,336, zoomed', await zoom(canvas))
  await page.close()
  const opened = await visit('/large.gguf', '')
  await opened.waitForTimeout(6000)
  const tasks = await opened.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks)
  console.log(
    `\nopening a header of ${(large.header.length / 1e6).toFixed(1)} MB: longest task ${Math.max(0, ...tasks).toFixed(0)} ms (0: all below 50)`,
  )
} finally {
  await browser.close()
  await server.close()
}
