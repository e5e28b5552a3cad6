// A page in Chromium for benchmarks, isolated and on a server of its own, with the package in /ours.
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { startServer } from '../../server/server.ts'
import { kBrowser } from '../../web/browser.ts'
import { ofProcesses, ticksOf } from './browser-processes.ts'

const kTickMs = 10

/** mounts: folders by their addresses */
export async function startChromium(mounts: Readonly<Record<string, string>>) {
  const server = await startServer({ isolated: true })
  server.mount('/ours', join(import.meta.dirname, '../../../wasm/dist'))
  for (const [address, folder] of Object.entries(mounts)) server.mount(address, folder)
  server.add('/index.html', '<!doctype html><title>bench</title>')
  const browser = await chromium.launch(kBrowser)
  return {
    url: server.url,
    version: browser.version(),
    /** Serves bytes, and returns their address. */
    add(path: string, bytes: Uint8Array): string {
      server.add(path, bytes)
      return server.url + path
    },
    /** A page that has run a function. */
    async open<T>(run: (argument: T) => Promise<void>, argument: T) {
      const page = await browser.newPage()
      await page.goto(`${server.url}/index.html`)
      await page.evaluate(run as (argument: unknown) => Promise<void>, argument)
      return page
    },
    /** The processor time of the browser so far, in milliseconds. */
    processorTime: async () => kTickMs * (await ofProcesses(browser, ticksOf)),
    async close() {
      await browser.close()
      await server.close()
    },
  }
}

export type Chromium = Awaited<ReturnType<typeof startChromium>>
