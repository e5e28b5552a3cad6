// The viewer under Vite's development server, as its developers use it.
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { createServer } from 'vite'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, opened, test } from './site.ts'

test('the development server', async ({ page }, info) => {
  const vite = await createServer({
    configFile: join(import.meta.dirname, '../../web/vite.config.ts'),
    cacheDir: info.outputPath('vite'),
    logLevel: 'error',
    server: { port: 0, host: '127.0.0.1' },
  })
  try {
    await vite.listen()
    const { port } = vite.httpServer!.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/?url=${kSample}`)
    await opened(page)
    await page.getByRole('tab', { name: 'Tokenizer' }).click()
    await expect(page.getByRole('list', { name: 'Tokens' }).getByRole('listitem').first()).toBeVisible()
    // The panel's own styles were loaded, too.
    expect(await page.locator('.chips').evaluate((list) => getComputedStyle(list).display)).toBe('flex')
  } finally {
    // A page that loses its development server starts a worker, which the viewer's policy refuses.
    await page.goto('about:blank')
    await vite.close()
  }
})
