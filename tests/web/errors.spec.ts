// Each way in which opening can fail has its own message, which says what to do.
import { writeGguf } from '../fixtures/gguf.ts'
import { shards, smallModel } from '../fixtures/models.ts'
import type { Faults } from '../server/faults.ts'
import { expect, opened, rowCount, test } from './site.ts'

const good = writeGguf(smallModel())
const text = (value: string) => new TextEncoder().encode(value)

const broken: [code: string, content: Uint8Array, faults: Faults][] = [
  ['no-such-file', good, { status: 404 }],
  ['unauthorized', good, { status: 401 }],
  ['forbidden', good, { status: 403 }],
  ['server-error', good, { status: 501 }],
  ['html', good, { html: true }],
  ['truncated', good.subarray(0, 100), {}],
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
    await expect(alert.getByRole('button', { name: 'Try again' })).toBeVisible()
    if (code === 'truncated') await expect(alert).toContainText(/At byte ?\d+/)
  })
}

test('a server that other pages may not read', async ({ page, site }) => {
  site.add('/closed.gguf', good)
  const elsewhere = `${site.url.replace('127.0.0.1', 'localhost')}/closed.gguf?cors=off`
  await site.visit(page, elsewhere)
  await expect(page.getByRole('alert')).toContainText('CORS')
})

test('a failure that has passed: try again opens the file', async ({ page, site }) => {
  site.add('/later.gguf', good)
  site.plan('/later.gguf', { status: 404, times: 1 })
  await site.visit(page, '/later.gguf')
  await page.getByRole('button', { name: 'Try again' }).click()
  await opened(page)
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
