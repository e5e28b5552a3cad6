// What a browser loads for the pages of the viewer, compressed: the code of a panel is loaded when it is shown.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, test } from './site.ts'

const dist = join(import.meta.dirname, '../../web/dist')

/** Limits in kB for the whole page, with the wasm modules and without the model. */
const kLimits: readonly [
  name: string,
  path: string | undefined,
  hash: string,
  ready: string,
  kilobytes: number,
][] = [
  ['the start page', undefined, '', 'figure', 85],
  ['the overview', kSample, '', '.facts', 199],
  ['metadata', kSample, '#metadata', '[role=grid]', 246],
  ['a tensor', kSample, '#tensors/token_embd.weight', '#channels-title', 314],
  ['the graph', kSample, '#graph', '.node', 221],
  ['the memory', kSample, '#memory', '.command', 207],
]

for (const [name, path, hash, ready, limit] of kLimits)
  test(`the bytes of ${name} stay within their limit`, async ({ page, site }) => {
    // The service worker fetches all files later.
    await page.addInitScript(() => Object.defineProperty(navigator, 'serviceWorker', { value: undefined }))
    site.reset()
    await site.visit(page, path, hash)
    await page.waitForSelector(ready)
    await page.waitForLoadState('networkidle')
    const files = new Set(
      site.log.map((request) => request.path).filter((file) => file.startsWith('/assets/')),
    )
    const sizes = ['/index.html', ...files].map((file) => gzipSync(readFileSync(join(dist, file))).length)
    const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000
    test.info().annotations.push({ type: 'kilobytes', description: kilobytes.toFixed(1) })
    expect(kilobytes).toBeLessThanOrEqual(limit)
  })
