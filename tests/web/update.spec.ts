// A newer version of the viewer on the server: an open page tells it and loads it, a page that is already new does not.
import { cp, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { startServer } from '../server/server.ts'
import { violations } from './axe.ts'
import { expect, test } from './site.ts'

test.use({ serviceWorkers: 'allow' })

const dist = join(import.meta.dirname, '../../web/dist')

/** Gives the built viewer in a folder another version: its entry script and its service worker's cache change names. */
async function publish(folder: string, number: number): Promise<string> {
  const page = await readFile(join(folder, 'index.html'), 'utf8')
  const entry = /assets\/(index-[\w-]+\.js)/.exec(page)![1]!
  const name = `index-version${number}.js`
  const assets = (await readdir(join(folder, 'assets'))).map((file) => join('assets', file))
  for (const file of ['index.html', 'service-worker.js', ...assets].filter((one) =>
    /\.(html|js)$/.test(one),
  )) {
    const text = await readFile(join(folder, file), 'utf8')
    const changed = text.replaceAll(entry, name).replace(/'viewer-\w+'/, `'viewer-${number}'`)
    if (changed !== text) await writeFile(join(folder, file), changed)
  }
  await rename(join(folder, 'assets', entry), join(folder, 'assets', name))
  return name
}

const entryOf = (page: Page) => page.locator('script[type=module][src]').first().getAttribute('src')
const check = (page: Page) =>
  page.evaluate(async () => {
    await (await navigator.serviceWorker.getRegistration())!.update()
  })

/** Notes in the page that it asks a service worker whether both are of one version. */
function countQuestions() {
  const post = ServiceWorker.prototype.postMessage
  ServiceWorker.prototype.postMessage = function (this: ServiceWorker, message: { has?: unknown }, ...more) {
    if (message.has) Object.assign(globalThis, { asked: true })
    Reflect.apply(post, this, [message, ...more])
  }
}

/** Waits for an answer of the waiting service worker, which answers in order. */
async function answerAfterOthers() {
  const { port1, port2 } = new MessageChannel()
  const answer = new Promise((done) => (port1.onmessage = done))
  ;(await navigator.serviceWorker.ready).waiting!.postMessage({ has: [] }, [port2])
  await answer
}

test('an open page offers a new version and loads it; a new page offers nothing', async ({
  page,
  context,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'viewer-'))
  await cp(dist, folder, { recursive: true, filter: (path) => !path.startsWith(join(dist, 'docs')) })
  await using server = await startServer({ isolated: true })
  server.mount('/', folder)
  const notice = page.getByText('A new version of the viewer is ready.')
  const caches = () => page.evaluate(async () => (await globalThis.caches.keys()).toSorted())
  try {
    const first = await publish(folder, 1)
    await page.goto(server.url)
    await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    await expect.poll(caches).toEqual(['viewer-1'])
    expect(await entryOf(page)).toContain(first)
    await check(page)
    await expect(notice).toBeHidden()

    const second = await publish(folder, 2)
    await check(page)
    await expect(notice).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Later' }).click()
    await expect(notice).toBeHidden()
    expect(await entryOf(page)).toContain(first)

    // The page still works with its own files, and another one loads the new version.
    await check(page)
    const other = await context.newPage()
    await other.addInitScript(countQuestions)
    await other.goto(server.url)
    expect(await entryOf(other)).toContain(second)
    await expect(other.getByRole('heading', { level: 1 })).toBeVisible()
    await expect.poll(() => other.evaluate(() => 'asked' in globalThis)).toBe(true)
    await other.evaluate(answerAfterOthers)
    await expect(other.getByText('A new version of the viewer is ready.')).toBeHidden()
    await other.close()

    const third = await publish(folder, 3)
    await check(page)
    await expect(notice).toBeVisible()
    await page.getByRole('button', { name: 'Load the new version' }).click()
    await expect.poll(() => entryOf(page)).toContain(third)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect.poll(caches).toEqual(['viewer-3'])
    await expect(notice).toBeHidden()
    // Without a network, too.
    await context.setOffline(true)
    await page.reload()
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    expect(await entryOf(page)).toContain(third)
  } finally {
    await rm(folder, { recursive: true })
  }
})
