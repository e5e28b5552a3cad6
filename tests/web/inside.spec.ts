// The panel Run looks inside the sample: probabilities of tokens, readings of layers, attention, parts that are off.
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { expect, test } from './site.ts'

for (const locale of ['en-US', 'de-DE', 'zh-CN'])
  test.describe(locale, () => {
    test.use({ locale, viewport: { width: 390, height: 844 } })
    test('on a phone the modes are one line, and the chosen one is in view', async ({ page, site }) => {
      await site.visit(page, kSample, '#run/inside')
      const modes = page.locator('#panel-run [role=radiogroup]').first()
      await expect(modes).toBeVisible()
      const tops = await modes
        .locator('label')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)))
      expect(new Set(tops).size).toBe(1)
      for (const mode of ['inside', 'chat', 'complete']) {
        await modes.locator(`input[value=${mode}]`).check()
        await expect(modes.locator('label', { has: page.locator(':checked') })).toBeInViewport({
          ratio: 0.98,
        })
      }
      await page.keyboard.press('ArrowRight')
      await expect(modes.locator('input[value=inside]')).toBeChecked()
    })
  })

for (const [width, height] of [
  [1280, 800],
  [390, 844],
] as const)
  test(`the layers and heads of the sample are shown at ${width} px, and can be off`, async ({
    page,
    site,
  }) => {
    await page.setViewportSize({ width, height })
    await site.visit(page, kSample, '#run')
    // Above the conversation, also where the options are folded; the choice is in the address.
    await page.getByRole('radio', { name: 'Look inside' }).check()
    await expect(page).toHaveURL(/#run\/inside$/)
    await page.reload()
    await expect(page.getByRole('radio', { name: 'Look inside' })).toBeChecked()
    await page.getByLabel('A text that the model reads').fill('Once upon a time there was a little cat')
    await page.getByRole('button', { name: 'Look inside' }).click()
    const tokens = page.getByLabel('Tokens of the text').getByRole('button')
    await expect(tokens.nth(3)).toHaveText(/\w/)
    await tokens.nth(3).click()
    await expect(page.getByText(/had a probability of [\d.]+ %: place \d+ of all tokens/)).toBeVisible()
    const layers = page.getByRole('region', { name: 'What each layer tends to' }).getByRole('row')
    await expect(layers).toHaveCount(4)
    await expect(layers.first()).toContainText(/output.*%/)
    await expect(page.getByText('if the model ended at a layer (logit lens)')).toBeInViewport({ ratio: 1 })
    const picture = page.getByRole('button', { name: /^Attention of the head/ })
    await picture.scrollIntoViewIfNeeded()
    const before = (await layers.first().boundingBox())!
    const off = page.getByRole('checkbox', { name: 'Layer off' })
    await off.check()
    // What it changes is in view, beside what was there before.
    await expect(page.getByRole('rowheader', { name: 'without them' })).toBeInViewport({ ratio: 1 })
    await expect(off).toBeInViewport({ ratio: 1 })
    expect((await layers.first().boundingBox())!.y).toBe(before.y)
    if (width > 720) await expect(picture).toBeInViewport({ ratio: 1 })
    const [all, without] = await Promise.all(
      ['with all parts', 'without them'].map((name) =>
        page
          .getByRole('row', { name: new RegExp(`^${name}`) })
          .getByRole('cell')
          .allTextContents(),
      ),
    )
    expect(without).not.toEqual(all)
    expect(await violations(page)).toEqual([])
  })
