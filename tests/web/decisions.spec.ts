// The panel Run asks decision models: the same probabilities as llama.cpp's server, rows that the user edits, and images.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import type * as Node from 'ggufscope/node'
import { decisionModel, recordedDecisions } from '../fixtures/decision-models.ts'
import { seeingDecider } from '../fixtures/seeing-decider.ts'
import { kAll } from '../fixtures/short.ts'
import { violations } from './axe.ts'
import { kSharedData } from './files.ts'
import { smallDecider } from '../package/small-decider.ts'
import { cutOff } from './layout.ts'
import { expect, openLocal, test, type Page } from './site.ts'

const { open } = (await import(join(import.meta.dirname, '../../wasm/dist/node.js'))) as typeof Node

interface Asked {
  readonly state: string
  readonly questions: Readonly<
    Record<string, { instructions: string; criteria: Record<string, string | null> }>
  >
}
interface Answered {
  readonly answers: Readonly<Record<string, { choice: string; probabilities: Record<string, number> }>>
}

const recordedMedia = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/decisions-media.json'), 'utf8'),
) as {
  readonly state: string
  readonly question: { instructions: string; criteria: Record<string, string | null> }
  readonly answers: readonly Record<string, number>[]
}

/** What the browser's database has of conversations and forms, as text. */
const stored = (page: Page): Promise<string> =>
  page.evaluate(
    () =>
      new Promise<string>((resolve, reject) => {
        const opening = indexedDB.open('ggufscope-conversations', 1)
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
          const request = opening.result.transaction('contents').objectStore('contents').getAll()
          request.onsuccess = () => resolve(JSON.stringify(request.result))
        }
      }),
  )

/** Waits for a decision, and compares its rows: the most probable first. */
async function expectRows(page: Page, probabilities: Readonly<Record<string, number>>): Promise<Locator> {
  const decision = page.getByRole('region', { name: 'Decision' })
  const best = Object.entries(probabilities).toSorted(([, a], [, b]) => b - a)
  const rows = decision.getByRole('row')
  await expect(rows).toHaveCount(best.length)
  for (const [i, [key, probability]] of best.entries()) {
    await expect(rows.nth(i).getByRole('rowheader')).toContainText(key)
    const shown = parseFloat(await rows.nth(i).getByRole('cell').first().innerText())
    expect(Math.abs(shown / 100 - probability)).toBeLessThan(3e-3)
  }
  return decision
}

test('a model with a head decides as in llama.cpp, and the rows can be edited', async ({ page, site }) => {
  test.skip(!existsSync(join(kSharedData, '../vectors/new/arch')), 'no reference vectors')
  const name = 'vllm-decision2' // it reads one question at a time
  const { state, questions } = recordedDecisions.requests[0] as Asked
  const { instructions, criteria } = questions['route']!
  const { choice, probabilities } = (recordedDecisions.answers[name]![0]![1] as Answered).answers['route']!
  site.add('/decides.gguf', Buffer.from(await decisionModel(open, name)))
  await page.setViewportSize({ width: 390, height: 844 })
  await site.visit(page, '/decides.gguf', '#run')

  const decide = page.getByRole('button', { name: 'Decide', exact: true })
  await expect(decide).toBeEnabled() // an example is entered
  await page.getByLabel('What the question is about').fill(state)
  await page.getByLabel('Question', { exact: true }).fill(instructions)
  const options = page.getByRole('group', { name: /^Options/ })
  for (const [i, [key, description]] of Object.entries(criteria).entries()) {
    await options.getByLabel(`Name of option ${i + 1}`).fill(key)
    await options.getByLabel(`Description of option ${i + 1}`).fill(description ?? '')
  }
  // An option with the name of another cannot be asked. Removed again, it is no obstacle.
  await page.getByRole('button', { name: 'Add an option' }).press('Enter')
  await expect(options.getByLabel('Name of option 4')).toBeFocused()
  await page.keyboard.type('billing')
  await expect(
    page.getByRole('status').filter({ hasText: 'Two options have the name billing.' }),
  ).toBeVisible()
  await expect(decide).toBeDisabled()
  await options.getByRole('button', { name: 'Remove option 4' }).click()
  await page.getByLabel('Question', { exact: true }).press('Enter')

  const decision = await expectRows(page, probabilities)
  await expect(decision.locator('.answer')).toHaveText(choice)
  await expect(decision).toContainText(/\d+ tokens in [\d.]+ ms\. Confidence 0\.\d\d/)
  expect(await cutOff(page)).toEqual([])
  expect(await violations(page)).toEqual([])

  await page.getByLabel('Yes or no').check()
  await page.getByLabel('What the question is about').press('Control+Enter')
  await expect(decision.locator('.answer')).toHaveText(/^(yes|no)$/)

  // A reload keeps what is entered, also of the type that is not shown, and so does another tab.
  await page.getByLabel('Description of yes').fill('money goes back')
  await page.reload()
  await expect(page.getByLabel('Yes or no')).toBeChecked()
  await expect(page.getByLabel('Description of yes')).toHaveValue('money goes back')
  await expect.poll(() => stored(page)).toContain('money goes back')
  await page.evaluate(() => sessionStorage.clear())
  await page.reload()
  await expect(page.getByLabel('Question', { exact: true })).toHaveValue(instructions)
  await expect(page.getByLabel('Description of yes')).toHaveValue('money goes back')
  await page.getByLabel('One of several options').check()
  await expect(options.getByLabel('Name of option 1')).toHaveValue(Object.keys(criteria)[0]!)
})

test('on a phone the kinds of work above the form keep their height', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  site.add('/small.gguf', await smallDecider(open))
  await site.visit(page, '/small.gguf', '#run')
  await expect(page.getByRole('button', { name: 'Decide', exact: true })).toBeVisible()
  const modes = page.locator('#panel-run .modes')
  await expect(modes).toContainText('Answer messages')
  expect(await modes.evaluate((one) => one.scrollHeight - one.clientHeight)).toBe(0)
})

test('on a phone the panel scrolls over the whole form', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  test.skip(!existsSync(join(kSharedData, '../vectors/new/arch')), 'no reference vectors')
  await page.setViewportSize({ width: 390, height: 844 })
  site.add('/decider.gguf', await decisionModel(open, Object.keys(recordedDecisions.models)[0]!))
  await site.visit(page, '/decider.gguf', '#run')
  await expect(page.getByRole('button', { name: 'Decide', exact: true })).toBeVisible()
  const sheet = page.locator('#panel-run .sheet')
  await expect.poll(() => sheet.evaluate((one) => one.scrollHeight - one.clientHeight)).toBeLessThanOrEqual(8)
  // Nothing lies over the button, and the options come after it.
  const decide = page.getByRole('button', { name: 'Decide', exact: true })
  await decide.click({ trial: true })
  const [button, options] = [await decide.boundingBox(), await page.locator('#panel-run .side').boundingBox()]
  expect(options!.y).toBeGreaterThanOrEqual(button!.y + button!.height)
  expect(await cutOff(page)).toEqual([])
})

test('a decision may be about a picture', async ({ page, site }) => {
  const { state, question, answers } = recordedMedia
  const { model, projector, pictures } = await seeingDecider(open)
  await site.visit(page)
  await openLocal(page, 'sees.gguf', model)
  await page.getByRole('tab', { name: /^Run/ }).click()
  await expect(page.getByRole('radio', { name: 'Decide' })).toBeChecked()
  await page.getByText('Images and audio', { exact: true }).click()
  const chosen = (name: string, bytes: Uint8Array) => ({
    name,
    mimeType: name.endsWith('png') ? 'image/png' : 'application/octet-stream',
    buffer: Buffer.from(bytes),
  })
  await page.getByLabel('Projector', { exact: true }).setInputFiles(chosen('mmproj.gguf', projector))
  await page.getByLabel('Images or audio for the message').setInputFiles(chosen('a.png', pictures[0]!))
  await expect(page.getByRole('list', { name: 'Images and audio' }).getByRole('img')).toHaveCount(1)
  await page.getByLabel('What the question is about').fill(state)
  await page.getByLabel('Question', { exact: true }).fill(question.instructions)
  await expect(page.getByLabel(/^Name of option/)).toHaveCount(Object.keys(question.criteria).length)
  for (const [i, [key, description]] of Object.entries(question.criteria).entries()) {
    await page.getByLabel(`Name of option ${i + 1}`).fill(key)
    await page.getByLabel(`Description of option ${i + 1}`).fill(description ?? '')
  }
  await page.getByRole('button', { name: 'Decide', exact: true }).click()
  await expectRows(page, answers[1]!)
  await page.getByRole('tab', { name: /^Metadata/ }).click()
  await page.getByRole('tab', { name: /^Run/ }).click()
  await expect(page.getByRole('list', { name: 'Images and audio' }).getByRole('img')).toHaveCount(1)
  expect(await violations(page)).toEqual([])
})

test('a model for decisions without its key or template says so, and offers no texts', async ({
  page,
  site,
}) => {
  const folder = join(kSharedData, '../vectors/new/arch')
  test.skip(!existsSync(folder), 'no reference vectors')
  const ask = page.getByRole('button', { name: 'Decide', exact: true })
  const said = page.locator('#panel-run').getByRole('alert')
  for (const name of ['clef', 'vllm-decision2']) {
    site.add(`/${name}.gguf`, readFileSync(join(folder, name, 'model.gguf')))
    await site.visit(page, `/${name}.gguf`, '#run')
    await expect(said).toContainText(`it has no key ${name}.decision.type`)
    await expect(ask).toBeDisabled()
    await expect(page.getByRole('radio', { name: 'Complete a text' })).toHaveCount(0)
  }
  using file = await open(readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf')))
  const builder = await file.edit()
  builder.set('llama.decision.type', 'openjev')
  builder.remove('tokenizer.chat_template')
  site.add('/no-template.gguf', Buffer.from(await (await builder.build()).bytes()))
  await site.visit(page, '/no-template.gguf', '#run')
  await expect(said).toContainText('no chat template named "systemone"')
  await expect(ask).toBeDisabled()
  // An encoder continues no text, though no key says so.
  site.add('/encoder.gguf', readFileSync(join(folder, 'gemma-embedding2/model.gguf')))
  await site.visit(page, '/encoder.gguf', '#run')
  await expect(page.getByRole('radio', { name: 'Compare texts' })).toBeChecked()
  await expect(page.getByRole('radio', { name: 'Complete a text' })).toHaveCount(0)
})
