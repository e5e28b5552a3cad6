// The custom element's host pages in every browser that is installed.
import { deepStrictEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kBrowserNames, missing, startBrowser } from '../browsers/drive.ts'
import { packedFile, packedRoot } from '../package/packed.ts'
import { startServer } from '../server/server.ts'
import { addHosts, kUsed, useElement } from './element.ts'
import { modelBytes } from './expected.ts'

export interface ElementResult {
  readonly name: string
  /** why it was not tried */
  readonly skipped?: string
  readonly fault?: string
}

/** Uses the element in each host page with each browser. */
export async function tryElement(): Promise<ElementResult[]> {
  const home = await startServer({ cors: false })
  const foreign = await startServer()
  const work = mkdtempSync(join(packedRoot(), 'elements-'))
  writeFileSync(join(work, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
  for (const server of [home, foreign]) server.add('/stories.gguf', modelBytes())
  const results: ElementResult[] = []
  try {
    const hosts = await addHosts(home, foreign, packedFile('.'), work)
    for (const name of kBrowserNames) {
      const skipped = missing(name)
      if (skipped !== false) {
        results.push({ name: `element, ${name}`, skipped })
        continue
      }
      const browser = await startBrowser(name)
      for (const [host, address] of hosts) {
        const page = await browser.newPage({ width: 1100, height: 900 })
        const row = { name: `element, ${host}, ${name}` }
        try {
          await page.goto(address)
          deepStrictEqual(await page.evaluate(useElement), kUsed)
          results.push(row)
        } catch (error) {
          results.push({ ...row, fault: error instanceof Error ? error.message : String(error) })
        }
        await page.close()
      }
      await browser.close()
    }
  } finally {
    await Promise.all([home.close(), foreign.close()])
    rmSync(work, { recursive: true, force: true })
  }
  return results
}
