// The panel Transcribe with the speech sample: a file, the times of its words, a microphone, exports.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kSpeechSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { kBrowser } from './browser.ts'
import { expect, test, type Page } from './site.ts'

const kFixtures = join(import.meta.dirname, '../fixtures')
const kSound = join(kFixtures, 'commands.wav')
const spoken = JSON.parse(readFileSync(join(kFixtures, 'commands.json'), 'utf8')) as { text: string }[]

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

const rows = (page: Page) => page.getByRole('list', { name: 'Transcript' }).getByRole('listitem')

test('a recording is chosen, played from a word, and saved', async ({ page, site }) => {
  await site.visit(page, kSpeechSample, '#transcribe')
  await page.getByLabel('Recording', { exact: true }).setInputFiles(kSound)
  await expect(rows(page)).toHaveCount(spoken.length)
  for (let i = 0; i < spoken.length; i++) await expect(rows(page).nth(i)).toContainText(spoken[i]!.text)
  await expect(page.getByRole('tab', { name: 'Run' })).toHaveCount(0)
  await expect(page.locator('.read')).toContainText('(100 %)')
  expect(await violations(page)).toEqual([])

  const position = page.getByRole('slider', { name: 'Position in the recording' })
  const word = rows(page).nth(1).locator('.word').nth(1)
  // A sentence is one text for a reader of the screen, and one stop of the Tab key.
  await expect(rows(page).nth(1).getByRole('button')).toHaveCount(1)
  const from = Number.parseFloat((await word.getAttribute('title'))!.split(':')[1]!)
  await word.click()
  await expect.poll(async () => Number(await position.inputValue())).toBeGreaterThanOrEqual(from)
  await page.getByRole('button', { name: 'Pause' }).click()
  await position.fill('1.2')
  await expect(rows(page).first()).toHaveClass(/current/)

  for (const [format, begin] of [
    ['txt', '.\n'],
    ['srt', '1\n00:00:00,'],
    ['vtt', 'WEBVTT\n\n00:00:00.'],
    ['json', '{'],
  ] as const) {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: format, exact: true }).click()
    const download = await saved
    expect(download.suggestedFilename()).toBe(`commands.wav.${format}`)
    expect(readFileSync(await download.path(), 'utf8')).toContain(begin)
  }
})

test('the sample recording, and what is not a recording', async ({ page, site }) => {
  await site.visit(page, kSpeechSample, '#transcribe')
  const room = page.getByText(
    /^To fetch: 1\.4 MB\. The model takes about [\d.]+ MiB of memory\. .* it fits\.$/,
  )
  await expect(room).toBeVisible()
  await page.getByRole('button', { name: 'Use the sample recording' }).click()
  await expect(rows(page)).toHaveCount(spoken.length)
  await expect(room).toHaveCount(0)
  await page.getByLabel('Recording', { exact: true }).setInputFiles(join(kFixtures, 'commands.json'))
  await expect(page.getByRole('alert')).toContainText(/not audio.* are still those of sample\.wav\.$/)
  await expect(page.getByText('The sample recording speaks sentences of random words')).toBeVisible()
  // The times of the words are text on demand.
  await page.getByLabel('Show the time of each word').press('Space')
  await expect(rows(page).nth(1).locator('small')).toHaveCount(spoken[1]!.text.split(' ').length)
  await expect(rows(page).nth(1)).toContainText(/Call\s*0:0\d\.\d/)
})

test('what the microphone hears is written while it records', async ({ page, site }) => {
  await site.visit(page, kSpeechSample, '#transcribe')
  await page.getByRole('button', { name: 'Record', exact: true }).click()
  // Text appears while it records.
  await expect(rows(page).first()).toBeVisible()
  await expect(page.getByRole('button', { name: /Stop recording/ })).toBeVisible()
  await expect(rows(page).first()).toContainText(/\w+ \w+/)
  await page.getByRole('button', { name: /Stop recording/ }).click()
  await expect(page.getByRole('slider', { name: 'Position in the recording' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Transcribe again' })).toBeEnabled()
})

test('a cut file is not offered a recording', async ({ page, site }) => {
  site.add('/cut.gguf', readFileSync(join(kFixtures, 'commands.gguf')).subarray(0, 900_000))
  await site.visit(page, '/cut.gguf', '#transcribe')
  await expect(page.getByText('The file is cut off, so its model cannot be run.')).toBeVisible()
  for (const name of ['Choose a recording', 'Record'])
    await expect(page.getByRole('button', { name, exact: true })).toBeDisabled()
  await expect(page.getByText('Keep the file in this browser')).toHaveCount(0)
})

test('a sound is dropped on the panel', async ({ page, site }) => {
  await site.visit(page, kSpeechSample, '#transcribe')
  await expect(page.getByText('drop one here')).toBeVisible()
  const data = await page.evaluateHandle((base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
    const transfer = new DataTransfer()
    transfer.items.add(new File([bytes], 'dropped.wav', { type: 'audio/wav' }))
    return transfer
  }, readFileSync(kSound).toString('base64'))
  const panel = page.getByRole('tabpanel', { name: 'Transcribe' })
  await panel.dispatchEvent('dragenter', { dataTransfer: data })
  await panel.dispatchEvent('dragover', { dataTransfer: data })
  await expect(page.getByText('Drop it to transcribe it')).toBeAttached()
  await panel.dispatchEvent('drop', { dataTransfer: data })
  await expect(rows(page)).toHaveCount(spoken.length)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(kSpeechSample)
})
