// Checks a page's current state with axe's rules.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { AxeResults, RunOptions } from 'axe-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

async function run(page: Page): Promise<string[]> {
  // Of what is right, only one example each.
  const results = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run({
      resultTypes: ['violations'],
    }),
  )
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`),
  )
}

/** What is wrong in two runs: a button that became enabled during one has the text of one state on the other's ground. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await run(page)
  if (found.length === 0) return found
  const again = new Set(await run(page))
  return found.filter((one) => again.has(one))
}
