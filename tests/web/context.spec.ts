// Counts that tell the truth, and the ways out of a full context.
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { expect, opened, test, type Page } from './site.ts'

const finished = (page: Page) =>
  page.getByRole('status').filter({ hasText: /tokens?, .*ms\.|ended its answer/ })
const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

async function withContext(page: Page, tokens: number) {
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel(/Precise/).check()
  await page.getByLabel('Longest answer').fill('8')
  await page.getByLabel('Context', { exact: true }).fill(String(tokens))
}

test('the tokens and the bytes that were used are counted', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await withContext(page, 200)
  const meter = page.getByText(/ of 200 tokens$/)
  await expect(meter).toHaveCount(0)
  await message(page).fill('Tell me of bees')
  await message(page).press('Enter')
  await expect(finished(page)).toHaveCount(1)
  await expect(meter).toHaveText(/^\s*[1-9]\d* of 200 tokens$/)
  await expect(page.getByText('read 1.46 MB of 1.46 MB')).toBeVisible()
  const used = parseInt((await meter.textContent())!)
  await message(page).fill('And of the sea. '.repeat(4))
  await expect.poll(async () => parseInt((await meter.textContent())!)).toBeGreaterThan(used + 20)
  await message(page).fill('')
  await expect(meter).toHaveText(new RegExp(`^\\s*${used} of`))
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(meter).toHaveCount(0)
})

test('a message that does not fit is not sent, and a longer context is one click away', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run')
  await withContext(page, 64)
  await message(page).fill('Tell me of bees and of the sea. '.repeat(6))
  await message(page).press('Enter')
  const full = page.getByRole('region', { name: /^This message takes \d+ tokens, and the context has 64$/ })
  await expect(full).toBeVisible()
  await expect(page.getByText('The context has too little room for an answer.')).toBeVisible()
  const send = page.getByRole('button', { name: 'Send', exact: true })
  await message(page).fill('Go on')
  await expect(send).toBeDisabled()
  await message(page).press('Enter')
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(1)
  expect(await violations(page)).toEqual([])
  await expect(full.getByRole('button', { name: 'Leave out the oldest turns' })).toHaveCount(0)
  await full.getByRole('button', { name: /^A context of \d+ tokens/ }).click()
  await expect(finished(page)).toHaveCount(1)
  await expect(full).toHaveCount(0)
})

test('the oldest turns are left out, or the message begins a new conversation', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await withContext(page, 96)
  const you = page.getByRole('article', { name: 'You' })
  for (const [i, text] of ['Tell me of bees. '.repeat(5), 'And of ships. '.repeat(4)].entries()) {
    await message(page).fill(text)
    await message(page).press('Enter')
    await expect(finished(page)).toHaveCount(i + 1)
  }
  await message(page).fill('And of the long way. '.repeat(3))
  await message(page).press('Enter')
  const full = page.getByRole('region', { name: /context is full/ })
  // It is asked before the message is sent.
  await expect(you).toHaveCount(2)
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeDisabled()
  await full.getByRole('button', { name: 'Leave out the oldest turns' }).click()
  await expect(finished(page)).toHaveCount(3)
  await expect(page.getByText('The model no longer sees what is above.')).toBeVisible()
  await expect(you).toHaveCount(3)
  await page.reload()
  await expect(page.getByText('The model no longer sees what is above.')).toBeVisible()
  await expect(you).toHaveCount(3)

  await withContext(page, 64)
  await message(page).fill('Tell me of bees and of the sea. '.repeat(6))
  await message(page).press('Enter')
  const long = page.getByRole('region', { name: /^This message takes/ })
  await long.getByRole('button', { name: 'Shorten the message' }).click()
  await expect(you).toHaveCount(0)
  await expect(message(page)).toHaveValue(/^Tell me of bees/)
  await expect(page.getByRole('button', { name: /^Conversations/ })).toHaveText('Conversations 1')
})

test('an answer with little room is asked about, and the oldest turns then go as needed', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run')
  await withContext(page, 96)
  await page.getByLabel('Longest answer').fill('40')
  const from = page.getByText('The model no longer sees what is above.')
  const almost = page.getByRole('region', {
    name: /^With this message, the context is almost full: \d+ of 96 tokens/,
  })
  let answers = 0
  const ask = async () => {
    await message(page).fill('What do bees make?')
    await message(page).press('Enter')
    await expect(finished(page).nth(answers).or(almost)).toBeVisible()
    if (await almost.isHidden()) answers++
  }
  for (let i = 0; i < 12 && (await almost.isHidden()); i++) await ask()
  expect(answers).toBeGreaterThan(1)
  await almost.getByRole('button', { name: 'Answer in the room that is left' }).click()
  await expect(finished(page)).toHaveCount(++answers)
  await expect(from).toHaveCount(0)

  await message(page).fill('Who are you?')
  await message(page).press('Enter')
  await page.getByRole('button', { name: 'Leave out the oldest turns' }).click()
  await expect(finished(page)).toHaveCount(++answers)
  await expect(from).toHaveCount(1)
  for (let i = 0; i < 6; i++) await ask()
  await expect(almost).toHaveCount(0)
})

test('reading the rest of a header shows how far it is', async ({ page, site }) => {
  const { header, size } = writeHeader(previewModel(kPreviewShapes.find(({ name }) => name === 'bpe-129k')!))
  await using slow = await startServer({ bandwidth: 1e6 })
  slow.add('/slow.gguf', sparseContent(header, size))
  await site.visit(page, `${slow.url}/slow.gguf`, '#tokenizer')
  await opened(page)
  const panel = page.getByRole('tabpanel')
  await expect(panel.getByRole('progressbar', { name: /^Reading the rest of the header/ })).toBeVisible()
  await expect(panel.getByText(/^[\d.]+ [kM]B of [\d.]+ MB$/)).toBeVisible()
  slow.setBandwidth(Infinity)
  await expect(page.getByText(/129,\d+ tokens\./)).toBeVisible()
})

test('a full context counts no more tokens than it has, and the text goes on from its end', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run/complete')
  await withContext(page, 64)
  await page.getByLabel('Longest answer').fill('200')
  const text = page.getByRole('textbox', { name: 'Text to complete' })
  await text.fill('Once upon a time')
  await text.press('Enter')
  const full = page.getByRole('region', { name: /^The context is full: 64 of 64 tokens/ })
  await expect(full).toBeVisible()
  const answer = page.getByTestId('answer')
  const before = (await answer.innerText()).trim()
  await full.getByRole('button', { name: 'Go on in a new conversation' }).click()
  const asked = page.getByRole('article', { name: 'You' })
  await expect(asked.locator('.plain')).not.toHaveText('Once upon a time')
  expect(before).toContain((await asked.locator('.plain').innerText()).trim())
  await expect(page.getByRole('status').filter({ hasText: /tokens?, .*ms\.|ended its answer/ })).toHaveCount(
    1,
  )
})

test('an answer that was cut goes on at a click, also from its end in a new conversation', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run')
  await withContext(page, 64)
  await message(page).fill('Tell me a story about a fox and a lamp')
  await message(page).press('Enter')
  await expect(page.getByText('The longest answer was reached.')).toBeVisible()
  const answer = page.getByTestId('answer')
  const first = (await answer.innerText()).trim()
  await page.getByLabel('Longest answer').fill('200')
  await page.getByRole('button', { name: 'Go on', exact: true }).click()
  const full = page.getByRole('region', { name: /^The context is full: 64 of 64 tokens/ })
  await expect(full).toBeVisible()
  const whole = (await answer.innerText()).trim()
  expect(whole.startsWith(first)).toBe(true)
  expect(whole.length).toBeGreaterThan(first.length)
  // No older turn can be left out, so the end of the answer goes on with its question.
  await expect(full.getByRole('button', { name: 'Leave out the oldest turns' })).toHaveCount(0)
  await full.getByRole('button', { name: 'Go on in a new conversation' }).click()
  await expect(page.getByRole('button', { name: /^Conversations/ })).toHaveText('Conversations 2')
  await expect(page.getByRole('article', { name: 'You' })).toContainText('a fox and a lamp')
  await expect(answer).not.toHaveText(whole)
  await expect(answer).not.toHaveText(first)
})
