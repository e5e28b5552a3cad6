// A model that is stored in the browser: an interrupted download continues after a reload, and then needs no network.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { bytesContent, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { downloaded, expect, opened, test, type Page } from './site.ts'

const model = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
const kPart = 1 << 18
/** The checksum behind the bytes of each stored part. */
const kSealBytes = 32

/** Runs a completion in the panel Run. */
async function complete(page: Page) {
  await page.getByLabel('Complete a text').check()
  await page.getByRole('textbox', { name: 'Text to complete' }).fill('Once upon a time')
  await page.getByRole('button', { name: 'Complete' }).click()
}

test('a browser that writes files only in workers keeps a model, as Safari before version 26', async ({
  page,
  site,
}) => {
  await page.addInitScript(() => {
    delete (FileSystemFileHandle.prototype as { createWritable?: unknown }).createWritable
  })
  site.add('/by-worker.gguf', bytesContent(model))
  await site.visit(page, '/by-worker.gguf', '#run')
  await opened(page)
  await page.getByLabel(/Keep the file in this browser/).check()
  await complete(page)
  await expect(page.getByText('It is kept.')).toBeVisible()
})

test('a download interrupted at 60 % continues after a reload', async ({ page, site }) => {
  site.add('/kept.gguf', bytesContent(model))
  await site.visit(page, '/kept.gguf', '#run')
  await opened(page)
  const keep = page.getByLabel(/Keep the file in this browser/)
  // The server sends the size and four of six parts, and then stalls.
  site.plan('/kept.gguf', { after: 5, stall: 100 })
  site.reset()
  await keep.check()
  await complete(page)
  await expect.poll(() => site.counts('/kept.gguf').requests).toBeGreaterThanOrEqual(6)
  await expect.poll(() => site.counts('/kept.gguf').bytes).toBeGreaterThanOrEqual(4 * kPart + 4)
  const kept = () =>
    page.evaluate(async () => {
      let parts = 0
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('ggufscope-files')
      for await (const folder of root.values())
        for await (const name of (folder as FileSystemDirectoryHandle).keys())
          parts += /^\d+$/.test(name) ? 1 : 0
      return parts
    })
  await expect.poll(kept).toBe(4)

  site.plan('/kept.gguf')
  await page.reload()
  await opened(page)
  await expect(page.getByText(/1\.05 MB of it are kept, and loading continues from there/)).toBeVisible()
  await expect(keep).toBeChecked()
  site.reset()
  await complete(page)
  await expect(page.getByTestId('answer')).toContainText(/, an? [a-z]+/)
  await expect(page.getByText('It is kept.')).toBeVisible()
  expect(site.counts('/kept.gguf').bytes).toBe(model.length - 4 * kPart + 4)

  // The file opens and runs while the server fails. The start page lists it.
  site.plan('/kept.gguf', { status: 503 })
  site.reset()
  await site.visit(page)
  const library = page.getByRole('region', { name: 'Kept models' })
  await expect(library).toContainText('1.46 MB')
  await expect(library).toContainText(/of [\d.]+ .B of this browser’s storage are in use/)
  await library.getByLabel('Tags of kept.gguf').fill('stories, small')
  await page.keyboard.press('Tab')
  const exported = await downloaded(page, 'Export kept.gguf')
  expect(exported.bytes.equals(model)).toBe(true)
  await page.reload()
  await expect(library.getByLabel('Tags of kept.gguf')).toHaveValue('stories, small')
  await library.getByRole('button', { name: 'kept.gguf', exact: true }).click()
  await opened(page)
  await page.getByRole('tab', { name: 'Run' }).click()
  await complete(page)
  await expect(page.getByRole('status').filter({ hasText: /tokens, .*ms\./ })).toBeVisible()
  await expect(page.getByText('The kept file is used. The server could not be asked')).toBeVisible()
  // Loading asks once whether the file has changed. The stored one runs without an answer.
  expect(site.counts('/kept.gguf').requests).toBe(1)

  await page.getByRole('button', { name: 'Remove' }).click()
  await expect(keep).not.toBeChecked()
  // The button disappears when the file is removed.
  await expect(page.getByRole('button', { name: 'Remove' })).toHaveCount(0)
  await site.visit(page)
  await expect(page.getByRole('heading', { name: 'Recent files' })).toBeVisible()
  await expect(library).toHaveCount(0)
  await site.visit(page, '/kept.gguf')
  await expect(
    page
      .getByRole('heading', { name: /cannot|503|error/i })
      .or(page.getByText(/503/))
      .first(),
  ).toBeVisible()
})

test('all files of a split model are kept, and open without the server', async ({ page, site }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  const root = join(import.meta.dirname, '../..')
  execFileSync(process.execPath, [
    join(root, 'wasm/dist/cli.js'),
    ...[
      'split',
      join(root, 'tests/fixtures/stories.gguf'),
      '--max-size',
      '500K',
      '--output',
      join(folder, 'kept'),
    ],
  ])
  const names = (await readdir(folder)).toSorted()
  for (const name of names) site.add(`/${name}`, bytesContent(await readFile(join(folder, name))))
  await rm(folder, { recursive: true })
  expect(names.length).toBeGreaterThan(1)
  await site.visit(page, `/${names[0]}`, '#run')
  await opened(page)
  await page.getByLabel(/Keep the file in this browser \(1\.\d+ MB\)/).check()
  await expect(page.getByText('It is kept.')).toBeVisible()
  for (const name of names) site.plan(`/${name}`, { status: 503 })
  await page.reload()
  await opened(page)
  await expect(page.getByText('It is kept.')).toBeVisible()
  await complete(page)
  await expect(page.getByRole('status').filter({ hasText: /tokens, .*ms\./ })).toBeVisible()
  await page.getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('It is kept.')).toHaveCount(0)
  await site.visit(page)
  await expect(page.getByRole('heading', { name: 'Recent files' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Kept models' })).toHaveCount(0)
})

test('viewed data is not fetched again until the list is cleared', async ({ page, site }) => {
  const shape = kPreviewShapes.find(({ name }) => name === 'bpe-129k')!
  const { header, size } = writeHeader(previewModel(shape))
  const slow = await startServer()
  slow.add('/seen.gguf', sparseContent(header, size))
  /** The offset of the first gap in the stored bytes. */
  const keptTo = () =>
    page.evaluate(async (checksumBytes) => {
      const runs: number[][] = []
      const root = await navigator.storage.getDirectory()
      const previews = await root.getDirectoryHandle('ggufscope-previews', { create: true })
      for await (const folder of previews.values())
        for await (const handle of (folder as FileSystemDirectoryHandle).values()) {
          if (!/^\d+-\d+$/.test(handle.name)) continue
          const [from, to] = handle.name.split('-').map(Number)
          // A file's name appears before its bytes.
          const file = await (handle as FileSystemFileHandle).getFile().catch(() => undefined)
          if (file?.size === to! - from! + checksumBytes) runs.push([from!, to!])
        }
      let end = 0
      for (const [from, to] of runs.sort((a, b) => a[0]! - b[0]!)) if (from! <= end) end = Math.max(end, to!)
      return end
    }, kSealBytes)
  await site.visit(page, `${slow.url}/seen.gguf`, '#tokenizer')
  await expect(page.getByText(/129,\d+ tokens\./)).toBeVisible()
  await expect.poll(keptTo).toBeGreaterThanOrEqual(header.length)
  slow.reset()
  // At this bandwidth the header takes half a minute, so the storage answers first even if it is slow.
  slow.setBandwidth(200e3)
  await page.reload()
  await expect(page.getByText(/129,\d+ tokens\./)).toBeVisible()
  expect(slow.counts('/seen.gguf').bytes).toBeLessThan(header.length - 500_000)
  await slow.close()

  await site.visit(page)
  await page.getByRole('button', { name: 'Clear the list' }).click()
  // A folder may be removed while it is listed, which is an error. Then the check is repeated.
  await expect(async () => expect(await keptTo()).toBe(0)).toPass()
})

test('a full storage does not end a conversation', async ({ page, site }) => {
  site.add('/full.gguf', bytesContent(model))
  const session = await page.context().newCDPSession(page)
  const setQuota = (quotaSize: number) =>
    session.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize })
  const usage = () => page.evaluate(async () => (await navigator.storage.estimate()).usage ?? 0)
  const keep = page.getByLabel(/Keep the file in this browser/)
  const finished = page.getByRole('status').filter({ hasText: /tokens?, .*ms\./ })
  await site.visit(page, '/full.gguf', '#run')
  await opened(page)

  // There is no room from the start.
  await setQuota((await usage()) + 1000)
  await keep.click()
  await complete(page)
  await expect(finished).toBeVisible()
  await expect(page.getByTestId('answer')).toContainText(/, an? [a-z]+/)
  const notice = page.getByText(/^The file is not kept: .* room for/)
  await expect(notice).toBeVisible()
  await expect(page.getByText('It is kept.')).toBeHidden()

  // There is room, until another page of the origin has used it up.
  await page.reload()
  await opened(page)
  await setQuota(1e9)
  const before = await usage()
  site.setBandwidth(400_000)
  await keep.check()
  await complete(page)
  await expect.poll(usage).toBeGreaterThan(before + kPart)
  await setQuota(before + 1000)
  site.setBandwidth(Infinity)
  await expect(finished).toBeVisible()
  await expect(notice).toBeVisible()
  await expect(page.getByText('It is kept.')).toBeHidden()
})

test("the page says that the browser's storage cannot be opened, and models run without it", async ({
  page,
  site,
}) => {
  await page.addInitScript(() => {
    localStorage.setItem('ggufscope.keeps', 'yes')
    // As in private windows of Firefox.
    const refuse = () =>
      Promise.reject(new DOMException('Security error when calling GetDirectory', 'SecurityError'))
    navigator.storage.getDirectory = refuse
  })
  await site.visit(page)
  await expect(
    page.getByText(/The models kept in this browser cannot be listed: .*Security error/),
  ).toBeVisible()
  await page.getByRole('button', { name: 'Open the sample' }).click()
  await opened(page)
  site.add('/closed.gguf', bytesContent(model))
  await site.visit(page, '/closed.gguf', '#run')
  await opened(page)
  await page.getByLabel(/Keep the file in this browser/).click()
  await complete(page)
  await expect(page.getByRole('status').filter({ hasText: /tokens?, .*ms\./ })).toBeVisible()
  await expect(page.getByText(/^The file is not kept: .*Security error/)).toBeVisible()
})

test('the list of kept models follows what other tabs do', async ({ page, site }) => {
  site.add('/tabs.gguf', bytesContent(model))
  await site.visit(page)
  const library = page.getByRole('region', { name: 'Kept models' })
  await expect(library).toHaveCount(0)
  const other = await page.context().newPage()
  await site.visit(other, '/tabs.gguf', '#run')
  await opened(other)
  await other.getByLabel(/Keep the file in this browser/).check()
  await complete(other)
  await expect(library).toContainText('1.46 MB')
  await site.visit(other)
  await other.getByRole('button', { name: 'Remove tabs.gguf' }).click()
  await expect(library).toHaveCount(0)
})
