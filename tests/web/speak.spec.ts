// The panel Speak, with the reference model of Pocket TTS: a text is spoken, heard while it is made, stopped and saved, with
// the model's own voice and that of a recording.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outeDecoder, outeWriter } from '../fixtures/outetts.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { bytesContent } from '../server/content.ts'
import { violations } from './axe.ts'
import { kBrowser } from './browser.ts'
import { kSharedData } from './files.ts'
import { cutOff } from './layout.ts'
import { downloaded, expect, openLocal, test, type Page, type Site } from './site.ts'

const kFolder = join(kSharedData, '../vectors/new/speech/pockettts')
const kSound = join(import.meta.dirname, '../fixtures/commands.wav')
test.skip(!existsSync(kFolder), 'no reference vectors')

// The browser plays the recording as its microphone, from the beginning and again.
test.use({
  launchOptions: {
    ...kBrowser,
    args: [
      ...kBrowser.args,
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${kSound}`,
    ],
  },
  permissions: ['microphone'],
})

/** Opens the model from a repository that also has its projector, if hasVoice. */
async function visit(page: Page, site: Site, hasVoice = true, projector?: Buffer): Promise<void> {
  const id = `someone/${hasVoice ? 'speaker' : 'silent'}`
  const names = ['text.gguf', ...(hasVoice ? ['mmproj.gguf'] : [])]
  for (const name of names) {
    const given = name === 'mmproj.gguf' ? projector : undefined
    site.add(`/${id}/resolve/main/${name}`, given ?? readFileSync(join(kFolder, name)))
  }
  const list = names.map((path) => ({ type: 'file', path, size: 1 }))
  site.add(`/api/models/${id}/tree/main`, bytesContent(Buffer.from(JSON.stringify(list)), 'application/json'))
  await site.visit(page, `/${id}/resolve/main/text.gguf`, '#speak')
  await expect(page.locator('#panel-speak textarea')).toBeVisible()
}

/** Records when the page plays samples, in seconds of its sound's clock. */
async function watchSound(page: Page): Promise<() => Promise<{ at: number; duration: number }[]>> {
  await page.addInitScript(() => {
    const played: { at: number; duration: number }[] = []
    Object.assign(window, { played })
    // oxlint-disable-next-line unbound-method -- it is called with its object
    const { start } = AudioBufferSourceNode.prototype
    AudioBufferSourceNode.prototype.start = function (at = 0, ...rest) {
      played.push({ at, duration: this.buffer!.duration })
      start.call(this, at, ...rest)
    }
  })
  return () =>
    page.evaluate(() => (window as unknown as { played: { at: number; duration: number }[] }).played)
}

const text = (page: Page) => page.getByRole('textbox', { name: 'Text to speak' })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const player = (page: Page) => page.getByRole('slider', { name: 'Position in the recording' })

/** Values that give the same speech each time. */
async function choose(page: Page): Promise<void> {
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Temperature').fill('0')
  await page.getByLabel('Seed').fill('1')
}

test('a text is heard while it is made, and saved', async ({ page, site }) => {
  const played = await watchSound(page)
  await visit(page, site)
  await expect(page.getByText('The voice comes from mmproj.gguf.')).toBeVisible()
  await expect(page.getByRole('tab', { name: 'Run' })).toHaveCount(0)
  await expect(button(page, 'Speak')).toBeDisabled()
  await choose(page)
  await text(page).fill('Hello there. The owl sleeps by day.')
  await text(page).press('Control+Enter')
  await expect(player(page)).toBeVisible()
  await expect(page.getByTestId('made')).toContainText(/\d\.\d s of speech, made [\d.]+ times as fast/)
  expect(await violations(page)).toEqual([])

  const parts = await played()
  expect(parts.length).toBeGreaterThan(1)
  // Each part begins where the one before ends, or later if the model was slower.
  for (let i = 1; i < parts.length; i++)
    expect(parts[i]!.at).toBeGreaterThanOrEqual(parts[i - 1]!.at + parts[i - 1]!.duration - 1e-6)

  const { name, bytes } = await downloaded(page, 'Save as WAV')
  expect(name).toBe('text.wav')
  expect(bytes.toString('latin1', 0, 4)).toBe('RIFF')
  const seconds = (bytes.length - 44) / 2 / 24_000
  expect(bytes.readUInt32LE(24)).toBe(24_000)
  expect(parts.reduce((sum, { duration }) => sum + duration, 0)).toBeCloseTo(seconds, 3)

  // What is saved is heard, too.
  await button(page, 'Play').click()
  await expect.poll(async () => Number(await player(page).inputValue())).toBeGreaterThan(0)
  // Without sound, the same text gives the same file.
  await page.getByLabel('Play it while it is made').uncheck()
  await button(page, 'Speak').click()
  await expect(player(page)).toBeVisible()
  expect((await played()).length).toBe(parts.length)
  expect((await downloaded(page, 'Save as WAV')).bytes.equals(bytes)).toBe(true)
})

test('what the model says about a text is a note', async ({ page, site }) => {
  const projector = readFileSync(join(kFolder, 'mmproj.gguf'))
  projector.write('klingon', projector.indexOf('english', projector.indexOf('model_variant')))
  await visit(page, site, true, projector)
  await choose(page)
  await text(page).fill('Hello there.')
  await button(page, 'Speak').click()
  await expect(player(page)).toBeVisible()
  await expect(page.getByRole('note')).toContainText("the settings of the variant 'klingon' are not known")
  expect(await violations(page)).toEqual([])
})

test('recordings give the voice: chosen, dropped, and of the microphone', async ({ page, site }) => {
  await visit(page, site)
  await choose(page)
  await page.getByLabel('Play it while it is made').uncheck()
  await text(page).fill('Hello there.')
  const spoken = async (): Promise<Buffer> => {
    await button(page, 'Speak').click()
    await expect(button(page, 'Save as WAV')).toBeVisible()
    return (await downloaded(page, 'Save as WAV')).bytes
  }
  const own = await spoken()
  const choice = page.getByLabel('Recording of a voice')
  await choice.setInputFiles(join(kFolder, 'text.gguf'))
  await expect(page.getByRole('alert')).toHaveText('text.gguf is not audio that this browser can decode.')
  await choice.setInputFiles(kSound)
  await expect(page.getByText('spoken with the voice of this recording')).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
  const other = await spoken()
  expect(other.equals(own)).toBe(false)
  expect(await violations(page)).toEqual([])
  await button(page, 'Use the model’s own voice').click()
  expect((await spoken()).equals(own)).toBe(true)

  await button(page, 'Record').click()
  await expect(page.getByRole('button', { name: /Stop recording .0:0[1-9]/ })).toBeVisible()
  await page.getByRole('button', { name: /Stop recording/ }).click()
  await expect(page.getByText('spoken with the voice of this recording')).toBeVisible()
  expect((await spoken()).equals(own)).toBe(false)
  await button(page, 'Use the model’s own voice').click()

  const data = await page.evaluateHandle((base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
    const transfer = new DataTransfer()
    transfer.items.add(new File([bytes], 'dropped.wav', { type: 'audio/wav' }))
    return transfer
  }, readFileSync(kSound).toString('base64'))
  const panel = page.getByRole('tabpanel', { name: 'Speak' })
  await panel.dispatchEvent('dragenter', { dataTransfer: data })
  await panel.dispatchEvent('dragover', { dataTransfer: data })
  await expect(page.getByText('Drop it to use its voice')).toBeAttached()
  await panel.dispatchEvent('drop', { dataTransfer: data })
  await expect(page.getByText('spoken with the voice of this recording')).toBeVisible()
  expect((await spoken()).equals(other)).toBe(true)
})

test('OuteTTS speaks with the decoder of its codes, and with a profile', async ({ page, site }) => {
  site.add('/someone/oute/resolve/main/writer.gguf', Buffer.from(outeWriter(303)))
  await site.visit(page, '/someone/oute/resolve/main/writer.gguf', '#speak')
  const decoder = { name: 'decoder.gguf', mimeType: '', buffer: Buffer.from(outeDecoder(303)) }
  await page.getByLabel('Projector', { exact: true }).setInputFiles(decoder)
  await choose(page)
  await page.getByLabel('Play it while it is made').uncheck()
  await text(page).fill('Two owls.')
  const spoken = async (): Promise<Buffer> => {
    await button(page, 'Speak').click()
    await expect(button(page, 'Save as WAV')).toBeVisible()
    return (await downloaded(page, 'Save as WAV')).bytes
  }
  const own = await spoken()
  const profile = page.getByLabel('Profile of a voice')
  const file = (content: unknown) => ({
    name: 'owl.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(content)),
  })
  await profile.setInputFiles(file({ speaker: 1 }))
  await expect(page.getByRole('alert')).toHaveText('owl.json is no profile of a voice.')
  await profile.setInputFiles(file({ words: [{ word: 'an', duration: 0.36, codes: [3, 1, 4] }] }))
  await expect(page.getByText('The voice is that of owl.json.')).toBeVisible()
  expect((await spoken()).equals(own)).toBe(false)
  expect(await violations(page)).toEqual([])
})

test('a long text is stopped, and what was made is kept', async ({ page, site }) => {
  await visit(page, site)
  await text(page).fill('One owl sleeps by day, and wakes at night. '.repeat(500))
  await button(page, 'Speak').click()
  await expect(page.getByTestId('made')).toBeVisible()
  await button(page, 'Stop').click()
  await expect(player(page)).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
  const { bytes } = await downloaded(page, 'Save as WAV')
  expect(bytes.length).toBeGreaterThan(44)
  // The next text does not wait for the one that was stopped.
  await page.getByLabel('Play it while it is made').uncheck()
  await text(page).fill('Hello.')
  await button(page, 'Speak').click()
  await expect(player(page)).toBeVisible()
})

test('a projector that is kept is not fetched again, in the same visit', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await visit(page, site)
  await expect(page.getByText('The voice comes from mmproj.gguf.')).toBeVisible()
  await page.getByLabel(/Keep the file in this browser/).check()
  await expect(page.getByText('It is kept.')).toBeVisible()
  const fetched = () => site.counts('/someone/speaker/resolve/main/mmproj.gguf').bytes
  const before = fetched()
  await page.getByLabel('Play it while it is made').uncheck()
  await text(page).fill('Hello.')
  await button(page, 'Speak').click()
  await expect(player(page)).toBeVisible()
  expect(fetched()).toBe(before)
})

test('a model whose projector is not there, or is of another kind', async ({ page, site }) => {
  await visit(page, site, false)
  await expect(page.getByText('The voice is in a second file of this model')).toBeVisible()
  await text(page).fill('Hello.')
  await expect(button(page, 'Speak')).toBeDisabled()
  const choose = page.getByLabel('Projector', { exact: true })
  await choose.setInputFiles(join(kFolder, 'text.gguf'))
  await expect(page.getByRole('alert')).toContainText('text.gguf is not a projector')
  const sees = join(kSharedData, '../vectors/media/vision/qwen2vl/mmproj.gguf')
  await choose.setInputFiles({ name: 'sees.gguf', mimeType: '', buffer: readFileSync(sees) })
  await expect(page.getByRole('alert')).toHaveText(
    'sees.gguf has no voice: it is the projector of another kind of model.',
  )
  await choose.setInputFiles(join(kFolder, 'mmproj.gguf'))
  await expect(page.getByRole('alert')).toHaveCount(0)
  await button(page, 'Speak').click()
  await expect(button(page, 'Save as WAV')).toBeVisible()
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Temperature').fill('warm')
  await button(page, 'Speak').click()
  await expect(page.getByRole('alert')).toHaveText('The temperature must be a number from 0.')
})

const kLooks = [
  ['de-DE', 390],
  ['de-DE', 1280],
  ['zh-CN', 1280],
  ['zh-CN', 390],
] as const
for (const [locale, width] of everyNth(kLooks, 4))
  test.describe(`${locale} at ${width} px`, () => {
    test.use({ locale, viewport: { width, height: 800 }, colorScheme: 'dark' })
    test('nothing is cut off', async ({ page, site }) => {
      await visit(page, site)
      await page.locator('#panel-speak input[accept]').setInputFiles(kSound)
      await expect(page.locator('#panel-speak input[type=range]')).toBeVisible()
      await page.locator('#panel-speak textarea').fill('Hallo.')
      await page.locator('#panel-speak .primary').click()
      await expect(page.getByTestId('made')).toBeVisible()
      expect(await cutOff(page)).toEqual([])
      expect(await violations(page)).toEqual([])
    })
  })

test('the files of this computer', async ({ page, site }) => {
  await site.visit(page)
  await openLocal(page, 'text.gguf', readFileSync(join(kFolder, 'text.gguf')))
  await page.getByRole('tab', { name: 'Speak' }).click()
  await page.getByLabel('Projector', { exact: true }).setInputFiles(join(kFolder, 'mmproj.gguf'))
  await text(page).fill('Hello.')
  await button(page, 'Speak').click()
  await expect(button(page, 'Save as WAV')).toBeVisible()
})

test('a model that speaks several languages offers them', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const folder = join(kFolder, '../qwen3tts')
  await site.visit(page)
  await openLocal(page, 'text.gguf', readFileSync(join(folder, 'text.gguf')))
  await page.getByRole('tab', { name: 'Speak' }).click()
  const languages = page.getByRole('combobox', { name: 'Language', exact: true })
  await expect(languages).toHaveValue('en')
  expect(await languages.getByRole('option').count()).toBeGreaterThan(1)
  await page.getByLabel('Projector', { exact: true }).setInputFiles(join(folder, 'mmproj.gguf'))
  await text(page).fill('it')
  await button(page, 'Speak').click()
  await expect(page.getByTestId('made')).toBeVisible()
  // Unless all is spoken.
  await button(page, 'Stop').evaluateAll((found: HTMLElement[]) => found.forEach((one) => one.click()))
  await expect(button(page, 'Save as WAV')).toBeVisible()
})
