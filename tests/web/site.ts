// The base of every web test: the built viewer and the tests' files, served by the range server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import { startServer, type Server } from '../server/server.ts'
import { kSharedData } from './files.ts'

export interface Site extends Server {
  /** Opens the viewer on a file of this server ("/x.gguf"), or on the start page. */
  visit(page: Page, path?: string, hash?: string): Promise<void>
}

export const test = base.extend<{ strict: undefined }, { site: Site }>({
  site: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the pattern
    async ({}, use) => {
      const server = await startServer({ isolated: true })
      server.mount('/', join(import.meta.dirname, '../../web/dist'))
      server.mount('/data/', kSharedData)
      const visit: Site['visit'] = async (page, path, hash = '') => {
        const query = path === undefined ? '' : `?${new URLSearchParams({ url: path })}`
        await page.goto(`${server.url}/${query}${hash}`)
      }
      await use(Object.assign(server, { visit }))
      await server.close()
    },
    { scope: 'worker' },
  ],
  // Fails the test for errors on the console and for violations of the content security policy.
  strict: [
    async ({ page }, use) => {
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('console', (message) => {
        // The browser's own messages about failed requests are not the page's fault.
        const expected = /^Failed to load resource|blocked by CORS policy/
        if (message.type() === 'error' && !expected.test(message.text())) faults.push(message.text())
      })
      await use(undefined)
      expect(faults).toEqual([])
    },
    { auto: true },
  ],
})

export { expect, type Page }

/** Waits until a file is open; its name is the page's heading. */
export async function opened(page: Page): Promise<void> {
  await expect(page.getByRole('tablist', { name: 'Panels' })).toBeVisible()
}

/** Opens a file of this computer, as its user chooses it. */
export async function openLocal(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  const buffer = Buffer.from(bytes)
  await page
    .getByLabel('Choose GGUF files')
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
  await opened(page)
}

/** Presses a button that saves a file, and returns that file. */
export async function downloaded(
  page: Page,
  button: RegExp | string,
): Promise<{ name: string; bytes: Buffer }> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  const file = await download
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
}

/** The row count that a table reports to screen readers, without its header. */
export async function rowCount(page: Page, label: string): Promise<number> {
  const grid = page.getByRole('grid', { name: label })
  await expect(grid).toBeVisible()
  const heads = await grid.getByRole('columnheader').count()
  return Number(await grid.getAttribute('aria-rowcount')) - (heads > 0 ? 1 : 0)
}
