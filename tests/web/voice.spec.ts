// The voice sample: the start page opens it on the panel Speak, and it speaks plain English.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kVoiceSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { downloaded, expect, test } from './site.ts'

test('a first text is chosen, heard and stopped where the recording then goes on', async ({ page, site }) => {
  await site.visit(page, `/${kVoiceSample}`, '#speak')
  await page.getByRole('button', { name: 'Once upon a time' }).click()
  const text = page.getByRole('textbox', { name: 'Text to speak' })
  await expect(text).toHaveValue('Once upon a time, an owl lived in an old lighthouse.')
  await expect(text).toBeFocused()
  await page.getByRole('button', { name: 'Speak', exact: true }).click()
  // It is heard still when all is made.
  const player = page.getByRole('slider', { name: 'Position in the recording' })
  await expect.poll(async () => Number(await player.inputValue())).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0)
  await expect(page.getByRole('note')).toHaveCount(0)
  expect(Number(await player.inputValue())).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Play' }).click()
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible()
  // This kind of model has no cache.
  await expect(page.getByText(/ of memory: [\d.]+ MiB weights; /)).toBeVisible()
})

test('the text of a cut file is not spoken', async ({ page, site }) => {
  const whole = readFileSync(join(import.meta.dirname, '../fixtures/voice.gguf'))
  site.add('/cut.gguf', whole.subarray(0, 900_000))
  await site.visit(page, '/cut.gguf', '#speak')
  await expect(page.getByText('The file is cut off, so its model cannot be run.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Text to speak' }).fill('Good morning.')
  await expect(page.getByRole('button', { name: 'Speak', exact: true })).toBeDisabled()
})

test('the start page opens the voice sample, which speaks at once and names words that it spells', async ({
  page,
  site,
}) => {
  await site.visit(page)
  await page.getByRole('button', { name: 'Text-to-speech sample' }).click()
  const text = page.getByRole('textbox', { name: 'Text to speak' })
  await expect(text).toHaveValue(/^Good morning/)
  expect(new URL(page.url()).searchParams.get('url')).toBe(kVoiceSample)
  await expect(
    page.getByText('by the list of words in its file; numbers, amounts and units become words.'),
  ).toBeVisible()
  await page.getByLabel('Play it while it is made').uncheck()
  const speak = page.getByRole('button', { name: 'Speak', exact: true })
  await speak.click()
  const player = page.getByRole('slider', { name: 'Position in the recording' })
  await expect(player).toBeVisible()
  await expect(page.getByRole('note')).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  const { bytes } = await downloaded(page, 'Save as WAV')
  expect(bytes.subarray(0, 4).toString()).toBe('RIFF')
  await text.fill('Hello zqx.')
  await speak.click()
  await expect(page.getByRole('note')).toContainText('"zqx": spelled letter by letter')
})
