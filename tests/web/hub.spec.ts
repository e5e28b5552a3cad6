// Models on a hub are searched, listed, opened and run. A test server speaks the hub's protocol.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel, shards, smallModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { startHub, type HubServer } from '../server/hub.ts'
import { startServer } from '../server/server.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { starters } from '../../web/src/lib/file/starters.ts'
import { violations } from './axe.ts'
import { cutOff } from './layout.ts'
import { expect, opened, test, type Page } from './site.ts'

const stories = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
const parts = shards(smallModel(), 2, 'small-Q8_0').map((part) => [part.name, writeGguf(part.model)] as const)
let hub: HubServer
test.beforeAll(async () => {
  hub = await startHub([
    {
      id: 'someone/stories-GGUF',
      downloads: 1200,
      files: {
        'stories-Q4_K_M.gguf': stories,
        'mmproj-F16.gguf': { size: 900_000_000 },
        ...Object.fromEntries(parts),
      },
    },
    ...starters.map(({ address }) => {
      const [id = '', type = ''] = address.split(':')
      return { id, files: { [`${id.split('/')[1]!.replace('-GGUF', '')}-${type}.gguf`]: stories } }
    }),
    {
      id: 'someone/very-many',
      files: Object.fromEntries(
        Array.from({ length: 230 }, (_, i) => [`m${i}-Q8_0.gguf`, { size: i === 0 ? 0 : 1000 }]),
      ),
    },
    { id: 'library/tales', files: { 'model.gguf': stories } },
    { id: 'someone/tale', files: { 'tale-Q8_0.gguf': stories } },
    { id: 'someone/gated-stories', token: 'secret', files: { 'gated-Q4_K_M.gguf': stories } },
    {
      id: 'someone/gated-names',
      token: 'secret',
      files: { 'plain.gguf': stories, 'a/twice-Q8_0.gguf': stories, 'b/twice-Q8_0.gguf': stories },
    },
  ])
})
test.afterAll(async () => await hub.close())

async function useServer(page: Page, token = '', server = hub) {
  await page.getByText('Server and access token').click()
  await page.getByLabel('Server', { exact: true }).fill(server.url)
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Save' }).click()
}

test('a model is found, and one of its quantizations opened and run', async ({ page, site }) => {
  await site.visit(page)
  await useServer(page)
  await page.getByLabel('Name of a model').fill('stories')
  await page.keyboard.press('Enter')
  const result = page.getByRole('button', { name: /someone\/stories-GGUF.*1.2 K downloads/ })
  await expect(result).toBeVisible()
  await expect(page.getByRole('button', { name: /gated-stories.* downloads · needs a token/ })).toBeVisible()
  expect(await violations(page)).toEqual([])
  await result.click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('someone/stories-GGUF')
  await expect(page).toHaveURL(/\?url=someone%2Fstories-GGUF$/)
  const models = page.getByRole('region', { name: 'Models' })
  await expect(models.getByRole('row')).toHaveCount(3)
  await expect(models.getByRole('row', { name: /^Compare Q8_0/ })).toContainText('2 files')
  await expect(models.getByRole('row', { name: /^Compare Q8_0/ })).toContainText('no estimate')
  await expect(models.getByRole('link', { name: /^Download Q8_0, / })).toHaveCount(2)
  await expect(models.getByRole('columnheader', { name: 'Get it' })).toBeVisible()
  await expect(models.getByRole('row', { name: /^Compare Q4_K_M/ })).toContainText(/\d\.\d\d/)
  await expect(page.getByRole('region', { name: 'For images and sound' })).toContainText('900 MB')
  expect(await violations(page)).toEqual([])
  await models.getByRole('button', { name: 'Q4_K_M', exact: true }).click()
  await opened(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('stories-Q4_K_M.gguf')
  await expect(page).toHaveURL(/url=someone%2Fstories-GGUF%3AQ4_K_M/)
  await page.reload()
  await opened(page)
  await page.getByRole('tab', { name: 'Run' }).click()
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByTestId('answer')).not.toBeEmpty()
  // The panel Compare offers the other quantizations.
  await page.getByRole('tab', { name: 'Compare' }).click()
  const offers = page.locator('#panel-compare dl').first()
  await expect(offers.getByRole('button', { name: /^Q4_K_M, / })).toHaveCount(0)
  await offers.getByRole('button', { name: /^Q8_0, / }).click()
  await expect(page.getByText(/^Different: \d+ of \d+ keys/)).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('someone/stories-GGUF')
  // A file in the repository is on the same server.
  await page.getByLabel(/^Address of a GGUF file/).fill('someone/stories-GGUF/stories-Q4_K_M.gguf')
  await page.keyboard.press('Enter')
  await opened(page)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('stories-Q4_K_M.gguf')
})

test('of a listing of hundreds, the first rows are shown, and a size that it lacks is none', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  await site.visit(page)
  await useServer(page)
  await site.visit(page, 'hf:someone/very-many')
  const rows = page.getByRole('region', { name: 'Models' }).locator('tbody tr')
  await expect(rows).toHaveCount(200)
  await expect(rows.first()).toContainText('–')
  await expect(rows.first()).not.toContainText('0 B')
  await page.getByRole('button', { name: 'Show more: 30 are left' }).click()
  await expect(rows).toHaveCount(230)
})

test('the start page offers three small models', async ({ page, site }) => {
  await site.visit(page)
  await useServer(page)
  const offered = page.getByRole('region', { name: 'Small models to begin with' }).getByRole('button')
  await expect(offered).toHaveCount(3)
  for (let i = 0; i < 3; i++) {
    await offered.nth(i).click()
    await opened(page)
    await expect(page.getByRole('heading', { level: 1 })).toContainText(/^(SmolLM2|SmolVLM|nomic).*\.gguf$/)
    await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  }
})

test('where no quantization fits, the page says so', async ({ page, site }) => {
  const computer = JSON.stringify({ gpu: 0, gpuSpeed: 0, ram: 0.0001, ramSpeed: 60 })
  await page.addInitScript((text) => localStorage.setItem('ggufscope.computer', text), computer)
  await site.visit(page)
  await useServer(page)
  await site.visit(page, 'someone/stories-GGUF')
  await expect(
    page.getByText(/^None of these files fits: even Q4_K_M needs [\d.]+ MiB of 105 KiB/),
  ).toBeVisible()
  await page.getByLabel('Only what fits').check()
  await expect(page.getByText('1 model that does not fit is hidden.')).toBeVisible()
  await page.getByLabel(/^Memory for/).selectOption('Server card of 80 GiB')
  await expect(page.getByText('None of these files fits.')).toHaveCount(0)
})

test('a split model is compared with another by ticking both', async ({ page, site }) => {
  await site.visit(page)
  await useServer(page)
  await page.getByLabel(/^Address of a GGUF file/).fill('someone/stories-GGUF')
  await page.keyboard.press('Enter')
  // Two models, and each is described.
  await expect(page.getByText(/^[^.]*: llama, [\d.]+.* parameters/)).toHaveCount(2)
  for (const name of ['Q4_K_M', 'Q8_0'])
    await page.getByRole('checkbox', { name: `Compare ${name}`, exact: true }).check()
  await page.getByRole('button', { name: 'Compare the two ticked' }).click()
  await expect(page.getByRole('heading', { name: /^Different: / })).toBeVisible()
  await expect(page.getByRole('columnheader', { name: /small-Q8_0\.gguf/ }).first()).toBeVisible()
})

test('an address with a quantization opens it, all its files', async ({ page, site }) => {
  await site.visit(page)
  await useServer(page)
  await page.getByLabel(/^Address of a GGUF file/).fill('https://huggingface.co/someone/stories-GGUF:q8_0')
  await page.keyboard.press('Enter')
  await opened(page)
  await expect(page.getByText('in 2 parts')).toBeVisible()
  await page.getByLabel(/^Address of a GGUF file/).fill('someone/stories-GGUF:Q2_K')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('someone/stories-GGUF has no Q2_K')
  await expect(page.getByRole('button', { name: 'Q4_K_M', exact: true })).toBeVisible()
})

test('all twenty quantizations of a repository are previewed, with their types and memory', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  // Headers of 6 MB each, at 50 ms and 100 Mbit/s.
  await using far = await startServer({ delay: 50, bandwidth: 12.5e6 })
  const names =
    'Q2_K Q3_K_S Q4_K_M Q5_K_M Q6_K IQ2_S Q3_K_M Q4_0 Q5_0 Q8_0 IQ2_M Q3_K_L Q4_1 Q5_1 BF16 IQ1_M IQ3_M IQ4_XS Q5_K_S F16'
  const types = ['Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K']
  const model = previewModel(kPreviewShapes[1]!)
  let headers = 0
  const written = types.map((type) => {
    const tensors = model.tensors!.map((tensor) => (tensor.shape.length > 1 ? { ...tensor, type } : tensor))
    return writeHeader({ ...model, tensors })
  })
  const files = names.split(' ').map((name, i) => {
    const { header, size } = written[i % types.length]!
    headers += header.length
    const path = `/many-${name}.gguf`
    far.add(path, sparseContent(header, size))
    return [path.slice(1), { size, at: far.url + path }] as const
  })
  const many = await startHub([{ id: 'someone/many', files: Object.fromEntries(files) }])
  await site.visit(page)
  await useServer(page, '', many)
  far.reset()
  await page.getByLabel(/^Address of a GGUF file/).fill('someone/many')
  await page.keyboard.press('Enter')
  const models = page.getByRole('region', { name: 'Models' })
  await expect(models.getByText(/^(it fits|tight|it does not fit)$/)).toHaveCount(20)
  await expect(models.getByRole('row').filter({ hasText: /Q4_K\s9\d\.\d\s%/ })).toHaveCount(4)
  const { bytes } = far.counts()
  expect(headers).toBeGreaterThan(100e6)
  expect(bytes).toBeLessThan(headers / 20)
  const times = far.log.map(({ time }) => time)
  test.info().annotations.push({
    type: 'previews',
    description: `${bytes} bytes, ${Math.round(Math.max(...times) - Math.min(...times))} ms to the last request`,
  })
  // A larger computer has room for them.
  await page.getByLabel(/^Memory for/).selectOption('Server card of 80 GiB')
  await expect(models.getByText('it fits', { exact: true })).toHaveCount(20)

  // One row is recommended: the best that fits. On a small computer that is another one.
  const badge = models.getByRole('row').filter({ has: page.getByText('recommended', { exact: true }) })
  await expect(badge).toHaveCount(1)
  await expect(
    page.getByText(/ \(very small loss\): [\d.]+ [MG]iB of 78 GiB of free memory, the best that fits$/),
  ).toBeVisible()
  await expect(badge).toContainText('very small loss')
  await page.getByLabel('Order').selectOption('the smallest first')
  const sizes = (await models.getByRole('row').allInnerTexts())
    .slice(1)
    .map((row) => parseFloat(/([\d.]+) MB/.exec(row)![1]!))
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
  // The ways to start it elsewhere unfold below its row, by keys too.
  const ways = (name: string) => page.getByRole('button', { name: `Copy for ${name}`, exact: true })
  await ways('Q4_K_M').press('Enter')
  await expect(ways('Q4_K_M')).toHaveAttribute('aria-expanded', 'true')
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  // past Download and the link
  for (let i = 0; i < 3; i++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(models.getByRole('button', { name: 'Copied' })).toBeVisible()
  expect(await copied()).toBe('llama-server -hf someone/many:Q4_K_M')
  expect(await violations(page)).toEqual([])
  await ways('Q4_K_M').click()
  // Without the permission, the browser copies a selection.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('denied', 'NotAllowedError'))
  })
  await ways('Q8_0').click()
  const link = models.locator('dl > div', { hasText: 'Link' }).getByRole('button')
  await link.click()
  await expect.poll(copied).toMatch(/^http:.*many-Q8_0\.gguf$/)
  await page.evaluate(() => (document.execCommand = () => false))
  await link.click()
  await expect(link).toHaveText('The browser does not allow copying')
  await ways('Q8_0').click()
  await expect(page.getByRole('link', { name: 'Download Q4_K_M' })).toHaveAttribute(
    'href',
    /many-Q4_K_M\.gguf/,
  )
  // On a phone, nothing has to be scrolled sideways.
  await page.setViewportSize({ width: 320, height: 568 })
  expect(await cutOff(page)).toEqual([])
  await expect
    .poll(() => models.locator('.scroll').evaluate((one) => one.scrollWidth - one.clientWidth))
    .toBeLessThanOrEqual(1)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(models.locator('.recommended')).toContainText([
    /recommended\s+very small loss/,
    /[\d.]+ bits per weight/,
  ])
  const height = (await models.locator('tbody').boundingBox())!.height
  expect(height / 20).toBeLessThan(105)
  await expect
    .poll(() => models.locator('.scroll').evaluate((one) => one.scrollWidth - one.clientWidth))
    .toBeLessThanOrEqual(1)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Open it' }).click()
  await opened(page)
  await page.goBack()
  // Two rows are ticked, and compared.
  for (const name of ['Q4_K_M', 'Q5_K_M'])
    await page.getByRole('checkbox', { name: `Compare ${name}`, exact: true }).check()
  await page.getByRole('button', { name: 'Compare the two ticked' }).click()
  await expect(page.getByRole('heading', { name: /^Different: / })).toBeVisible()
  await expect(page.getByRole('columnheader', { name: 'many-Q5_K_M.gguf' }).first()).toBeVisible()
  await many.close()
})

test('a gated repository asks for a token, which is sent to no other server', async ({ page, site }) => {
  await site.visit(page)
  await useServer(page)
  await page.getByLabel(/^Address of a GGUF file/).fill('someone/gated-stories:Q4_K_M')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'The server wants a sign-in' })).toBeVisible()
  await page.getByLabel('Access token').fill('wrong')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(
    page.getByRole('heading', { name: 'The server does not accept the access token' }),
  ).toBeVisible()
  hub.fetched.length = 0
  await page.getByLabel('Access token').fill('secret')
  await page.getByRole('button', { name: 'Save' }).click()
  await opened(page)
  expect(hub.fetched.length).toBeGreaterThan(0)
  expect(hub.fetched.filter(({ authorization }) => authorization !== undefined)).toEqual([])
})

test('files of a gated repository open by their own addresses, with the token for its server alone', async ({
  page,
  site,
}) => {
  await site.visit(page)
  await useServer(page, 'secret')
  for (const name of ['plain', 'a/twice-Q8_0']) {
    await page.getByLabel(/^Address of a GGUF file/).fill('someone/gated-names')
    await page.keyboard.press('Enter')
    hub.fetched.length = hub.requests.length = 0
    await page.getByRole('region', { name: 'Models' }).getByRole('button', { name, exact: true }).click()
    await opened(page)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${name.split('/').at(-1)}.gguf`)
    expect(hub.requests.some(({ authorization }) => authorization === 'Bearer secret')).toBe(true)
    expect(hub.fetched.filter(({ authorization }) => authorization !== undefined)).toEqual([])
  }
  // The address in the link is enough after a reload.
  await page.reload()
  await opened(page)
  const asked: Promise<string | undefined>[] = []
  page.on('request', (request) =>
    asked.push(request.headerValue('authorization').then((value) => value ?? undefined)),
  )
  await page.getByLabel(/^Address of a GGUF file/).fill(`${site.url}/${kSample}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(kSample)
  // The heading is there before the request.
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  await opened(page)
  page.removeAllListeners('request')
  expect((await Promise.all(asked)).filter((one) => one !== undefined)).toEqual([])
})

test('a link opens every address that people paste', async ({ page, site }) => {
  // The real hosts, answered by the test's hub.
  const hosts = [
    'huggingface.co',
    'hf.co',
    'modelscope.cn',
    'registry.ollama.ai',
    'api.github.com',
    'github.com',
  ]
  for (const host of hosts)
    await page.route(`https://${host}/**`, async (route) => {
      const { pathname, search } = new URL(route.request().url())
      const response = await route.fetch({ url: hub.url + pathname + search })
      await route.fulfill({
        response,
        headers: { ...response.headers(), 'access-control-allow-origin': '*' },
      })
    })
  for (const address of [
    'https://huggingface.co/someone/stories-GGUF/blob/main/stories-Q4_K_M.gguf',
    'hf.co/someone/stories-GGUF:Q4_K_M',
    'hf://someone/stories-GGUF/stories-Q4_K_M.gguf',
    'llama-server -hf someone/stories-GGUF:Q4_K_M',
    'ms://someone/stories-GGUF:Q4_K_M',
    'ms://someone/stories-GGUF/stories-Q4_K_M.gguf',
    'hf.co/someone/stories-GGUF/stories-Q4_K_M.gguf',
    'https://modelscope.cn/models/someone/stories-GGUF/file/view/master?fileName=stories-Q4_K_M.gguf',
    'https://ollama.com/library/tales:latest',
    'ollama run tales',
    'https://github.com/someone/tale/releases/tag/v1',
    'github.com/someone/tale/releases/download/v1/tale-Q8_0.gguf',
  ]) {
    await page.goto(`${site.url}/?${new URLSearchParams({ url: address })}`)
    await expect(page.locator('.sentence'), address).toHaveText(/^A llama model of 2.03 million parameters/)
  }
})
