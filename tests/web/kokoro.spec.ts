// The panel Speak with Kokoro, which needs no projector: voices by name, and phonemes in place of a text.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { violations } from './axe.ts'
import { downloaded, expect, test } from './site.ts'

const kFile = join(import.meta.dirname, '../fixtures/golden/kokoro/model.gguf')

test('phonemes are spoken with a voice of the file, and a warning names unknown ones', async ({
  page,
  site,
}) => {
  site.add('/kokoro.gguf', readFileSync(kFile))
  await site.visit(page, '/kokoro.gguf', '#speak')
  const text = page.getByRole('textbox', { name: 'Phonemes to speak' })
  await expect(text).toBeVisible()
  await expect(page.getByRole('tab', { name: 'Run' })).toHaveCount(0)
  await expect(page.getByRole('tab', { name: 'Tokenizer' })).toHaveCount(0)
  const voice = page.getByLabel('Voice')
  await expect(voice).toHaveValue('af_heart')
  await expect(voice.locator('option')).toHaveText(['af_heart', 'bm_test'])
  const speak = page.getByRole('button', { name: 'Speak', exact: true })
  await expect(speak).toBeDisabled()
  await page.getByLabel('Play it while it is made').uncheck()
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Seed').fill('1')
  await text.fill('aʃː bəqn.')
  await speak.click()
  const player = page.getByRole('slider', { name: 'Position in the recording' })
  await expect(player).toBeVisible()
  await expect(page.getByRole('note')).toContainText('lacks the phoneme "q"')
  expect(await violations(page)).toEqual([])
  const first = await downloaded(page, 'Save as WAV')
  expect(first.name).toBe('kokoro.wav')

  const saved = async (): Promise<Buffer> => {
    await speak.click()
    await expect(page.getByTestId('made')).toBeVisible()
    await expect(player).toBeVisible()
    return (await downloaded(page, 'Save as WAV')).bytes
  }
  await page.getByLabel('Speed of the speech').fill('0.5')
  const slower = await saved()
  expect(slower.length).toBeGreaterThan(first.bytes.length)
  await voice.selectOption('bm_test')
  expect((await saved()).equals(slower)).toBe(false)

  await page.getByLabel('Speed of the speech').fill('9')
  await speak.click()
  await expect(page.getByRole('alert')).toContainText('a number from 0.25 to 4')
})
