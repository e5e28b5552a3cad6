// Conversations of the panel Run: a record each, which tabs merge; nothing that was written is lost.
import { kAll } from '../fixtures/short.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { downloaded, expect, test, type Page } from './site.ts'

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
const said = (page: Page) => page.getByRole('article', { name: 'You' })
const bar = (page: Page) => page.getByRole('button', { name: /^Conversations \d+$/ })
const rows = (page: Page) => page.getByRole('region', { name: 'Conversations' }).getByRole('listitem')

/** Answers of eight tokens: whatever the sample says, the context has room for the next one. */
async function shortAnswers(page: Page) {
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Longest answer').fill('8')
}

/** Sends a message as the last of its branch, and waits for the end of its answer. */
async function say(page: Page, text: string) {
  const before = await said(page).count()
  await field(page).fill(text)
  await field(page).press('Enter')
  await expect(said(page)).toHaveCount(before + 1)
  const answer = page.getByRole('article', { name: 'Model' }).nth(before)
  await expect(answer.getByRole('status').last()).toHaveText(/ms\.|ended its answer/)
}

test('New keeps the conversation before, and the list finds, renames, exports, deletes and brings back', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run')
  const fetched = page.getByText(/To fetch: |loaded with the first/)
  await expect(fetched.first()).toBeVisible()
  await shortAnswers(page)
  await say(page, 'Tell me of bees')
  await page.getByRole('button', { name: 'New', exact: true }).press('Enter')
  await expect(said(page)).toHaveCount(0)
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toBeFocused()
  // The weights are there.
  await expect(page.getByText('The model is loaded in this tab.')).toBeVisible()
  await expect(fetched).toHaveCount(0)
  await say(page, 'Tell me of ships')
  await say(page, 'Tell me of harbours')
  await expect(bar(page)).toHaveText('Conversations 2')
  await bar(page).click()
  await expect(rows(page)).toHaveText([/Tell me of ships.*· 4 messages/, /Tell me of bees.*· 2 messages/])

  expect(await violations(page)).toEqual([])

  // Undo shows again what was shown.
  await page.getByRole('button', { name: 'Delete Tell me of ships' }).click()
  await expect(said(page)).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('searchbox', { name: 'Search titles and messages' })).toBeFocused()
  await expect(said(page)).toHaveText([/Tell me of ships/, /Tell me of harbours/])
  const answer = (await page.getByTestId('answer').last().innerText()).trim().split('\n')[0]!
  await expect(rows(page).first()).toContainText(answer)

  await page.getByRole('searchbox', { name: 'Search titles and messages' }).fill('BEES')
  await expect(rows(page)).toHaveText([/Tell me of bees/])
  await page.getByRole('button', { name: 'Rename Tell me of bees' }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill('About bees')
  await page.keyboard.press('Enter')
  await expect(rows(page)).toHaveText([/About bees/])
  const { bytes, name } = await downloaded(page, 'Export About bees')
  expect(name).toBe('About bees.conversation.json')
  const exported = JSON.parse(bytes.toString()) as { turns: { text: string }[] }
  expect(exported.turns[0]?.text).toBe('Tell me of bees')

  await page.getByRole('button', { name: 'Delete About bees' }).click()
  await expect(rows(page)).toHaveText([/None contains/])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'About bees', exact: true }).click()
  await expect(said(page)).toHaveText([/Tell me of bees/])
  await page.reload()
  await expect(said(page)).toHaveText([/Tell me of bees/])
  await expect(bar(page)).toHaveText('Conversations 2')
})

test('two tabs on one file lose no turn of each other', async ({ page, site, context }) => {
  await site.visit(page, kSample, '#run')
  await shortAnswers(page)
  await say(page, 'Tell me of bees')
  const other = await context.newPage()
  await site.visit(other, kSample, '#run')
  await shortAnswers(other)
  await expect(said(other)).toHaveText([/bees/])
  // Both go on with the same conversation. Each shows what the other has written.
  await say(other, 'And of ships')
  await expect(said(page)).toHaveText([/bees/, /ships/])
  await say(page, 'And of cats')
  await expect(said(other)).toHaveText([/bees/, /ships/, /cats/])
  // Both send at the same time: each message is a branch of its own, or one follows the other.
  await field(page).fill('And of rain')
  await field(other).fill('And of snow')
  await Promise.all([field(page).press('Enter'), field(other).press('Enter')])
  for (const tab of [page, other]) {
    await expect(
      tab
        .getByRole('status')
        .filter({ hasText: /ms\.|ended its answer/ })
        .nth(3),
    ).toBeVisible()
    await expect(tab.getByRole('button', { name: 'Stop', exact: true })).toBeHidden()
  }
  const stored = () =>
    page.evaluate(async () => {
      const request = indexedDB.open('ggufscope-conversations')
      await new Promise((resolve) => (request.onsuccess = resolve))
      const all = request.result.transaction('contents').objectStore('contents').getAll()
      await new Promise((resolve) => (all.onsuccess = resolve))
      request.result.close()
      return JSON.stringify(all.result)
    })
  for (const text of ['bees', 'ships', 'cats', 'rain', 'snow']) await expect.poll(stored).toContain(text)
  // Each begins one of its own.
  for (const [tab, text] of [
    [page, 'dogs'],
    [other, 'birds'],
  ] as const) {
    await tab.getByRole('button', { name: 'New', exact: true }).click()
    await say(tab, text)
  }
  await expect(bar(page)).toHaveText('Conversations 3')
  await page.reload()
  await expect(said(page)).toHaveText([/dogs/])
  await bar(page).click()
  await page.getByRole('button', { name: 'Tell me of bees', exact: true }).click()
  const last = /bees.*ships.*cats.*(rain|snow).*(rain|snow|\d of 2)/s
  await expect.poll(async () => (await said(page).allTextContents()).join('\n')).toMatch(last)
})

test('a draft and settings survive a reload', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await expect(page.getByText(/a very small model, of 2\.03 million parameters/)).toBeVisible()
  const system = page.getByRole('textbox', { name: 'System message' })
  const longest = page.getByLabel('Longest answer')
  await page.getByText('Settings', { exact: true }).click()
  await system.fill('Be brief')
  await longest.fill('8')
  await field(page).fill('What is')
  // A draft is in the list, and does not count before it is sent.
  await bar(page).click()
  await expect(rows(page)).toHaveText([/What is.*not sent yet/])
  await expect(bar(page)).toHaveText('Conversations 0')
  await bar(page).click()
  await field(page).fill('What is this?')
  await page.reload()
  await expect(field(page)).toHaveValue('What is this?')
  await page.getByText('Settings', { exact: true }).click()
  await expect(system).toHaveValue('Be brief')
  await expect(longest).toHaveValue('8')
})

test('what is said after the database was removed is stored', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await shortAnswers(page)
  await say(page, 'Tell me of bees')
  await expect(bar(page)).toHaveText('Conversations 1')
  await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('ggufscope-conversations')
        request.onsuccess = resolve
        request.onerror = reject
      }),
  )
  await say(page, 'Tell me of ships')
  await expect(bar(page)).toHaveText('Conversations 1')
  await page.reload()
  await expect(said(page)).toHaveText([/Tell me of bees/, /Tell me of ships/])
})

test('a conversation of an earlier version is taken over', async ({ page, site }) => {
  const turns = [
    { id: 1, role: 'user', text: 'bees', tokens: [], state: 'done', told: '' },
    { id: 2, parent: 1, role: 'assistant', text: 'wax', tokens: [], state: 'done', told: '' },
  ]
  const saved = { format: 'ggufscope-conversation', version: 1, system: '', turns, chosen: [] }
  await page.addInitScript(
    ([key, text]) => localStorage.setItem(key!, text!),
    [`ggufscope.conversation.${site.url}/${kSample}`, JSON.stringify(saved)],
  )
  await site.visit(page, kSample, '#run')
  await expect(said(page)).toHaveText([/bees/])
  await expect(bar(page)).toHaveText('Conversations 1')
})

test('an answer is said once, at its end, and a conversation opens where it ended', async ({
  page,
  site,
}) => {
  await page.setViewportSize({ width: 1280, height: 500 })
  await site.visit(page, kSample, '#run')
  await field(page).waitFor()
  // What live regions say: their text after each change, unless they are off.
  await page.evaluate(() => {
    const told: string[] = []
    Object.assign(globalThis, { told })
    new MutationObserver((changes) => {
      const regions = new Set(
        changes.map(({ target }) =>
          (target instanceof Element ? target : target.parentElement)?.closest('[role=status]'),
        ),
      )
      for (const one of regions)
        if (one?.getAttribute('aria-live') !== 'off') told.push(one?.textContent ?? '')
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  await say(page, 'Tell me of bees')
  const text = (await page.getByTestId('answer').innerText()).trim()
  const told = await page.evaluate(() => (globalThis as unknown as { told: string[] }).told)
  const figures = told.filter((one) => one.includes(', the first after '))
  expect(figures.filter((one) => one.includes(text))).toHaveLength(1)
  expect(figures).toHaveLength(1)
  await say(page, 'And of ships')
  const last = page.getByRole('article', { name: 'Model' }).last().getByRole('status')
  await page.reload()
  await expect(said(page)).toHaveCount(2)
  await expect(last).toBeInViewport()
  // It stays there when the width changes, and nothing in it lengthens the page.
  await page.setViewportSize({ width: 390, height: 640 })
  await expect(last).toBeInViewport()
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0)
})

test('a full storage is said, and nothing that was written is lost', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const session = await page.context().newCDPSession(page)
  const setQuota = (quota: { quotaSize?: number }) =>
    session.send('Storage.overrideQuotaForOrigin', { origin: site.url, ...quota })
  const full = page.getByRole('alert').filter({ hasText: 'This browser’s storage is full.' })
  await site.visit(page, kSample, '#run')
  await expect(bar(page)).toHaveText('Conversations 0')
  // Chromium asks for the room at the first write, and later if that room does not suffice.
  await setQuota({ quotaSize: 1 })
  await say(page, 'Tell me of bees')
  await expect(full).toBeVisible()
  await expect(bar(page)).toHaveText('Conversations 1')
  await say(page, 'And of ships')
  // Neither a new conversation nor a change between them drops what is not saved.
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(said(page)).toHaveCount(0)
  await say(page, 'Tell me of cats')
  await expect(bar(page)).toHaveText('Conversations 2')
  await bar(page).click()
  await page.getByRole('button', { name: 'Tell me of bees', exact: true }).click()
  await expect(said(page)).toHaveText([/bees/, /ships/])
  await expect(full).toBeVisible()
  expect(await violations(page)).toEqual([])

  // The next message saves all of it.
  await setQuota({})
  await say(page, 'And of rain')
  await expect(full).toBeHidden()
  await page.reload()
  await expect(said(page)).toHaveText([/bees/, /ships/, /rain/])
  await bar(page).click()
  await page.getByRole('button', { name: 'Tell me of cats', exact: true }).click()
  await expect(said(page)).toHaveText([/cats/])
})
