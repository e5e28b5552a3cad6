// The documentation's runnable snippets in Firefox and WebKit: each prints something and ends well. tests/web has Chromium.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { kBrowserNames, missing, startBrowser, type Driven } from '../browsers/drive.ts'
import { kLong } from '../fixtures/short.ts'
import { startServer, type Server } from '../server/server.ts'
import { kRoot } from './packed.ts'

const dist = join(kRoot, 'web/dist')
const site = join(dist, 'docs')
const pages = existsSync(site)
  ? globSync('**/*.html', { cwd: site })
      .filter((page) => readFileSync(join(site, page), 'utf8').includes('class="runnable"'))
      .toSorted()
  : []

/** Runs all snippets of the page one after the other. Returns what each printed, and how it ended. */
async function runAll(): Promise<{ status: string; output: string }[]> {
  const until = async <T>(what: string, found: () => T | undefined | null | false): Promise<T> => {
    for (let tries = 0; tries < 1200; tries++) {
      const value = found()
      if (value) return value
      await new Promise((done) => setTimeout(done, 50))
    }
    throw new Error(`no ${what}`)
  }
  await until('snippet', () => document.querySelector('.runnable'))
  const results: { status: string; output: string }[] = []
  for (const snippet of document.querySelectorAll('.runnable')) {
    // The buttons work when the page's scripts have run.
    const status = snippet.querySelector<HTMLElement>('[role=status]')!
    await until('start', () => {
      if (status.innerText === '') snippet.querySelector<HTMLButtonElement>('button.run')?.click()
      return status.innerText
    })
    await until('end', () => !/^Running/.test(status.innerText))
    results.push({
      status: status.innerText,
      output: snippet.querySelector<HTMLElement>('.output')?.innerText ?? '',
    })
  }
  return results
}

for (const name of kBrowserNames.filter((one) => one !== 'chromium'))
  describe(
    `runnable snippets in ${name}`,
    { skip: kLong || missing(name) || (pages.length === 0 && 'the site is not built: npm run build') },
    () => {
      let browser: Driven
      let server: Server
      before(async () => {
        browser = await startBrowser(name)
        server = await startServer({ isolated: true })
        server.mount('/', dist)
      })
      after(async () => {
        await browser.close()
        await server.close()
      })
      for (const path of pages)
        test(path, async () => {
          const page = await browser.newPage()
          await page.goto(`${server.url}/docs/${path}`)
          const results = await page.evaluate(runAll)
          assert.ok(results.length > 0)
          for (const { status, output } of results) {
            // WebKitGTK has no private file system; Safari has.
            if (name === 'webkit' && /Nothing can be stored here/.test(output)) continue
            assert.match(status, /^Ended after/, output)
            assert.match(output, /\S/)
          }
          await page.close()
        })
    },
  )
