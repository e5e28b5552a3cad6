// The panel Run: the trained sample runs in a worker, is stopped and started again.
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { expect, test, type Page } from './site.ts'

/** Switches the panel to completing texts, with a seed. */
async function completing(page: Page, seed = '7') {
  await page.getByLabel('Complete a text').check()
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Seed').fill(seed)
  await page.getByRole('textbox', { name: 'Text to complete' }).fill('Once upon a time')
}
const finished = (page: Page) =>
  page.getByRole('status').filter({ hasText: /tokens?, .*ms\.|ended its answer/ })

test('the sample completes a text, and the page stays free', async ({ page, site }) => {
  await page.addInitScript(() => {
    const tasks: number[] = []
    Object.assign(window, { tasks })
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map((entry) => entry.duration)),
    ).observe({
      type: 'longtask',
    })
  })
  await site.visit(page, kSample, '#run')
  await completing(page)
  const answer = page.getByTestId('answer')
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(finished(page)).toBeVisible()
  const first = (await answer.textContent()) ?? ''
  expect(first).toMatch(/^\s*, a [a-z]+ [a-z]+ /)

  // The engine is loaded now. Nothing that follows may block the page.
  await page.evaluate(() => ((window as unknown as { tasks: number[] }).tasks.length = 0))
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(finished(page)).toBeVisible()
  expect(await answer.textContent()).toBe(first)
  // Earlier texts have a list of their own, which the conversations lack.
  await expect(page.getByRole('button', { name: /^Earlier texts 1$/ })).toBeVisible()
  await page.getByLabel('Answer messages').check()
  await expect(page.getByRole('article')).toHaveCount(0)
  await expect(page.getByRole('button', { name: /^Conversations 0$/ })).toBeVisible()
  await page.getByLabel('Complete a text').check()
  await expect(answer).toHaveText(first)
  const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks))
  test.info().annotations.push({ type: 'longest task', description: `${longest} ms` })
})

test('stop stops, and another answer begins anew', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await completing(page)
  // The sample writes a story in a tenth of a second, so an observer in the page clicks Stop.
  await page.evaluate(() => {
    const stop = () =>
      [...document.querySelectorAll('button')].find((button) => button.textContent === 'Stop')
    const observer = new MutationObserver(() => {
      if (
        !document.querySelector('[data-testid=answer] .plain')?.textContent &&
        !/tokens/.test(document.querySelector('.status')?.textContent ?? '')
      )
        return
      observer.disconnect()
      stop()?.click()
    })
    observer.observe(document.body, { childList: true, subtree: true, characterData: true })
  })
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Stopped.' })).toBeVisible()
  await page.getByRole('button', { name: 'Answer again' }).click()
  await expect(finished(page)).toBeVisible()
  await expect(page.getByText('2 of 2')).toBeVisible()
})

test('a conversation has turns and branches, and is stored', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await message.fill('Tell me of bees')
  await message.press('Enter')
  await expect(finished(page)).toHaveCount(1)
  await expect(message).toHaveValue('')
  await message.fill('And of ships')
  await message.press('Enter')
  await expect(finished(page)).toHaveCount(2)
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(2)
  await expect(page.getByLabel('Context in use')).toBeVisible()

  // Editing the first message starts a new branch. The old branch can be shown again.
  const first = page.getByRole('article', { name: 'You' }).first()
  await first.getByRole('button', { name: 'Edit' }).click()
  const edited = page.getByLabel('Edit the message')
  await expect(edited).toBeFocused()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(first.getByRole('button', { name: 'Edit' })).toBeFocused()
  await page.keyboard.press('Enter')
  await edited.fill('Tell me of dogs')
  await edited.press('Enter')
  await expect(first).toContainText('2 of 2')
  await expect(page.getByRole('group', { name: 'Turns' })).toBeFocused()
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(1)
  await expect(finished(page)).toHaveCount(1)
  await first.getByRole('button', { name: 'The branch before' }).click()
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(2)
  await expect(first).toContainText('Tell me of bees')

  // Engine and conversation survive a change of the panel. The conversation also survives a reload.
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByRole('tab', { name: 'Run' }).click()
  await expect(page.getByText(/of memory: .* weights/)).toBeVisible()
  await expect(page).toHaveURL(/#run$/)
  await page.reload()
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(2)
  await expect(first).toContainText('Tell me of bees')

  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const path = await (await saved).path()
  await page.getByRole('button', { name: 'New' }).click()
  await expect(page.getByRole('article')).toHaveCount(0)
  await page.getByLabel('Conversation to import').setInputFiles({
    name: 'x.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"turns": 3}'),
  })
  await expect(page.getByRole('alert')).toContainText('could not be opened')
  await page.getByLabel('Conversation to import').setInputFiles({
    name: 'x.json',
    mimeType: 'application/json',
    buffer: await readFile(path),
  })
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(2)
})

test('each token shows its probability, and choosing another one gives another answer', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run')
  await completing(page)
  await page.getByLabel('Longest answer').fill('12')
  await page.getByLabel(/Show tokens/).check()
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(finished(page)).toBeVisible()
  const pieces = page.getByTestId('answer').locator('.piece')
  await expect(pieces).toHaveCount(12)
  await expect(pieces.first()).toHaveAttribute('title', /^token \d+: [\d.]+ %/)
  const before = await pieces.allTextContents()
  await pieces.nth(5).click()
  const candidates = page.getByRole('group', { name: 'The likeliest tokens here' }).getByRole('button')
  const other = candidates.and(page.locator(':enabled')).first()
  const word = JSON.parse((await other.locator('.mono').textContent()) ?? '') as string
  await other.click()
  await expect(page.getByText('2 of 2')).toBeVisible()
  await expect(finished(page)).toBeVisible()
  const after = await pieces.allTextContents()
  expect(after.slice(0, 5)).toEqual(before.slice(0, 5))
  expect(after[5]).toBe(word)
  expect(after[5]).not.toBe(before[5])
  expect(after.length).toBe(6 + 12)
})

test('on a phone the alternatives of a token come into view', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, kSample, '#run')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Tell me a story about a brave owl')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\.|ended its answer/ })).toBeAttached()
  await page.getByText('Options', { exact: true }).click()
  await page.getByLabel('Show tokens and how likely they were').check()
  await page.getByText('Options', { exact: true }).click()
  await page.locator('.piece').first().click()
  await expect(page.getByRole('group', { name: 'The likeliest tokens here' })).toBeInViewport({ ratio: 0.98 })
})

test('the model of a cut file is not run, and the panel says so at once', async ({ page, site }) => {
  const whole = await readFile(join(import.meta.dirname, '../fixtures/stories.gguf'))
  site.add('/cut.gguf', whole.subarray(0, 900_000))
  await site.visit(page, '/cut.gguf', '#run')
  const reason = page
    .getByRole('alert')
    .filter({ hasText: 'The file is cut off, so its model cannot be run.' })
  for (const [mode, field, button] of [
    ['Answer messages', 'Message', 'Send'],
    ['Complete a text', 'Text to complete', 'Complete'],
    ['Look inside', 'A text that the model reads', 'Look inside'],
  ] as const) {
    await page.getByLabel(mode).check()
    await expect(reason).toBeVisible()
    await page.getByRole('textbox', { name: field, exact: true }).fill('Once upon a time')
    await expect(page.getByRole('button', { name: button, exact: true })).toBeDisabled()
  }
  await expect(page.getByText(/it fits|To fetch/)).toHaveCount(0)
})

test('a model that the engine does not take is named at once, with a way out, and New keeps the system message', async ({
  page,
  site,
}) => {
  const bytes = await readFile(join(import.meta.dirname, '../fixtures/stories.gguf'))
  const heads = Buffer.from('llama.attention.head_count')
  const at = bytes.indexOf(heads) + heads.length + 4
  site.add('/heads.gguf', bytes.with(at, 7))
  await site.visit(page, '/heads.gguf', '#run')
  await expect(page.getByRole('alert')).toContainText('The engine cannot run this model: ')
  await expect(page.getByRole('group', { name: 'To begin with' })).toHaveCount(0)
  const system = page.getByRole('textbox', { name: 'System message' })
  await system.fill('Be brief.')
  const list = page.getByRole('button', { name: /^Conversations/ })
  await list.click()
  await expect(page.getByText('None is stored yet.')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByText('None is stored yet.')).toHaveCount(0)
  await expect(list).toBeFocused()
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello')
  await expect(page.getByRole('button', { name: 'New', exact: true })).toBeEnabled()
  await list.click()
  await page.getByLabel('Complete a text').check()
  await expect(page.getByRole('searchbox')).toHaveCount(0)
  await page.getByLabel('Answer messages').check()
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(system).toHaveValue('Be brief.')
  await page.getByRole('button', { name: 'See the findings' }).click()
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true')
})

test('a first message suits the model, and Stop is there only while it runs', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0)
  await page
    .getByRole('group', { name: 'To begin with' })
    .getByRole('button', { name: 'What do bees make?' })
    .click()
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await expect(message).toBeFocused()
  await expect(message).toHaveValue('What do bees make?')
  await message.press('Enter')
  await expect(finished(page)).toHaveCount(1)
  await expect(page.getByTestId('answer')).toHaveText('Bees make honey.')
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0)
})

test.describe('in German', () => {
  test.use({ locale: 'de-DE' })
  test('what a model is asked first is in a language that it knows', async ({ page, site }) => {
    await site.visit(page, kSample, '#run')
    const first = page.getByRole('group', { name: 'Zum Anfangen' }).getByRole('button')
    await expect(first).toHaveText([
      'Tell me a story about a fox and a lamp',
      'What do bees make?',
      'Who are you?',
    ])
    await page.getByLabel('Text fortsetzen').check()
    await expect(first.first()).toHaveText('Once upon a time, a brave mouse named Mila')
  })
})

/** Imports a conversation with this answer. */
async function bringAnswer(page: Page, said: string) {
  const turn = { tokens: [], state: 'done', told: '' }
  const conversation = {
    format: 'ggufscope-conversation',
    version: 1,
    system: '',
    turns: [
      { ...turn, id: 1, role: 'user', text: 'bees' },
      { ...turn, id: 2, parent: 1, role: 'assistant', text: said },
    ],
    chosen: [],
  }
  await page.getByLabel('Conversation to import').setInputFiles({
    name: 'x.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(conversation)),
  })
}

/** The sample with other keys ("general.name=Coder"). */
async function sampleWith(...changes: string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  try {
    const root = join(import.meta.dirname, '../..')
    const output = join(folder, 'changed.gguf')
    const sample = join(root, 'tests/fixtures/stories.gguf')
    const cli = join(root, 'wasm/dist/cli.js')
    execFileSync(
      process.execPath,
      [cli, 'set', sample, '--remove', 'general.tags', ...changes, '--output', output],
      { stdio: 'ignore' },
    )
    return await readFile(output)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const kFirstMessages = [
  ['a coder', ['general.name=My Coder'], [/duplicates in a list/, /closure/, /parser of dates/]],
  ['a general model', ['general.name=Any'], [/rainbow/, /poem/, /rainy day/]],
  [
    'a translator',
    ['general.name=Any', 'general.tags:string[]=["translation"]'],
    [/French/, /Spanish/, /English/],
  ],
  [
    'a model with tools',
    [
      'general.name=Any',
      'tokenizer.chat_template={% if tools %}{{ tools | length }}{% endif %}{{ messages[0].content }}',
    ],
    [/rainbow/, /poem/, /rainy day/, /weather in Oslo\?\s*with a tool/],
  ],
] as const
for (const [what, changes, prompts] of everyNth(kFirstMessages, 3))
  test(`first messages suit ${what}`, async ({ page, site }) => {
    site.add('/changed.gguf', await sampleWith(...changes))
    await site.visit(page, '/changed.gguf', '#run')
    const offered = page.getByRole('group', { name: 'To begin with' }).getByRole('button')
    await expect(offered).toHaveText([...prompts])
    await offered.last().click()
    await expect(page.getByRole('textbox', { name: 'Message', exact: true })).not.toHaveValue('')
    const tools = page.getByRole('textbox', { name: 'Tools, as JSON' })
    if (what === 'a model with tools') await expect(tools).toHaveValue(/"weather"/)
    // Where it has little room, too, it begins at its first line.
    await page.setViewportSize({ width: 320, height: 568 })
    await page.reload()
    await expect(offered).toHaveCount(prompts.length)
    const log = page.getByRole('group', { name: 'Turns' })
    await expect.poll(() => log.evaluate((one) => one.scrollHeight - one.clientHeight)).toBeGreaterThan(50)
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    expect(await log.evaluate((one) => one.scrollTop)).toBe(0)
    // What is fetched, and whether it fits, is in view.
    const [room, box] = await Promise.all([log.getByText(/^To fetch: /).boundingBox(), log.boundingBox()])
    expect(room!.y + room!.height).toBeLessThanOrEqual(box!.y + box!.height)
  })

test('an embedding model compares texts', async ({ page, site }) => {
  site.add('/embed.gguf', await sampleWith('llama.pooling_type=1'))
  await site.visit(page, '/embed.gguf', '#run')
  await expect(page.getByLabel('Compare texts', { exact: true }).first()).toBeVisible()
  await page.getByRole('group', { name: 'To begin with' }).getByRole('button').first().click()
  const texts = page.getByLabel('Texts, one in each line')
  await expect(texts).toHaveValue('A small owl\nA bird of the night\nA red car\nThe price of bread')
  await texts.fill('bees\nships\nbees')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  const cells = page.getByRole('region', { name: 'Similarity of each two texts' }).locator('.cell')
  await expect(cells).toHaveCount(9)
  const [own, other, same] = (await cells.allTextContents()).map(Number)
  expect([own, same]).toEqual([1, 1])
  expect(other).toBeLessThan(1)
  await expect(page.getByTestId('device')).toHaveText(/^CPU, \d+ threads?, [\d.,]+ tokens a second\s*$/)
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Complete a text').check()
  await expect(page.getByRole('textbox', { name: 'Text to complete' })).toBeVisible()
})

test('an embedding model searches in files that are chosen or dropped', async ({ page, site }) => {
  site.add('/embed.gguf', await sampleWith('llama.pooling_type=1'))
  await site.visit(page, '/embed.gguf', '#run')
  await page.getByLabel('Search in files', { exact: true }).first().check()
  const search = page.getByRole('button', { name: 'Search', exact: true })
  const hits = page.getByRole('group', { name: 'Passages that were found' }).getByRole('listitem')
  await page.getByLabel('What you look for').fill('bees make honey')
  await expect(search).toBeDisabled()
  const text = (name: string, content: string) => ({
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from(content),
  })
  const stories = `The ship sails.\n\n${'The fox runs over the hill. '.repeat(30)}\n\nbees make honey\n`
  await page
    .getByLabel('Text files', { exact: true })
    .setInputFiles([text('a.txt', stories), text('b.md', 'A small house'), text('c.bin', 'no text')])
  await expect(page.getByRole('status').filter({ hasText: /^\s*\d passages of 2 files\s*$/ })).toBeVisible()
  await search.click()
  await expect(hits.first()).toContainText('bees make honey')
  await expect(hits.first()).toContainText('a.txt, line 5')
  await expect(hits.filter({ hasText: 'A small house' })).toHaveCount(1)
  expect(await violations(page)).toEqual([])

  await page.getByLabel('Text files', { exact: true }).setInputFiles([text('c.bin', 'no text')])
  await expect(page.getByRole('alert')).toHaveText('None of these files is a text.')
  // Dropped files replace the others, also where texts are compared.
  await page.getByLabel('Compare texts', { exact: true }).first().check()
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['honey of bees'], 'notes.md'))
    return transfer
  })
  const panel = page.getByRole('tabpanel', { name: 'Run' })
  await panel.dispatchEvent('dragenter', { dataTransfer: data })
  await panel.dispatchEvent('drop', { dataTransfer: data })
  await expect(page.getByRole('status').filter({ hasText: '1 passage of 1 file' })).toBeVisible()
  await page.getByLabel('What you look for').fill('honey')
  await page.getByLabel('What you look for').press('Enter')
  await expect(hits).toHaveCount(1)
  await expect(hits).toContainText('notes.md, line 1')
})

test('the device is shown, and why it is not the graphics card', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await completing(page)
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(finished(page)).toBeVisible()
  const device = page.getByTestId('device')
  // An answer of a few milliseconds has no speed.
  await expect(device).toHaveText(/^CPU, \d+ threads?(, [\d.,]+ tokens a second)?\s*$/)
  await page.getByLabel('On the graphics card, if there is one').check()
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(device).toContainText(/Not on the graphics card: .*WebGPU/)
})

test('an answer is shown as Markdown, and nothing in it runs', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  const said = [
    '# Bees\n\n- one\n- **two**\n\n```js\nlet a = 1\n```\n\n[a link](https://example.invalid/)',
    'Raw <b onclick="bad()">bold</b> <img src=x onerror="window.bad=1">',
    '<script>window.bad=1</script>',
    '![an image](https://example.invalid/x.png) [no](javascript:bad())',
  ].join('\n\n')
  await bringAnswer(page, said)
  const answer = page.getByTestId('answer')
  await expect(answer.getByRole('heading', { name: 'Bees' })).toBeVisible()
  await expect(answer.getByRole('listitem')).toHaveCount(2)
  await expect(answer.locator('pre code')).toHaveText('let a = 1\n')
  await expect(answer.locator('.head')).toContainText('js')
  await answer.getByRole('button', { name: 'Copy the code' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('let a = 1\n')
  await expect(answer.getByRole('link', { name: 'a link' })).toHaveAttribute('rel', /noopener/)
  await expect(answer).toContainText('Raw <b onclick="bad()">bold</b>')
  await expect(answer).toContainText('<script>window.bad=1</script>')
  expect(
    await answer
      .locator('b, img, script, iframe, form, input, [style], [onclick], a[href^=javascript]')
      .count(),
  ).toBe(0)
  expect(await page.evaluate(() => 'bad' in window)).toBe(false)
})

test('code has colours and formulas are MathML, by libraries that load with the first of each', async ({
  page,
  site,
}) => {
  const libraries: string[] = []
  page.on('request', (request) => {
    if (/\/assets\/(temml|common)-/.test(request.url())) libraries.push(request.url())
  })
  await site.visit(page, kSample, '#run')
  const answer = page.getByTestId('answer')
  await bringAnswer(page, 'It costs $5, or $10 for two.\n\n```\nlet a = 1\n```')
  await expect(answer.locator('pre')).toHaveText('let a = 1\n')
  expect(libraries).toEqual([])

  const code = 'def area(r):\n    return 3.14 * r ** 2  # <b>square</b>'
  const said = [
    `\`\`\`python\n${code}\n\`\`\``,
    'Of $E = mc^2$, \\(a_1\\) and `$x$`, for $5 or $10:',
    '$$\n\\frac{1}{2}\n$$',
    '\\[ \\begin{equation} x \\label{panel-run} \\end{equation} \\]',
    'Wrong: $\\nosuch{x}$ and $\\href{javascript:bad()}{y}$ and $\\rule{999em}{999em}$.',
  ]
  await bringAnswer(page, said.join('\n\n'))
  await expect(answer.locator('math')).toHaveCount(5)
  await expect(answer.locator('.hljs-keyword')).toHaveText(['def', 'return'])
  await expect(answer.locator('.hljs-comment')).toHaveText('# <b>square</b>')
  await expect(answer.locator('pre')).toHaveText(`${code}\n`)
  await expect(answer.locator('[data-display=true] math')).toHaveCount(2)
  await expect(answer).toContainText('for $5 or $10:')
  await expect(answer.locator('code').last()).toHaveText('$x$')
  await expect(answer).toContainText('Wrong: $\\nosuch{x}$ and $\\href{javascript:bad()}{y}$')
  const box = (await answer.locator('math').last().boundingBox())!
  expect(box.width).toBeLessThan(800)
  expect(await answer.locator('[id], [href], b').count()).toBe(0)
  expect(new Set(libraries).size).toBe(2)
  expect(await violations(page)).toEqual([])
})

test('imported conversations that would break the page are refused, and odd ones are shown', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample, '#run')
  const user = { id: 1, role: 'user', text: 'bees' }
  const answer = { id: 2, parent: 1, role: 'assistant', text: 'wax' }
  const given = (turns: unknown, more: object = {}) => ({
    format: 'ggufscope-conversation',
    version: 1,
    system: '',
    turns,
    ...more,
  })
  const take = async (conversation: unknown) =>
    await page.getByLabel('Conversation to import').setInputFiles({
      name: 'x.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(conversation)),
    })
  const token = { token: 1, text: 'a', logprob: -1, candidates: [] }
  const refused: [what: string, conversation: unknown][] = [
    ['one id twice', given([user, { ...user, text: 'wax' }])],
    ['a role that is none', given([user, { ...answer, role: 'wizard' }])],
    [
      'an id below 1',
      given([
        { ...user, id: -1 },
        { ...answer, parent: -1 },
      ]),
    ],
    ['an id beyond whole numbers', given([{ ...user, id: 1e300 }])],
    ['a token that is none', given([user, { ...answer, tokens: [null] }])],
    ['a token without its candidates', given([user, { ...answer, tokens: [{ ...token, candidates: 'x' }] }])],
    [
      'a candidate without its text',
      given([user, { ...answer, tokens: [{ ...token, candidates: [{ token: 1 }] }] }]),
    ],
    ['a state that is none', given([{ ...user, state: { evil: 1 } }])],
    ['branches that are no pairs', given([user], { chosen: [5] })],
    ['branches that are no list', given([user], { chosen: { '1': 2 } })],
    [
      'more turns than a page can show',
      given(Array.from({ length: 100_000 }, (_, i) => ({ ...user, id: i + 1 }))),
    ],
  ]
  for (const [what, conversation] of refused) {
    await take(given([]))
    await expect(page.getByRole('alert'), what).toHaveCount(0)
    await take(conversation)
    await expect(page.getByRole('alert'), what).toContainText('could not be opened')
    if (what === 'a role that is none')
      await expect(page.getByRole('alert')).toContainText(
        'Turn 2 has the role "wizard". The roles are user, assistant, tool.',
      )
    await expect(page.getByRole('article'), what).toHaveCount(0)
  }
  const call = { id: 'one', name: 'f', arguments: '{}' }
  const odd = { ...answer, state: 'running', calls: [call, call], tokens: [{ ...token, logprob: null }] }
  await take(given([user, odd], { chosen: [[-1, 7]] }))
  await expect(page.getByText('f {}')).toHaveCount(2)
  await expect(page.getByText('wax')).toBeVisible()
  // What nests too deep for the Markdown parser is shown as it is written.
  await take(given([user, { ...answer, text: `${'> '.repeat(20_000)}deep` }]))
  await expect(page.getByTestId('answer')).toContainText('deep')
  const items = Array.from({ length: 300 }, (_, i) => `${' '.repeat(2 * i)}- item ${i}`)
  await take(given([user, { ...answer, text: items.join('\n') }]))
  await expect(page.getByTestId('answer')).toContainText('item 299')
  const lists = await page.getByTestId('answer').locator('ul').count()
  expect(lists).toBeGreaterThan(10)
  expect(lists).toBeLessThan(50)
  await take(given([user, { ...answer, text: '**fine**' }]))
  await expect(page.getByTestId('answer').locator('strong')).toHaveText('fine')
})

test('settings out of range are refused', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await completing(page)
  await page.getByLabel('Temperature').fill('-3')
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(page.getByRole('alert').first()).toContainText('Temperature must be from 0 to 5.')
  await expect(page.getByRole('article')).toHaveCount(0)
  await page.getByLabel(/Precise/).check()
  await page.getByLabel('Context', { exact: true }).fill('64')
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(finished(page)).toContainText('The context is full.')
})

test('a split model of this computer runs', async ({ page, site }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  try {
    const root = join(import.meta.dirname, '../..')
    const sample = join(root, 'tests/fixtures/stories.gguf')
    execFileSync(process.execPath, [
      join(root, 'wasm/dist/cli.js'),
      ...['split', sample, '--max-size', '500K', '--output', join(folder, 'part')],
    ])
    await site.visit(page)
    const parts = (await readdir(folder)).map((name) => join(folder, name))
    expect(parts.length).toBeGreaterThan(1)
    await page.getByLabel('Choose GGUF files').setInputFiles(parts)
    await page.getByRole('tab', { name: 'Run' }).click()
    await completing(page)
    await page.getByRole('button', { name: 'Complete' }).click()
    await expect(finished(page)).toBeVisible()
    await expect(page.getByTestId('answer')).toContainText(/, a [a-z]+ /)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a model that cannot run says why', async ({ page, site }) => {
  const { metadata = [], ...rest } = smallModel()
  const others = metadata.filter(([key]) => key !== 'general.architecture')
  const architecture = ['general.architecture', { type: 'string', value: 'nosuch' }] as const
  const tokens = ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: ['a', 'b'] }] as const
  site.add('/other.gguf', writeGguf({ ...rest, metadata: [...others, architecture, tokens] }))
  await site.visit(page, '/other.gguf', '#run')
  await expect(page.getByRole('tabpanel').getByRole('alert')).toContainText('nosuch')
  await expect(page.getByRole('button', { name: 'Complete' })).toBeDisabled()
})

test('an answer keeps to a JSON schema', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await completing(page)
  await page.getByLabel(/Show tokens/).check()
  await page.getByText('Answer as JSON', { exact: true }).click()
  const schema = page.getByLabel('JSON schema')
  await schema.fill('{ "enum": ["bees"')
  await expect(page.getByRole('alert')).toContainText('The schema is not JSON')
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(page.getByRole('alert')).toHaveCount(2)
  await schema.fill(
    '{ "type": "object", "properties": { "legs": { "enum": [2, 6] } }, "required": ["legs"] }',
  )
  await page.getByRole('button', { name: 'Complete' }).click()
  await expect(page.getByRole('status').filter({ hasText: /ms\./ })).toBeVisible()
  const pieces = await page.getByTestId('answer').locator('.piece').allTextContents()
  expect([2, 6]).toContain((JSON.parse(pieces.join('')) as { legs: number }).legs)
})

const kLegs = {
  name: 'legs',
  description: 'Counts the legs of an animal',
  parameters: {
    type: 'object',
    properties: { n: { enum: [2, 4, 6] } },
    required: ['n'],
    additionalProperties: false,
  },
}

test('a function is called, and its simulated result goes back to the model', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await page.getByText('Tools', { exact: true }).click()
  const tools = page.getByRole('textbox', { name: 'Tools, as JSON' })
  await tools.fill('[{')
  await expect(page.getByRole('alert')).toContainText('The tools are not JSON')
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await message.fill('How many legs has a bee?')
  await message.press('Enter')
  // What was written stays.
  await expect(page.getByRole('alert')).toHaveCount(2)
  await expect(message).toHaveValue('How many legs has a bee?')
  await tools.fill(JSON.stringify([{ type: 'function', function: kLegs }]))
  await page.getByRole('combobox', { name: 'The model' }).selectOption('must call a function')
  await message.press('Enter')
  const result = page.getByRole('textbox', { name: 'Result of legs' })
  await result.fill('six')
  await expect(page.getByRole('article', { name: 'Model' }).locator('.call')).toHaveText(
    /^legs \{\s*"n":\s*[246]\s*\}$/,
  )
  await page.getByRole('button', { name: 'Send the result' }).click()
  const told = page.getByRole('article', { name: 'Result of legs' })
  await expect(told).toContainText('six')
  await expect(finished(page)).toHaveCount(2)

  // Another result starts a branch. The conversation keeps its tools.
  await told.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Edit the message').fill('eight')
  await tools.fill('[{')
  await page.getByLabel('Edit the message').press('Enter')
  await expect(page.getByRole('alert')).toHaveCount(2)
  await tools.fill(JSON.stringify([{ type: 'function', function: kLegs }]))
  await page.getByLabel('Edit the message').press('Enter')
  await expect(told).toContainText('2 of 2')
  await expect(finished(page)).toHaveCount(2)
  await page.reload()
  await expect(told).toContainText('eight')
  await expect(tools).toHaveValue(/"legs"/)
})

test('a tool with a result answers by itself', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await site.visit(page, kSample, '#run')
  await page.getByText('Tools', { exact: true }).click()
  const tools = page.getByRole('textbox', { name: 'Tools, as JSON' })
  await tools.fill(JSON.stringify([{ ...kLegs, result: { legs: 6 } }]))
  await page.getByRole('combobox', { name: 'The model' }).selectOption('must call a function')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('How many legs has a bee?')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('article', { name: 'Result of legs' }).first()).toContainText('{"legs":6}')
  await expect(page.getByRole('button', { name: 'Send the result' })).toHaveCount(0)
  await expect(finished(page).nth(1)).toBeVisible()
})

test('reasoning is shown apart from the answer', async ({ page, site }) => {
  const sample = await readFile(join(import.meta.dirname, '../fixtures/stories.gguf'))
  const [before, after] = ["{{ message['content'] | trim }}", '{{ message.content    }}']
  const end = '<|assistant|>{% endif %}'
  const at = sample.indexOf(before)
  const last = sample.indexOf(end, at)
  const between = sample.subarray(at + before.length, last)
  // The template begins the reasoning, and has the same length.
  const parts = [
    sample.subarray(0, at),
    after,
    between,
    '<|assistant|><think>{% endif %}',
    sample.subarray(last + end.length),
  ]
  site.add('/thinking.gguf', Buffer.concat(parts.map((part) => Buffer.from(part))))
  await site.visit(page, '/thinking.gguf', '#run')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Tell me of bees')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(finished(page)).toBeVisible()
  const thought = page.getByRole('article', { name: 'Model' }).locator('details')
  await expect(thought.getByText('Reasoning', { exact: true })).toBeVisible()
  await expect(thought.locator('p')).toHaveText(/\S/)
})

test('hundreds of turns, long answers and odd ones leave the page free', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await site.visit(page, kSample, '#run')
  const block =
    '# Title\n\nSome *text* and `code`.\n\n```ts\nconst a = 1\n```\n\n| a | b |\n|---|---|\n| x | y |\n\n'
  const long = block.repeat(Math.ceil(60_000 / block.length))
  const turn = (id: number, text: string) => ({
    ...(id > 1 ? { parent: id - 1 } : {}),
    id,
    text,
    state: 'done',
    role: id % 2 === 1 ? 'user' : 'assistant',
  })
  const bring = async (turns: readonly object[]) => {
    const saved = JSON.stringify({ format: 'ggufscope-conversation', version: 1, system: '', turns })
    const buffer = Buffer.from(saved)
    await page
      .locator('#panel-run input[type=file][accept*=json]')
      .first()
      .setInputFiles({ name: 'c.json', mimeType: 'application/json', buffer })
  }
  await bring(Array.from({ length: 500 }, (_, i) => turn(i + 1, `Turn ${i + 1}`)))
  await expect(page.getByText('Turn 500', { exact: true })).toBeVisible()
  await expect(page.locator('#panel-run article')).toHaveCount(40)
  await page.getByRole('button', { name: 'Show 40 earlier turns' }).click()
  await expect(page.locator('#panel-run article')).toHaveCount(80)
  // A long answer is drawn whole, in pieces; emphasis without end is drawn, too.
  await bring([turn(1, 'Long'), turn(2, long), turn(3, 'Odd'), turn(4, '_a'.repeat(30_000))])
  const answers = page.getByTestId('answer')
  await expect(answers.first().locator('h3')).toHaveCount(long.length / block.length)
  await expect(answers.nth(1)).toContainText('_a_a_a')
})
