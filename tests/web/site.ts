// What every web test stands on: the built viewer and the files of the tests, served by the range server.
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
    // eslint-disable-next-line no-empty-pattern
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
  // Nothing may go to the console as an error, and the page's content policy may never be broken.
  strict: [
    async ({ page }, use) => {
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('console', (message) => {
        // What the browser itself says of a failed request is no fault of the page.
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

/** The row count that a table tells screen readers, without its header. */
export async function rowCount(page: Page, label: string): Promise<number> {
  const grid = page.getByRole('grid', { name: label })
  await expect(grid).toBeVisible()
  const heads = await grid.getByRole('columnheader').count()
  return Number(await grid.getAttribute('aria-rowcount')) - (heads > 0 ? 1 : 0)
}
