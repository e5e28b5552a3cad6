// Takes screenshots of the documentation: phone and desktop, light and dark. Reports pages that are wider than their
// window.
// node scripts/docs/screenshots.ts [OUT, default build/screenshots/docs] [TEXT: only pages whose name contains it]
import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { startServer } from '../../tests/server/server.ts'
import { kBrowser } from '../../tests/web/browser.ts'

const root = join(import.meta.dirname, '../..')
const [out = join(root, 'build/screenshots/docs'), only = ''] = process.argv.slice(2)
mkdirSync(out, { recursive: true })

await using server = await startServer({ isolated: true })
server.mount('/', join(root, 'web/dist'))
const pages = globSync('**/*.html', { cwd: join(root, 'web/dist/docs') }).filter((page) =>
  page.includes(only),
)
const browser = await chromium.launch(kBrowser)
for (const [size, viewport] of [
  ['phone', { width: 390, height: 844 }],
  ['desktop', { width: 1280, height: 900 }],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(page.url(), message.text())
    })
    for (const name of pages) {
      await page.goto(`${server.url}/docs/${name}`)
      const file = `${name.replaceAll('/', '-').replace('.html', '')}-${size}-${colorScheme}.png`
      await page.screenshot({ path: join(out, file), fullPage: false })
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      if (width > viewport.width) console.error(`${file}: ${width} px wide`)
    }
    await context.close()
  }
}
await browser.close()
