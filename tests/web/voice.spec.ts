// The voice sample: the start page opens it on the panel Speak, and it speaks plain English.
import { kVoiceSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { downloaded, expect, test } from './site.ts'

test('the start page opens the voice sample, which speaks at once and names words that it spells', async ({
  page,
  site,
}) => {
  await site.visit(page)
  await page.getByRole('button', { name: 'Open the voice sample' }).click()
  const text = page.getByRole('textbox', { name: 'Text to speak' })
  await expect(text).toHaveValue(/^Good morning/)
  expect(new URL(page.url()).searchParams.get('url')).toBe(kVoiceSample)
  await expect(page.getByText('by the list of words in its file')).toBeVisible()
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
