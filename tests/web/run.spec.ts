// The panel that runs the model: the trained sample, in a worker, stopped and started again.
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { expect, test } from './site.ts'

test('the sample goes on with a text, and the page stays free', async ({ page, site }) => {
  await page.addInitScript(() => {
    const tasks: number[] = []
    Object.assign(window, { tasks })
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map((entry) => entry.duration)),
    ).observe({
      type: 'longtask',
    })
  })
  await site.visit(page, 'sample.gguf', '#run')
  const answer = page.getByTestId('answer')
  await page.getByText('Settings').click()
  await page.getByLabel('Seed').fill('7')
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('status').filter({ hasText: /tokens, .* a second, .*ms\.$/ })).toBeVisible()
  const first = (await answer.textContent()) ?? ''
  expect(first).toMatch(/^\s*Once upon a time, a [a-z]+ [a-z]+ /)
  await expect(answer.locator('.piece').first()).toHaveAttribute('title', /^token \d+: [\d.]+ %/)

  // The engine is there now: nothing that follows may hold up the page.
  await page.evaluate(() => ((window as unknown as { tasks: number[] }).tasks.length = 0))
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\.$/ })).toBeVisible()
  expect(await answer.textContent()).toBe(first)
  const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks))
  test.info().annotations.push({ type: 'longest task', description: `${longest} ms` })
})

test('stop stops, and another run begins anew', async ({ page, site }) => {
  await site.visit(page, 'sample.gguf', '#run')
  const answer = page.getByTestId('answer')
  await page.getByText('Settings').click()
  await page.getByLabel('Seed').fill('7')
  // The sample writes a story in a tenth of a second: nobody is as quick as an observer.
  await answer.evaluate((element) => {
    const stop = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Stop')
    const observer = new MutationObserver(() => {
      if (!element.querySelector('.piece')) return
      observer.disconnect()
      stop?.click()
    })
    observer.observe(element, { childList: true, subtree: true })
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('status').filter({ hasText: '(stopped)' })).toBeVisible()
  const cut = await answer.locator('.piece').count()
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\.$/ })).toBeVisible()
  expect(await answer.locator('.piece').count()).toBeGreaterThan(cut)
  await page.getByLabel('Answer as in a chat').check()
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\.$/ })).toBeVisible()
})

test('a model that cannot run says why', async ({ page, site }) => {
  const { metadata = [], ...rest } = smallModel()
  const others = metadata.filter(([key]) => key !== 'general.architecture')
  const architecture = ['general.architecture', { type: 'string', value: 'nosuch' }] as const
  const tokens = ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: ['a', 'b'] }] as const
  site.add('/other.gguf', writeGguf({ ...rest, metadata: [...others, architecture, tokens] }))
  await site.visit(page, '/other.gguf', '#run')
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('tabpanel').getByRole('alert')).toContainText('nosuch')
})

test('an answer keeps to a JSON schema', async ({ page, site }) => {
  await site.visit(page, 'sample.gguf', '#run')
  await page.getByText('Settings').click()
  const schema = page.getByLabel('JSON schema')
  await schema.fill('{ "enum": ["bees"')
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('alert')).toContainText('The schema is no JSON')
  await schema.fill(
    '{ "type": "object", "properties": { "legs": { "enum": [2, 6] } }, "required": ["legs"] }',
  )
  await page.getByRole('button', { name: 'Run' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\.$/ })).toBeVisible()
  const pieces = await page.getByTestId('answer').locator('.piece').allTextContents()
  expect([2, 6]).toContain((JSON.parse(pieces.join('')) as { legs: number }).legs)
})
