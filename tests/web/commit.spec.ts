// The panel Edit commits changes to a file on Hugging Face, through its client, to a stand-in hub: first a dry run.
import { commit as firstCommit } from '@huggingface/hub'
import { writeGguf } from '../fixtures/gguf.ts'
import { floatBytes, text } from '../fixtures/models.ts'
import { startCommitHub, type CommitHub } from '../server/commits.ts'
import { violations } from './axe.ts'
import { expect, opened, test, type Page } from './site.ts'

const kToken = 'hf_secretsecretsecret'
const kPath = 'folder/small model.gguf'
const modelOf = (rows: number) =>
  writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['general.name', text('old')],
    ],
    tensors: [{ name: 'x.weight', shape: [1024, rows], type: 'F32', data: floatBytes(1024 * rows, 7) }],
  })
const original = modelOf(8)
const large = modelOf(1536)
const longName = 'a much longer name '.repeat(20)
let hub: CommitHub

async function startEditing(page: Page, url: string, site: { url: string }): Promise<void> {
  await page.goto(site.url)
  await page.getByText('Server and access token').click()
  await page.getByLabel('Server', { exact: true }).fill(hub.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel(/^Address of a GGUF file/).fill(url)
  await page.keyboard.press('Enter')
  await opened(page)
  await page.getByRole('tab', { name: /^Edit/ }).click()
  await page.getByRole('rowheader', { name: 'general.name', exact: true }).click()
  await page.getByRole('region', { name: 'What is to be changed' }).getByLabel('Value').fill(longName)
  await page.getByRole('button', { name: /^Changes and saving/ }).click()
}
const form = (page: Page) => page.getByRole('region', { name: 'Commit to the hub' })
const plan = async (page: Page) => {
  await form(page).getByRole('button', { name: 'Show what a commit would send' }).click()
  await expect(form(page).getByText(/of header would be replaced by .* of tensor data stay/)).toBeVisible()
}
const giveToken = (page: Page, token = kToken) =>
  form(page).getByLabel('Access token that may write').fill(token)
const commit = (page: Page) => form(page).getByRole('button', { name: 'Commit', exact: true }).click()

for (const storage of ['Git LFS', 'Xet'])
  test(`a change is shown, and committed with a token that is kept nowhere: ${storage}`, async ({
    page,
    site,
  }) => {
    const xet = storage === 'Xet'
    const content = xet ? large : original
    hub = await startCommitHub({ id: 'bees/honey', path: kPath, token: kToken, xet, public: true }, content)
    try {
      // The storage knows the file's chunks.
      if (xet)
        await firstCommit({
          hubUrl: hub.url,
          accessToken: kToken,
          repo: 'bees/honey',
          title: 'First',
          operations: [{ operation: 'addOrUpdate', path: kPath, content: new Blob([large.slice()]) }],
        })
      const parentCommit = hub.sha
      hub.commits.length = hub.requests.length = hub.chunkBytes = 0
      await startEditing(page, `${hub.url}/bees/honey/resolve/main/folder/small%20model.gguf`, site)
      await plan(page)
      if (!xet) expect(await violations(page)).toEqual([])
      expect(hub.requests.filter((one) => !one.startsWith('GET /bees/honey/resolve/'))).toEqual([])
      await giveToken(page)
      await form(page).getByLabel('Message of the commit').fill('Name it')
      await commit(page)
      await expect(form(page).getByText(/^Committed, .* sent:/)).toBeVisible()
      await expect(form(page).getByRole('link')).toHaveAttribute(
        'href',
        `${hub.url}/bees/honey/commit/${hub.sha}`,
      )
      expect(hub.commits).toEqual([{ summary: 'Name it', parentCommit, path: kPath, pullRequest: false }])
      // The change counts as saved, and the token is gone from the form; it was never in an address or in the storage.
      await expect(form(page).getByLabel('Access token that may write')).toHaveValue('')
      expect(hub.seen.filter((one) => one.includes(kToken))).toEqual([])
      const kept = await page.evaluate(async () =>
        JSON.stringify([
          { ...localStorage },
          { ...sessionStorage },
          location.href,
          document.cookie,
          await Promise.all(
            (await caches.keys()).map(async (name) =>
              (await (await caches.open(name)).keys()).map(({ url }) => url),
            ),
          ),
        ]),
      )
      expect(kept).not.toContain(kToken)
      if (xet) expect(hub.chunkBytes).toBeLessThan(large.length / 10)
      else {
        const data = Buffer.from(original.subarray(-8 * 1024 * 4))
        expect(hub.content.length).toBeGreaterThan(original.length)
        expect(data.equals(hub.content.subarray(-data.length))).toBe(true)
        expect(Buffer.from(hub.content).includes(longName)).toBe(true)
      }
    } finally {
      await hub.close()
    }
  })

test('a commit is refused for a bad token, for a file that changed, and by the network, and can be cancelled', async ({
  page,
  site,
}) => {
  hub = await startCommitHub({ id: 'bees/honey', path: kPath, token: kToken, public: true }, original)
  try {
    await startEditing(page, `${hub.url}/bees/honey/resolve/main/folder/small%20model.gguf`, site)
    await plan(page)
    const alert = form(page).getByRole('alert')
    await giveToken(page, 'hf_another')
    await commit(page)
    await expect(alert).toContainText('The hub answers 401')
    await expect(alert).not.toContainText('hf_another')
    await giveToken(page)
    for (const status of [403, 409, 412, 503]) {
      hub.refused = { path: '/commit/', status }
      await commit(page)
      await expect(alert).toContainText(`The hub answers ${status}`)
    }
    hub.refused = undefined
    await page.route(/\/commit\/main/, (route) => route.abort())
    await commit(page)
    await expect(alert).toContainText('The hub could not be reached.')
    await page.unrouteAll()

    let release = () => {}
    hub.hold = new Promise((resolve) => (release = resolve))
    await commit(page)
    await expect(form(page).getByText(/^Sending: /)).toBeVisible()
    await form(page).getByRole('button', { name: 'Cancel' }).click()
    await expect(form(page).getByText('The commit was cancelled.')).toBeVisible()
    release()
    hub.hold = undefined
    expect([hub.commits.length, hub.content]).toEqual([0, original])

    // Another version lies on the hub now: what was shown is not committed.
    hub.content = writeGguf({ metadata: [['general.architecture', text('gemma')]], tensors: [] })
    await commit(page)
    await expect(alert).toContainText('is another file now: open it again')
    hub.content = original

    await form(page).getByLabel('Open a pull request').check()
    await form(page).getByRole('button', { name: 'Open the pull request' }).click()
    await expect(form(page).getByRole('link')).toHaveAttribute('href', /discussions\/1$/)
    expect([hub.commits[0]?.pullRequest, hub.content]).toEqual([true, original])
  } finally {
    await hub.close()
  }
})

test('there is no such form for a file of another server, and of this computer', async ({ page, site }) => {
  site.add('/plain.gguf', original)
  await site.visit(page, '/plain.gguf', '#edit/changes')
  await opened(page)
  await expect(page.getByRole('heading', { name: 'Save' })).toBeVisible()
  await expect(form(page)).toHaveCount(0)
})
