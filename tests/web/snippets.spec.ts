// The documentation's runnable snippets: each runs in its page, can be edited and stopped, and shows what goes wrong.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { everyNth, kAll } from '../fixtures/short.ts'
import { violations } from './axe.ts'
import { expect, test, type Page } from './site.ts'

const site = join(import.meta.dirname, '../../web/dist/docs')
const pages = existsSync(site)
  ? globSync('**/*.html', { cwd: site })
      .filter((page) => readFileSync(join(site, page), 'utf8').includes('class="runnable"'))
      .toSorted()
  : []

const first = (page: Page) => page.locator('.runnable').first()
const output = (page: Page) => first(page).getByRole('log', { name: 'Output' })
const status = (page: Page) => first(page).getByRole('status')

/** Replaces the text in the first snippet's editor. */
async function write(page: Page, text: string): Promise<void> {
  await first(page).getByRole('button', { name: 'Edit' }).click()
  await expect(first(page).getByRole('textbox', { name: 'Snippet' })).toBeFocused()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.insertText(text)
}

test('the quick start and at least five guides have runnable snippets', () => {
  expect(pages).toContain('quick-start.html')
  expect(pages.filter((page) => page.startsWith('guides/')).length).toBeGreaterThanOrEqual(5)
})

// tests/package/readme.test.ts runs them in Node, too.
for (const path of everyNth(pages, 8))
  test(`every runnable snippet runs: ${path}`, async ({ page, site }) => {
    await page.goto(`${site.url}/docs/${path}`)
    const snippets = page.locator('.runnable')
    for (const snippet of await snippets.all()) {
      await snippet.getByRole('button', { name: 'Run' }).click()
      await expect(snippet.getByRole('status')).toHaveText(/^Ended after [\d.]+ s$/)
      await expect(snippet.getByRole('log')).toHaveText(/\S/)
      await expect(snippet.locator('.error')).toHaveCount(0)
    }
  })

test('a recording that a snippet prints can be played', async ({ page, site }) => {
  await page.goto(`${site.url}/docs/guides/speak.html`)
  await first(page).getByRole('button', { name: 'Run' }).click()
  await expect(output(page)).toContainText(/Blob \{ size: \d+, type: 'audio\/wav' \}/)
  const seconds = () =>
    output(page)
      .locator('audio')
      .evaluate((audio: HTMLAudioElement) => audio.duration)
  await expect.poll(seconds).toBeGreaterThan(1)
})

test('nothing of the editor or the package is loaded before a click', async ({ page, site }) => {
  const requests: string[] = []
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  await page.goto(`${site.url}/docs/quick-start.html`)
  await page.waitForLoadState('networkidle')
  const scripts = requests.filter((path) => /editor|\/run\.|worker|package\/|\.gguf$/.test(path))
  expect(scripts).toEqual([])
  await first(page).getByRole('button', { name: 'Run' }).click()
  await expect(output(page)).toContainText('llama')
  expect(requests.some((path) => path.endsWith('/sample.gguf'))).toBe(true)
  expect(requests.filter((path) => path.includes('editor'))).toEqual([])
})

test('a snippet is edited and run by keyboard, and its changes are undone', async ({ page, site }) => {
  await page.goto(`${site.url}/docs/quick-start.html`)
  const edit = first(page).getByRole('button', { name: 'Edit' })
  const run = first(page).getByRole('button', { name: 'Run' })
  await run.focus()
  await page.keyboard.press('Tab')
  await expect(edit).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(first(page).getByRole('textbox', { name: 'Snippet' })).toBeFocused()
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.insertText("\nconsole.log('at the end', new Map([['a', 1n]]), new Float32Array([0.5]))")
  await page.keyboard.press('ControlOrMeta+Enter')
  await expect(status(page)).toHaveText(/^Ended/)
  await expect(output(page)).toContainText('at the end Map(1) [ [ "a", 1n ] ] Float32Array(1) [ 0.5 ]')
  // Tab leaves the editor.
  await page.keyboard.press('Tab')
  await expect(run).toBeFocused()
  await first(page).getByRole('button', { name: 'Undo changes' }).click()
  await run.click()
  await expect(status(page)).toHaveText(/^Ended/)
  await expect(output(page)).not.toContainText('at the end')
})

test('a snippet without end is stopped, and the page stays free', async ({ page, site }) => {
  await page.goto(`${site.url}/docs/quick-start.html`)
  await write(page, "console.log('begun')\nfor (;;) console.log('more')")
  await first(page).getByRole('button', { name: 'Run' }).click()
  await expect(output(page)).toContainText('Only the first 500 lines are shown.')
  await first(page).getByRole('button', { name: 'Stop' }).click()
  await expect(status(page)).toHaveText('Stopped')
  await first(page).getByRole('button', { name: 'Undo changes' }).click()
  await first(page).getByRole('button', { name: 'Run' }).click()
  await expect(status(page)).toHaveText(/^Ended/)
})

for (const [what, code, message] of [
  [
    'of the package',
    "import { open } from 'ggufscope'\nawait open('nothing-here.gguf')",
    /GgufError \[[a-z-]+\]: .*nothing-here/,
  ],
  ['of a program', 'undefined.length', /TypeError: /],
  ['of the language', 'const = 1', /SyntaxError: /],
  ['of a missing module', "import { readFile } from 'node:fs/promises'", /cannot import "node:fs\/promises"/],
  ['of paths', "import { open } from 'ggufscope/node'", /cannot import "ggufscope\/node". It needs Node/],
] as const)
  test(`an error ${what} is shown`, async ({ page, site }) => {
    await page.goto(`${site.url}/docs/quick-start.html`)
    await write(page, code)
    await page.keyboard.press('ControlOrMeta+Enter')
    await expect(status(page)).toHaveText(/^Failed after/)
    await expect(output(page).locator('.error')).toHaveText(message)
  })

for (const [size, viewport] of Object.entries({
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
}))
  for (const colorScheme of ['light', 'dark'] as const) {
    if (!kAll && (size === 'phone') !== (colorScheme === 'dark')) continue
    test.describe(`${size}, ${colorScheme}`, () => {
      test.use({ viewport, colorScheme })
      test('an edited snippet with output, by axe', async ({ page, site }) => {
        await page.goto(`${site.url}/docs/guides/run.html`)
        await write(page, "console.log('a line')\nconsole.warn('a warning')\nnull.length // 1")
        await first(page).getByRole('button', { name: 'Run' }).click()
        await expect(status(page)).toHaveText(/^Failed/)
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
        expect(await violations(page)).toEqual([])
      })
    })
  }

test('types in a snippet are taken out, and the line of an error stays', async ({ page, site }) => {
  await page.goto(`${site.url}/docs/quick-start.html`)
  const typed = `import type { GgufFile } from 'ggufscope'
import { open, type Tensor } from 'ggufscope'
type Name = string
interface Pair<T> {
  readonly one: T
  two?: T
}
const first = <T>(list: readonly T[], at?: number): T => list[at ?? 0]!
class Box { private held: Name = 'held'; readonly size!: number; get(): Name { return this.held } }
const pair = { one: 'a' } as const satisfies Pair<Name>
const table = new Map<string, number>([[pair.one, 1]])
console.log(first<number>([7]), new Box().get(), table.get('a')! + 1, !table.size, 1 < 2)
`
  await write(page, typed)
  await first(page).getByRole('button', { name: 'Run' }).click()
  await expect(status(page)).toHaveText(/^Ended/)
  await expect(output(page)).toContainText('7 held 2 false true')
  await page.keyboard.press('Escape')
  await first(page).getByRole('button', { name: 'Undo changes' }).click()
  await write(page, 'const x: number = 1 +')
  await first(page).getByRole('button', { name: 'Run' }).click()
  await expect(status(page)).toHaveText(/^Failed/)
  await expect(first(page).locator('.error')).toContainText('SyntaxError')
})
