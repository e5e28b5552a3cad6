// Images and audio in the panel Run, with the reference models of libmtmd: a projector is chosen or found, a picture is
// attached, dropped and asked about.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as Node from 'ggufscope/node'
import { withTemplate } from '../fixtures/templated.ts'
import { bytesContent } from '../server/content.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { kSharedData } from './files.ts'
import { expect, opened, test, type Page, type Site } from './site.ts'

const kVectors = join(kSharedData, '../vectors/media')
const kPictures = join(kVectors, 'vision/inputs')
const kSound = join(import.meta.dirname, '../fixtures/commands.wav')
test.skip(!existsSync(kVectors), 'no reference vectors')

const { open } = (await import(join(import.meta.dirname, '../../wasm/dist/node.js'))) as typeof Node
const picture = () =>
  join(
    kPictures,
    readdirSync(kPictures).find((name) => /^small.*png$/.test(name))!,
  )

/** Opens the model of a folder of vectors from a repository that also has its projector. */
async function visitRepository(page: Page, site: Site, folder: string): Promise<void> {
  const projector = readFileSync(join(kVectors, folder, 'mmproj.gguf'))
  const id = `someone/${folder.replace('/', '-')}`
  site.add(`/${id}/resolve/main/model.gguf`, await withTemplate(open, join(kVectors, folder, 'model.gguf')))
  site.add(`/${id}/resolve/main/mmproj-F16.gguf`, projector)
  const files = [
    { type: 'file', path: 'model.gguf', size: 1 },
    { type: 'file', path: 'mmproj-F16.gguf', size: projector.length },
  ]
  site.add(
    `/api/models/${id}/tree/main`,
    bytesContent(Buffer.from(JSON.stringify(files)), 'application/json'),
  )
  await site.visit(page, `/${id}/resolve/main/model.gguf`, '#run')
  await opened(page)
}

/** Limits the answer, because these models have random weights. */
async function limit(page: Page): Promise<void> {
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel(/Longest answer/).fill('4')
}

const finished = (page: Page) =>
  page.getByRole('status').filter({ hasText: /tokens?, .*ms\.|ended its answer/ })
const attached = (page: Page) => page.getByRole('list', { name: 'Images and audio' })

test('the projector beside a model is offered, and an image is asked about', async ({ page, site }) => {
  await visitRepository(page, site, 'vision/qwen2vl')
  await limit(page)
  await page.getByText('Images and audio', { exact: true }).click()
  await page.getByRole('button', { name: /Use mmproj-F16.gguf/ }).click()
  await expect(page.getByText('With mmproj-F16.gguf, messages may have images.')).toBeVisible()
  await page.getByLabel('Images or audio for the message').setInputFiles([picture(), picture()])
  await expect(attached(page).getByRole('img')).toHaveCount(2)
  await page
    .getByRole('button', { name: /^Remove small/ })
    .first()
    .click()
  await expect(attached(page).getByRole('img')).toHaveCount(1)
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('What is it?')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(finished(page)).toBeVisible()
  const asked = page.getByRole('article', { name: 'You' })
  await expect(asked.getByRole('img')).toHaveCount(1)
  // Twelve tokens of the image, and those of the text.
  await expect(page.getByText(/\b[23]\d of [\d,]+ tokens/)).toBeVisible()
  expect(await violations(page)).toEqual([])

  // An edited message keeps its image.
  await asked.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Edit the message').fill('Where?')
  await asked.getByRole('button', { name: 'Send' }).click()
  await expect(asked.getByText('2 of 2')).toBeVisible()
  await expect(asked.getByRole('img')).toHaveCount(1)
  await expect(finished(page)).toBeVisible()

  // The conversation is stored with its image.
  await page.reload()
  await expect(page.getByRole('article', { name: 'You' }).getByRole('img')).toHaveCount(1)
})

test('an image is attached at once, which takes the projector beside the model', async ({ page, site }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await visitRepository(page, site, 'vision/qwen2vl')
  await expect(page.getByRole('button', { name: 'Attach' })).toBeVisible()
  await page.getByLabel('Images or audio for the message').setInputFiles([picture(), kSound])
  await expect(attached(page).getByRole('img')).toHaveCount(1)
  await expect(page.getByRole('alert')).toContainText('is audio, and mmproj-F16.gguf takes only images')
})

test('a picture that waits for its message is asked about after a reload', async ({ page, site }) => {
  await visitRepository(page, site, 'vision/qwen2vl')
  await page.getByLabel('Images or audio for the message').setInputFiles(picture())
  await expect(attached(page).getByRole('img')).toHaveCount(1)
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('What is it?')
  // The draft is stored a moment after it is written.
  await expect(page.getByRole('button', { name: 'New', exact: true })).toBeEnabled()
  await page.reload()
  await expect(attached(page).getByRole('img')).toHaveCount(1)
  await limit(page)
  await page.getByText('Images and audio', { exact: true }).click()
  await expect(page.getByText('With mmproj-F16.gguf, messages may have images.')).toBeVisible()
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(finished(page)).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('a picture for a model without a projector leaves the conversation as it is', async ({ page, site }) => {
  await site.visit(page, kSample, '#run')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('What is it?')
  await expect(page.getByRole('button', { name: 'Attach' })).toHaveCount(0)
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['x'], 'dropped.png', { type: 'image/png' }))
    return transfer
  })
  const panel = page.getByRole('tabpanel', { name: 'Run' })
  for (const type of ['dragenter', 'dragover', 'drop'])
    await panel.dispatchEvent(type, { dataTransfer: data })
  await expect(page.getByRole('alert')).toHaveText(/^Images and audio need a projector/)
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveValue('What is it?')
})

test('a projector of this computer; what is no projector and what is no image', async ({ page, site }) => {
  await visitRepository(page, site, 'vision/gemma3')
  await limit(page)
  await page.getByText('Images and audio', { exact: true }).click()
  const choose = page.getByLabel('Projector', { exact: true })
  await choose.setInputFiles(join(kVectors, 'vision/gemma3/model.gguf'))
  await expect(page.getByRole('alert')).toContainText('model.gguf is not a projector')
  await choose.setInputFiles(join(kVectors, 'vision/gemma3/mmproj.gguf'))
  await expect(page.getByRole('alert')).toHaveCount(0)

  const files = page.getByLabel('Images or audio for the message')
  await files.setInputFiles({
    name: 'cut.png',
    mimeType: 'image/png',
    buffer: readFileSync(picture()).subarray(0, 40),
  })
  await expect(page.getByRole('alert')).toContainText('cut.png is not an image that this browser can decode')
  await files.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
  await expect(page.getByRole('alert')).toContainText('a.txt is neither an image nor audio')

  // This projector takes only images. Audio is refused when it is chosen, pasted or dropped.
  const refused = page.getByRole('alert').getByText(/is audio, and mmproj.gguf takes only images/)
  await files.setInputFiles(kSound)
  await expect(refused).toContainText('commands.wav')
  await page.evaluate(() => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File([new Uint8Array(8)], 'pasted.wav', { type: 'audio/wav' }))
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData }))
  })
  await expect(refused).toContainText('pasted.wav')
  await expect(attached(page)).toHaveCount(0)

  const data = await page.evaluateHandle((base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
    const transfer = new DataTransfer()
    transfer.items.add(new File([bytes], 'dropped.png', { type: 'image/png' }))
    return transfer
  }, readFileSync(picture()).toString('base64'))
  const panel = page.getByRole('tabpanel', { name: 'Run' })
  await panel.dispatchEvent('dragenter', { dataTransfer: data })
  await panel.dispatchEvent('dragover', { dataTransfer: data })
  await expect(page.getByText('Drop it to attach it')).toBeAttached()
  await panel.dispatchEvent('drop', { dataTransfer: data })
  await expect(attached(page).getByRole('img', { name: 'dropped.png' })).toBeVisible()
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(finished(page)).toBeVisible()

  // Another model's projector is refused at once, and not taken.
  await page.getByRole('button', { name: 'Remove the projector' }).click()
  await choose.first().setInputFiles(join(kVectors, 'vision/qwen3vl/mmproj.gguf'))
  await expect(page.getByRole('alert').first()).toContainText('is the projector of another model')
  await expect(page.getByText(/messages may have/)).toHaveCount(0)
})

test('a projector of this computer is asked for after a reload', async ({ page, site }) => {
  site.add('/seeing.gguf', await withTemplate(open, join(kVectors, 'vision/gemma3/model.gguf')))
  await site.visit(page, '/seeing.gguf', '#run')
  await page.getByText('Images and audio', { exact: true }).click()
  const choose = page.getByLabel('Projector', { exact: true }).first()
  await choose.setInputFiles(join(kVectors, 'vision/gemma3/mmproj.gguf'))
  await page.getByLabel('Images or audio for the message').setInputFiles(picture())
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('What is it?')
  await expect(page.getByRole('button', { name: 'New', exact: true })).toBeEnabled()
  await page.reload()
  await expect(page.getByRole('status').getByText('choose it again')).toBeVisible()
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('alert')).toContainText('choose it again')
  await expect(page.getByRole('button', { name: 'Choose a projector' }).first()).toBeFocused()
  await expect(page.getByRole('article')).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  await limit(page)
  await choose.setInputFiles(join(kVectors, 'vision/gemma3/mmproj.gguf'))
  await expect(page.getByText('choose it again')).toHaveCount(0)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(finished(page)).toBeVisible()
})

test('memory counts a projector; a file without a chat template says what it lacks', async ({
  page,
  site,
}) => {
  await visitRepository(page, site, 'vision/qwen2vl')
  const memory = page.getByText(/The model takes about .* it fits\./)
  const before = await memory.first().textContent()
  await page.getByText('Images and audio', { exact: true }).click()
  await page.getByRole('button', { name: /Use mmproj-F16.gguf/ }).click()
  await expect(page.getByText('With mmproj-F16.gguf, messages may have images.')).toBeVisible()
  await expect(memory).toHaveCount(2)
  expect(await memory.first().textContent()).not.toBe(before)

  site.add('/bare.gguf', readFileSync(join(kVectors, 'vision/qwen2vl/model.gguf')))
  await site.visit(page, '/bare.gguf', '#run')
  await expect(
    page.getByText(/^The file has no chat template\. .* neither images nor audio\. Add a chat template$/),
  ).toBeVisible()
})

test('a recording is asked about', async ({ page, site }) => {
  await visitRepository(page, site, 'audio/ultravox')
  await limit(page)
  await page.getByText('Images and audio', { exact: true }).click()
  await page.getByRole('button', { name: /Use mmproj-F16.gguf/ }).click()
  await expect(page.getByText('messages may have audio.')).toBeVisible()
  await page.getByLabel('Images or audio for the message').setInputFiles(picture())
  await expect(page.getByRole('alert')).toHaveText(
    /^small.*png is an image, and mmproj-F16.gguf takes only audio\.$/,
  )
  await expect(attached(page)).toHaveCount(0)
  await page.getByLabel('Images or audio for the message').setInputFiles(kSound)
  await expect(attached(page).locator('audio')).toHaveCount(1)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(finished(page)).toBeVisible()
})
