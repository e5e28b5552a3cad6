// Each way in which opening can fail has its own message, which says what to do.
import { writeGguf } from '../fixtures/gguf.ts'
import { shards, smallModel } from '../fixtures/models.ts'
import { bytesContent } from '../server/content.ts'
import type { Faults } from '../server/faults.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { expect, opened, rowCount, test } from './site.ts'

const good = writeGguf(smallModel())
const text = (value: string) => new TextEncoder().encode(value)

const described = writeGguf({
  metadata: [
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['general.description', { type: 'string', value: 'x'.repeat(5000) }],
  ],
  tensors: [],
})

const broken: [code: string, content: Uint8Array, faults: Faults][] = [
  ['no-such-file', good, { status: 404 }],
  ['unauthorized', good, { status: 401 }],
  ['forbidden', good, { status: 403 }],
  ['server-error', good, { status: 501 }],
  ['html', good, { html: true }],
  ['truncated', described.subarray(0, 200), {}],
  ['bad-magic', text('This is a shopping list: milk, bread, a model of seven billion parameters.'), {}],
  ['bad-version', Uint8Array.from(good, (byte, at) => (at === 4 ? 9 : byte)), {}],
  ['json', text('{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096}'), {}],
  ['lfs-pointer', text('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n'), {}],
]
for (const [code, content, faults] of broken) {
  test(code, async ({ page, site }) => {
    site.add('/broken.gguf', content)
    site.plan('/broken.gguf', faults)
    await site.visit(page, '/broken.gguf')
    const alert = page.getByRole('alert')
    await expect(alert.getByText(code, { exact: true })).toBeVisible()
    await expect(alert.getByRole('heading')).not.toHaveText('Something went wrong here')
    // A file of another kind is the same at another try.
    const isOther = /^(bad-magic|json|lfs-pointer)$/.test(code)
    await expect(alert.getByRole('button', { name: 'Try again' })).toHaveCount(isOther ? 0 : 1)
    await expect(alert.getByRole('button', { name: 'Choose a file' })).toBeVisible()
    await expect(alert).not.toContainText('bad magic')
    if (code !== 'truncated') return
    await expect(alert).toContainText(/At byte ?\d+/)
    await expect(alert).toContainText(/at least 4,\d{3} more bytes/)
    expect(await violations(page)).toEqual([])
  })
}

test('a server that other pages may not read', async ({ page, site }) => {
  site.add('/closed.gguf', good)
  const elsewhere = `${site.url.replace('127.0.0.1', 'localhost')}/closed.gguf?cors=off`
  const waits: string[] = []
  await page.exposeFunction('note', (text: string) => waits.push(text))
  await page.addInitScript(() => {
    new MutationObserver(() => {
      const attempt = /attempt (\d)/.exec(document.body?.innerText ?? '')?.[1]
      if (attempt) (window as unknown as { note(text: string): void }).note(attempt)
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })
  await site.visit(page, elsewhere)
  await expect(page.getByRole('alert')).toContainText('CORS')
  await expect(page.getByRole('alert').getByRole('heading')).toHaveText(/does not let this page read/)
  // The page did not wait for many attempts.
  expect(new Set(waits).size).toBeLessThan(2)
  // Where there is no server at all, the browser's words for it are left out.
  await site.visit(page, 'http://127.0.0.1:9/closed.gguf')
  await expect(page.getByRole('alert')).toContainText('could not be reached. Check the address')
})

test('a failure that has passed: try again opens the file', async ({ page, site }) => {
  site.add('/later.gguf', good)
  site.plan('/later.gguf', { status: 404, times: 1 })
  await site.visit(page, '/later.gguf')
  await page.getByRole('button', { name: 'Try again' }).click()
  await opened(page)
})

const latin = (value: string) => Buffer.from(value, 'latin1')
const kinds: [name: string, content: Uint8Array, heading: string][] = [
  ['photo.gguf', latin('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'This looks like an image, not a model'],
  ['photo.bin', latin('\xff\xd8\xff\xe0\0\x10JFIF'), 'This looks like an image, not a model'],
  ['song.bin', latin('ID3\x04\0\0\0\0\0\0'), 'This looks like a recording, not a model'],
  ['sound.bin', latin('RIFF\0\0\0\0WAVEfmt '), 'This looks like a recording, not a model'],
  ['clip.bin', latin('\0\0\0\x20ftypisom'), 'This is a video, not a model'],
  ['logo.gguf', text('<?xml version="1.0"?>\n<svg xmlns="x"></svg>'), 'This is a drawing (SVG), not a model'],
  ['feed.bin', text('<?xml version="1.0"?>\n<rss></rss>'), 'This is an XML file, not a model'],
  ['page.gguf', text('<!-- x --><html><svg></svg></html>'), 'This file is a web page, not a model'],
  ['logo.png', text('# Notes\nThese letters are not those of GGUF.'), 'This is a text, not a model'],
  ['paper.gguf', latin('%PDF-1.7\n%\xe2\xe3'), 'This is a document, not a model'],
  ['tool.gguf', latin('\x7fELF\x02\x01\x01\0\0\0\0'), 'This is a program, not a model'],
  ['tiny.bin', latin(`PK\x03\x04${'\0'.repeat(26)}archive/data.pkl`), 'This is a PyTorch checkpoint'],
  ['all.gguf', latin(`PK\x03\x04${'\0'.repeat(26)}readme`), 'This is an archive'],
  ['tiny.gguf', latin('\x80\x04\x95\x10\0\0'), 'This is a PyTorch checkpoint'],
  ['tiny.onnx.gguf', latin('\x08\x08\x12\x07pytorch'), 'This is an ONNX model'],
  ['cut.gguf', new Uint8Array(4000), 'This file was not written as a whole'],
  [
    'weights.bin',
    latin('\x02\0\0\0\x13\0\0\0blk.0.attn_k.weight'),
    'This looks like an importance matrix, not a model',
  ],
  ['imatrix.dat', latin('\x01\x02\x03\x04\x05\x06'), 'This looks like an importance matrix, not a model'],
  ['other.bin', latin('\x01\x02\x03\x04\x05\x06'), 'This is not a GGUF file'],
]

test('files of other kinds are named by their first bytes, with a way out that helps', async ({
  page,
  site,
}) => {
  await site.visit(page)
  const alert = page.getByRole('alert')
  for (const [name, content, heading] of kinds) {
    const mimeType = 'application/octet-stream'
    const file = { name, mimeType, buffer: Buffer.from(content) }
    await page.getByLabel('Choose GGUF files').setInputFiles(file)
    await expect(alert.locator('.label')).toHaveText(name)
    await expect.soft(alert.getByRole('heading'), name).toHaveText(heading)
    await expect(alert.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  }
  await page.getByLabel('Language of this page').selectOption('de')
  await expect(alert.getByRole('heading')).toHaveText('Das ist keine GGUF-Datei')
  await expect(alert).not.toContainText('Kennung')
  await page.getByLabel('Sprache dieser Seite').selectOption('en')
  // The file of an address is known by its bytes, too. The hub may have the model as GGUF.
  site.add('/someone/bees-7B/resolve/main/model.bin', latin('\x08\x08\x12\x07pytorch'))
  await site.visit(page, '/someone/bees-7B/resolve/main/model.bin')
  await expect(alert.getByRole('heading')).toHaveText('This is an ONNX model')
  await alert.getByRole('button', { name: 'Search the hub for “bees-7B”' }).click()
  await expect(page.getByRole('searchbox', { name: 'Name of a model' })).toHaveValue('bees-7B')
})

test('addresses without a name are named', async ({ page, site }) => {
  const alert = page.getByRole('alert')
  await site.visit(page, '/folder/')
  await expect(alert).toContainText('answered 404 for folder.')
  await site.visit(page, 'https://')
  await expect(alert).toContainText('"https://" is no address.')
  await expect(alert).not.toContainText('Node')
})

test('a missing part: the other parts can be opened', async ({ page, site }) => {
  const parts = shards(smallModel(), 3, 'gap')
  for (const part of [parts[0], parts[2]]) if (part) site.add(`/${part.name}`, writeGguf(part.model))
  await site.visit(page, `/${parts[0]?.name}`)
  const alert = page.getByRole('alert')
  await expect(alert).toContainText('missing-shard')
  await expect(alert).toContainText('gap-00002-of-00003')
  await alert.getByRole('button', { name: 'Open what is there' }).click()
  await opened(page)
  await page.getByRole('tab', { name: 'Tensors' }).click()
  await page.getByLabel('By block').uncheck()
  const there = [parts[0], parts[2]].flatMap((part) => part?.model.tensors ?? [])
  expect(await rowCount(page, 'Tensors')).toBe(there.length)
})

test('a wait before another attempt is shown', async ({ page, site }) => {
  site.add('/busy.gguf', good)
  site.plan('/busy.gguf', { status: 429, retryAfter: '2', times: 1 })
  await site.visit(page, '/busy.gguf')
  await expect(page.getByText(/Trying again in \d s/)).toBeVisible()
  await opened(page)
})

test('a repository without GGUF files says so, and searches for one that has some', async ({
  page,
  site,
}) => {
  const list = (files: unknown) => bytesContent(Buffer.from(JSON.stringify(files)), 'application/json')
  site.add('/api/models/someone/empty-7B/tree/main', list([{ type: 'file', path: 'README.md', size: 1 }]))
  site.add('/api/models', list([{ id: 'other/empty-7B-GGUF', downloads: 5 }]))
  await page.addInitScript((server) => localStorage.setItem('ggufscope.hub.server', server), site.url)
  await site.visit(page, 'someone/empty-7B')
  const alert = page.getByRole('alert')
  await expect(alert.getByRole('heading')).toHaveText('This repository has no GGUF files')
  await page.setViewportSize({ width: 320, height: 480 })
  const message = alert.locator('.message')
  expect(await message.evaluate((one) => one.scrollHeight - one.clientHeight)).toBe(0)
  await alert.getByRole('button', { name: 'Search the hub for “empty-7B”' }).click()
  await expect(page.getByRole('button', { name: /other\/empty-7B-GGUF/ })).toBeVisible()
})

test('a repository that the hub does not have is named so, and one that it hides may be none', async ({
  page,
  site,
}) => {
  await page.addInitScript((server) => localStorage.setItem('ggufscope.hub.server', server), site.url)
  await site.visit(page, 'someone/absent-7B')
  const alert = page.getByRole('alert')
  await expect(alert.getByRole('heading')).toHaveText('The hub has no such repository')
  await expect(alert.getByRole('button', { name: 'Search the hub for “absent-7B”' })).toBeVisible()
  await page.route('**/api/models/someone/**', async (route) => await route.fulfill({ status: 401 }))
  await alert.getByRole('button', { name: 'Try again' }).click()
  await expect(alert).toContainText('Check the owner and the name. If the repository is private')
  await expect(alert.getByLabel('Access token')).toBeVisible()
})

test('words in the address field search the hub', async ({ page, site }) => {
  const found = [{ id: 'other/tiny-model-GGUF', downloads: 5 }]
  site.add('/api/models', bytesContent(Buffer.from(JSON.stringify(found)), 'application/json'))
  await page.addInitScript((server) => localStorage.setItem('ggufscope.hub.server', server), site.url)
  await site.visit(page)
  await page.getByLabel('Address of a GGUF file or a repository').first().fill('tiny model')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: /other\/tiny-model-GGUF/ })).toBeVisible()
  await expect(page.getByRole('searchbox', { name: 'Name of a model' })).toHaveValue('tiny model')
})

test('a sign-in of one server is not asked for in the settings of another', async ({ page, site }) => {
  site.add('/private.gguf', good)
  site.plan('/private.gguf', { status: 401 })
  await site.visit(page, '/private.gguf')
  const alert = page.getByRole('alert')
  await expect(alert.getByText('unauthorized', { exact: true })).toBeVisible()
  await expect(alert.getByLabel('Access token')).toHaveCount(0)
  await expect(alert).not.toContainText('access token')
  await page.evaluate((server) => localStorage.setItem('ggufscope.hub.server', server), site.url)
  await page.reload()
  await expect(alert.getByLabel('Access token')).toBeVisible()
  await expect(alert).toContainText('Give an access token below')
  await expect(alert).not.toContainText('Authorization')
  await expect(alert.getByRole('button', { name: 'Save and try again' })).toHaveClass(/primary/)
  await expect(alert.getByRole('button', { name: 'Try again', exact: true })).not.toHaveClass(/primary/)
})

test('offline, the page waits for the connection', async ({ page, site, context }) => {
  site.add('/later.gguf', good)
  // Without a service worker, only what was loaded before is there.
  await site.visit(page, '/missing.gguf')
  await expect(page.getByRole('alert').getByText('no-such-file', { exact: true })).toBeVisible()
  await page.getByLabel('Address of a GGUF file or a repository').first().fill(`${site.url}/later.gguf`)
  await context.setOffline(true)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert').getByRole('heading')).toHaveText('This device is offline')
  await expect(page.getByText('This device is offline')).toHaveCount(1)
  await context.setOffline(false)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('later.gguf')
  await opened(page)
})

test('Convert begins with something that works', async ({ page, site }) => {
  await site.visit(page, kSample, '#convert')
  await expect(page.getByRole('radio', { name: 'Extract tensors' })).toBeChecked()
  await expect(page.getByRole('button', { name: /^Save the new file/ })).toBeVisible()
  await expect(page.getByRole('tabpanel').getByRole('alert')).toHaveCount(0)
})

test('a panel whose code did not come is there after another try, and the page is kept', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample)
  await opened(page)
  await page.route(/\/assets\/(Tensors|Memory)-/, async (route) => await route.abort())
  await page.getByRole('tab', { name: /^Tensors/ }).click()
  const panel = page.getByRole('tabpanel')
  await expect(panel.getByRole('alert')).toContainText('Check the connection and try again.')
  await page.unroute(/\/assets\/(Tensors|Memory)-/)
  await panel.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('grid', { name: 'Tensors' })).toBeVisible()
})

test('what cannot be loaded offline is named so, and there after another try', async ({
  page,
  site,
  context,
}) => {
  await site.visit(page, kSample)
  await opened(page)
  const said = page
    .getByRole('alert')
    .filter({ hasText: 'A part of this page could not be loaded. Check the connection' })
  const panel = page.getByRole('tabpanel')
  await context.setOffline(true)
  await page.getByRole('tab', { name: /^Tokenizer/ }).click()
  await expect(said).toBeVisible()
  await page.locator('#content').focus()
  await page.keyboard.press('?')
  await expect(said).toHaveCount(2)
  await page.getByLabel('Language of this page').selectOption('de')
  await expect(said).toHaveCount(3)
  await context.setOffline(false)
  await said.getByRole('button', { name: 'Try again' }).last().click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await panel.getByRole('button', { name: /again/i }).first().click()
  await expect(panel.getByRole('textbox').first()).toBeVisible()
})
