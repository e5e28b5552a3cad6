// The panel Edit: changes to keys and tensors, their effect on findings and templates, and the ways to save them.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, open as openPath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LazyArray } from 'ggufscope'
import { writeGguf, writeHeader, type Model } from '../fixtures/gguf.ts'
import { array, hugeModel, shards, text, u32 } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import { jinjaPieces } from '../../web/src/lib/edit/jinja-colours.ts'
import { violations } from './axe.ts'
import { downloaded, expect, opened, openLocal, test, type Page } from './site.ts'

const dist = join(import.meta.dirname, '../../wasm/dist')
const kCli = join(dist, 'cli.js')
const { open } = (await import(pathToFileURL(join(dist, 'index.js')).href)) as typeof import('ggufscope')
const kTemplate = '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}'

const model: Model = {
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('before')],
    ['general.version', u32(1)],
    ['my.byte', { type: 'u8', value: 7 }],
    ['my.list', array('string', ['a', 'b', 'c', 'd'])],
    ['my.old', text('gone')],
    ['tokenizer.chat_template', text(kTemplate)],
  ],
  tensors: [
    { name: 'one', shape: [64], type: 'F32', data: new Uint8Array(256).fill(7) },
    { name: 'two', shape: [64], type: 'F32', data: new Uint8Array(256).fill(9) },
  ],
}

const choose = (page: Page, name: string) => page.getByRole('rowheader', { name, exact: true }).click()
const value = (page: Page) => page.getByRole('region', { name: 'What is to be changed' }).getByLabel('Value')
const changesOf = (page: Page) => page.getByRole('button', { name: /^Changes and saving/ }).click()

async function editLocal(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  await openLocal(page, name, bytes)
  await page.getByRole('tab', { name: /^Edit/ }).click()
}

test('a local file: keys and tensors are changed, shown before and after, undone, and saved', async ({
  page,
  site,
}) => {
  await site.visit(page)
  await editLocal(page, 'mine.gguf', writeGguf(model))
  const heads = page.getByRole('grid', { name: 'Keys to change' }).getByRole('columnheader')
  await expect(heads).toHaveText(['Key', 'Type', 'Value'])

  await choose(page, 'general.name')
  await value(page).fill('after')
  await expect(heads).toHaveText(['Key', 'State', 'Type', 'Value'])
  // A value that the type cannot hold is refused, and the last valid one stays.
  await choose(page, 'my.byte')
  await value(page).fill('25')
  await value(page).fill('256')
  await expect(page.getByText('my.byte: 256 is no u8.')).toBeVisible()
  await expect(value(page)).toHaveAttribute('aria-invalid', 'true')
  await choose(page, 'my.list')
  const entries = page.getByRole('grid', { name: 'Entries of my.list' })
  await entries.getByText('b', { exact: true }).click()
  await page.getByLabel('Entry 1', { exact: true }).fill('B')
  await page.getByLabel('Entry 1', { exact: true }).press('Enter')
  await entries.getByText('d', { exact: true }).click()
  await page.getByRole('button', { name: 'Remove it' }).click()
  await page.getByLabel('New entry').fill('e')
  await page.getByRole('button', { name: 'Add at the end' }).click()
  await expect(page.getByText('4 entries of string.')).toBeVisible()
  await choose(page, 'my.old')
  await page.getByRole('button', { name: 'Remove the key' }).click()
  await page.getByRole('button', { name: 'Add a key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('llama.rope.freq_base')
  await value(page).fill('10000')
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Add the key' }).click()
  await expect(page.getByRole('combobox', { name: 'Type' })).toHaveValue('f32')

  // The template is rendered while it is typed.
  await choose(page, 'tokenizer.chat_template')
  await value(page).fill(kTemplate.replace('{{ m.role }}:', '<{{ m.role }}>'))
  await expect(page.getByRole('region', { name: 'Prompt' }).getByText('<user> How many ships')).toBeVisible()

  await page.getByRole('button', { name: 'Tensors', exact: true }).click()
  await choose(page, 'one')
  await page.getByLabel('Name', { exact: true }).fill('two')
  await page.getByLabel('Name', { exact: true }).press('Enter')
  await expect(page.getByText('There is a tensor "two" already.')).toBeVisible()
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Name', { exact: true }).fill('uno')
  await page.getByLabel('Name', { exact: true }).press('Enter')

  // Changes are kept while another panel is shown.
  await page.getByRole('tab', { name: /^Overview/ }).click()
  await page.getByRole('tab', { name: 'Edit 7' }).click()
  await changesOf(page)
  const list = page.getByRole('region', { name: 'Changes' })
  await expect(list.getByText('before', { exact: true })).toBeVisible()
  await expect(list.getByText('after', { exact: true })).toBeVisible()
  expect(await violations(page)).toEqual([])
  await list.getByRole('button', { name: 'Undo: Tensor, new name, one' }).click()
  await expect(list.getByRole('button', { name: /^Undo: / })).toHaveCount(6)

  // Steps back and forth: by keys outside fields, and by buttons. What was typed in a field is one step.
  const amount = (n: number) => expect(list.getByRole('button', { name: /^Undo: / })).toHaveCount(n)
  const [back, forward] = ['Undo the last change', 'Redo the change'].map((name) =>
    page.getByRole('button', { name }),
  )
  await list.getByRole('heading', { name: 'Changes' }).click()
  await page.keyboard.press('Control+z') // the renamed tensor comes back
  await amount(7)
  for (const n of [6, 5]) {
    await back!.click()
    await amount(n)
  }
  await expect(list.getByText('<{{ m.role }}>')).toHaveCount(0)
  await page.keyboard.press('Control+Shift+Z')
  await forward!.click()
  await amount(7)
  await page.keyboard.press('Control+Shift+z')
  await amount(6)
  await expect(forward!).toBeDisabled()
  await page.getByLabel('Name', { exact: true }).press('Control+z') // a field has its own
  await amount(6)

  await page.getByLabel('Name', { exact: true }).fill('mine.gguf')
  await expect(page.getByText('The open file has this name.')).toBeVisible()
  await page.getByLabel('Name', { exact: true }).fill('other.gguf')
  const saved = await downloaded(page, /^Save the new file/)
  expect(saved.name).toBe('other.gguf')
  using file = await open(saved.bytes)
  const { metadata } = file
  expect(metadata.get('general.name')).toBe('after')
  expect([metadata.type('my.byte'), metadata.get('my.byte')]).toEqual(['u8', 25])
  expect([...(metadata.get('my.list') as LazyArray)]).toEqual(['a', 'B', 'c', 'e'])
  expect(metadata.has('my.old')).toBe(false)
  expect([metadata.type('llama.rope.freq_base'), metadata.get('llama.rope.freq_base')]).toEqual([
    'f32',
    10000,
  ])
  expect(metadata.get('tokenizer.chat_template')).toContain('<{{ m.role }}>')
  expect(file.tensors.map(({ name }) => name)).toEqual(['one', 'two'])
  expect(await file.read('two')).toEqual(new Uint8Array(256).fill(9))
})

test('on a phone, a key of the metadata leads to its change, and from there to saving', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 320, height: 568 })
  await site.visit(page)
  await openLocal(page, 'mine.gguf', writeGguf(model))
  await page.getByRole('tab', { name: /^Metadata/ }).click()
  await choose(page, 'general.name')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'What is to be changed' })
  await expect(form.getByText(/not saved yet/)).toHaveCount(0)
  await form.getByLabel('Value').fill('after')
  await expect(form.getByText('1 change, not saved yet.')).toBeVisible()
  expect(await violations(page)).toEqual([])
  await form.getByRole('button', { name: 'Review and save' }).click()
  // From the list, too.
  await page.getByRole('button', { name: 'Keys', exact: true }).click()
  const changes = page.getByRole('button', { name: 'Changes (1' })
  await expect(changes).toHaveClass(/primary/)
  await changes.click()
  await expect(
    page.getByRole('region', { name: 'Changes' }).getByText('after', { exact: true }),
  ).toBeVisible()
  const { bytes } = await downloaded(page, /^Save the new file/)
  const saved = await open(bytes)
  expect(saved.metadata.get('general.name')).toBe('after')
  saved.close()
  await page.getByRole('button', { name: 'Keys', exact: true }).click()
  await expect(changes).toHaveText('Changes (1, saved)')
  await expect(changes).not.toHaveClass(/primary/)
})

test('tokens are added by form and removed, shown with their rows, and saved', async ({ page, site }) => {
  const before = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  using old = await open(before)
  const { size } = old.tokenizer()
  await site.visit(page)
  await editLocal(page, 'mine.gguf', before)
  await page.getByRole('button', { name: 'Tokens', exact: true }).click()

  const add = page.getByRole('region', { name: 'Add a token' })
  const type = add.getByRole('combobox', { name: 'Type' })
  await add.getByLabel('Text').fill('<|ship|>')
  await type.selectOption('control')
  await add.getByRole('button', { name: 'Add the token' }).click()
  await expect(add.getByLabel('Text')).toHaveValue('')
  await add.getByLabel('Text').fill('<|ship|>')
  await add.getByRole('button', { name: 'Add the token' }).click()
  await expect(add.getByText('There is a token "<|ship|>" already.')).toBeVisible()
  for (const text of ['oops', 'light house']) {
    await add.getByLabel('Text').fill(text)
    await type.selectOption('user-defined')
    await add.getByRole('button', { name: 'Add the token' }).click()
  }
  await add.getByRole('button', { name: 'Take back: oops' }).click()
  await expect(add.getByRole('list', { name: 'Added tokens' }).getByRole('listitem')).toHaveCount(2)

  // The end of text is in use, and stays.
  const remove = page.getByRole('region', { name: 'Remove tokens' })
  const end = old.tokenizer().special.eos!
  const grid = remove.getByRole('grid', { name: 'Vocabulary' })
  await remove.getByLabel('Search the vocabulary').fill(old.tokenizer().tokens.at(end)!.text)
  await grid.getByRole('rowheader', { name: String(end), exact: true }).click()
  await remove.getByRole('button', { name: 'Remove the token' }).click()
  await expect(remove.getByRole('alert')).toContainText('in use as tokenizer.ggml.eos_token_id')
  await remove.getByLabel('Search the vocabulary').fill('zebra')
  await expect(grid.getByText('No token contains that.')).toBeVisible()
  await remove.getByLabel('Search the vocabulary').fill(' little')
  const word = old.tokenizer().search({ text: ' little' })[0]!
  await grid.getByRole('rowheader', { name: String(word), exact: true }).click()
  await remove.getByRole('button', { name: 'Remove the token' }).click()
  await expect(remove.getByRole('list', { name: 'Removed tokens' }).getByRole('listitem')).toHaveCount(1)

  await changesOf(page)
  const list = page.getByRole('region', { name: 'Changes' })
  await expect(list.getByText('light house')).toBeVisible()
  await expect(list.getByText('token_embd.weight')).toBeVisible()
  await expect(list.getByText(`256 × ${size + 1}`, { exact: true })).toBeVisible()
  await expect(page.getByText(/^The checks find nothing to report .*, as before\./)).toBeVisible()
  const saved = await downloaded(page, /^Save the new file/)
  using file = await open(saved.bytes)
  const tokenizer = file.tokenizer()
  expect(tokenizer.size).toBe(size + 1)
  expect([tokenizer.tokens.at(size - 1)?.text, tokenizer.tokens.at(size)?.text]).toEqual([
    '<|ship|>',
    'light house',
  ])
  expect(tokenizer.encode('a light house')).toContain(size)
  expect(tokenizer.find(old.tokenizer().tokens.at(word)!.text)).toBeUndefined()
  expect(file.tensor('token_embd.weight')?.shape[1]).toBe(size + 1)

  // Undone, the vocabulary is the old one.
  await list.getByRole('button', { name: 'Undo: Tokens added, Vocabulary' }).click()
  await list.getByRole('button', { name: 'Undo: Tokens removed, Vocabulary' }).click()
  await expect(list.getByText('Nothing is changed yet.')).toBeVisible()
})

test('a split model is saved as one file, or only its first shard', async ({ page, site }) => {
  await site.visit(page)
  const parts = shards(model, 2, 'split')
  await page.getByLabel('Choose GGUF files').setInputFiles(
    parts.map(({ name, model: part }) => {
      return { name, mimeType: 'application/octet-stream', buffer: Buffer.from(writeGguf(part)) }
    }),
  )
  await opened(page)
  await page.getByRole('tab', { name: /^Edit/ }).click()
  await choose(page, 'general.name')
  await value(page).fill('after')
  await changesOf(page)
  const whole = await downloaded(page, /^Save the new file/)
  expect(whole.name).toBe('split-edited.gguf')
  // What is shown while it saves moves the rest.
  await expect(page.getByText('The browser saves it as a download.')).toBeVisible()
  await page.getByRole('checkbox', { name: /^Only the first file/ }).check()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(parts[0]!.name)
  const first = await downloaded(page, /^Save the new file/)
  using one = await open(whole.bytes)
  expect([one.metadata.get('general.name'), one.tensors.length]).toEqual(['after', 2])
  expect(one.metadata.has('split.count')).toBe(false)
  const files = [first.bytes, writeGguf(parts[1]!.model)].map(
    (bytes, i) => new File([new Uint8Array(bytes)], parts[i]!.name),
  )
  using set = await open(files)
  expect([set.metadata.get('general.name'), set.tensors.length]).toEqual(['after', 2])
  expect(await set.read('two')).toEqual(await one.read('two'))
  await expect(page.getByRole('button', { name: 'Changes and saving (1, saved)' })).toBeVisible()
  // The first file opens only beside the others.
  const reopen = page.getByRole('button', { name: 'Open the new file' })
  await expect(reopen).toHaveCount(0)
  await page.getByRole('checkbox', { name: /^Only the first file/ }).uncheck()
  await downloaded(page, /^Save the new file/)
  await reopen.click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('split-edited.gguf')
})

test('a sparse file of 40 GB on disk is changed and saved without being read', async ({ page, site }) => {
  const { header, size, offsets } = writeHeader(hugeModel())
  expect(size).toBeGreaterThan(39e9)
  const folder = await mkdtemp(join(tmpdir(), 'ggufscope-'))
  const path = join(folder, 'huge.gguf')
  const last = Buffer.from('the last bytes of the file')
  try {
    const disk = await openPath(path, 'w')
    await disk.write(header)
    await disk.truncate(size)
    await disk.write(last, 0, last.length, size - last.length)
    await disk.close()
    // The browser would write 40 GB into the folder of downloads. Instead, the page keeps what it gives to the browser.
    await page.addInitScript(() => {
      const { createObjectURL } = URL
      URL.createObjectURL = (blob: Blob) => createObjectURL(Object.assign(globalThis, { saved: blob }).saved)
      HTMLAnchorElement.prototype.click = () => {}
    })
    await site.visit(page)
    const memory = () =>
      page.evaluate(() => {
        ;(globalThis as unknown as { gc: () => void }).gc()
        return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize
      })
    await page.getByLabel('Choose GGUF files').setInputFiles(path)
    await opened(page)
    const before = await memory()
    await page.getByRole('tab', { name: /^Edit/ }).click()
    await choose(page, 'general.name')
    await value(page).fill('larger')
    await changesOf(page)
    await page.getByRole('button', { name: /^Save the new file/ }).click()
    await expect(page.getByText('The browser saves it as a download.')).toBeVisible()
    const told = await page.evaluate(async () => {
      const { saved } = globalThis as unknown as { saved: Blob }
      const bytes = async (part: Blob) => [...new Uint8Array(await part.arrayBuffer())]
      return {
        size: saved.size,
        first: await bytes(saved.slice(0, 400_000)),
        end: await saved.slice(-26).text(),
      }
    })
    const first = Uint8Array.from(told.first)
    const read = async (offset: number, length: number) => first.slice(offset, offset + length)
    using file = await open({ size: told.size, name: 'new.gguf', read })
    expect(file.metadata.get('general.name')).toBe('larger')
    expect(file.tensors.length).toBe(offsets.length)
    expect(told.size - file.dataOffset).toBe(size - header.length)
    expect(told.end).toBe(last.toString())
    expect((await memory()) - before).toBeLessThan(40e6)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a finding is fixed with one click, and leaving without saving asks', async ({ page, site }) => {
  const odd = { ...model, metadata: [...model.metadata!, ['llama.block_count', u32(1)] as const] }
  await site.visit(page)
  await editLocal(page, 'odd.gguf', writeGguf(odd))
  await page.getByRole('tab', { name: /^Findings/ }).click()
  const rule = page.getByRole('region', { name: /value-type/ })
  await expect(rule.getByText('Readers may ignore or refuse it.')).toBeVisible()
  await rule.getByRole('button', { name: /^at byte/ }).click()
  await expect(rule.locator('mark').first()).toHaveText('67') // "g" of general.version
  expect(await violations(page)).toEqual([])
  await rule.getByRole('button', { name: 'Store it as string' }).click()
  await rule.getByRole('button', { name: 'See the changes' }).click()
  await expect(page.getByText(/The checks find \d+ things? to report .*, and \d+ without\./)).toBeVisible()
  const changes = page.getByRole('region', { name: 'Changes' })
  await expect(changes.getByRole('button', { name: 'See the findings' })).toBeVisible()
  // What a change brings is named where it was made.
  await page.getByRole('button', { name: 'Keys', exact: true }).click()
  await choose(page, 'general.architecture')
  await value(page).fill('nonsense')
  await changesOf(page)
  const fresh = changes.getByRole('list', { name: 'New with the changes' })
  await expect(fresh.getByRole('link', { name: 'architecture-unknown' })).toBeVisible()
  // One of them is an error.
  await expect(page.getByRole('button', { name: /^Save anyway/ })).toBeVisible()
  await changes.getByRole('button', { name: 'Undo: Value, general.architecture' }).click()
  await expect(fresh).toHaveCount(0)
  await expect(page.getByRole('button', { name: /^Save the new file/ })).toBeVisible()

  const asked: string[] = []
  page.on('dialog', async (dialog) => {
    asked.push(dialog.message())
    await (asked.length === 1 ? dialog.dismiss() : dialog.accept())
  })
  await page.getByRole('button', { name: 'ggufscope: start page' }).click()
  await opened(page)
  await expect(page.getByRole('tab', { name: 'Edit 1' })).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('tablist')).toBeHidden()
  expect(asked).toHaveLength(2)
  expect(asked[0]).toContain('not saved')

  // The tab keeps the changes of the file.
  await editLocal(page, 'odd.gguf', writeGguf(odd))
  await expect(page.getByText('are here again')).toBeVisible()
  await expect(page.getByRole('tab', { name: 'Edit 1' })).toBeVisible()
  await page.getByRole('button', { name: 'Discard them' }).click()
  await expect(page.getByText('are here again')).toHaveCount(0)
  await expect(page.getByRole('columnheader', { name: 'State' })).toHaveCount(0)
  await expect(page.getByRole('columnheader', { name: 'Type' })).toBeVisible()
})

test('a remote file: chunks are written to the disk, and the command line applies the changes', async ({
  page,
  site,
}) => {
  const bytes = writeGguf(model)
  site.add('/far.gguf', bytes)
  await site.visit(page, '/far.gguf', '#edit/keys%2Fgeneral.name')
  await value(page).fill("it's new")
  await changesOf(page)
  const changes = await downloaded(page, 'Save the changes alone')
  const saved = await downloaded(page, /^Save the new file/)
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-edit-'))
  try {
    writeFileSync(join(folder, 'far.gguf'), bytes)
    writeFileSync(join(folder, changes.name), changes.bytes)
    execFileSync(
      process.execPath,
      [kCli, 'set', 'far.gguf', '--changes', changes.name, '--output', 'new.gguf'],
      {
        cwd: folder,
      },
    )
    expect(readFileSync(join(folder, 'new.gguf')).equals(saved.bytes)).toBe(true)
  } finally {
    rmSync(folder, { recursive: true })
  }

  // 80 MB exceed the limit for saving from memory. The browser's private file system replaces the disk.
  const large = writeHeader({ ...model, tensors: [{ name: 'big', shape: [1024, 20_000], type: 'F32' }] })
  site.add('/large.gguf', sparseContent(large.header, large.size))
  await page.addInitScript(() => {
    Object.assign(window, {
      showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) =>
        (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true }),
    })
  })
  await site.visit(page, '/large.gguf', '#edit/keys%2Fgeneral.name')
  await value(page).fill('large')
  await changesOf(page)
  await page.getByRole('button', { name: /^Save the new file/ }).click()
  await expect(page.getByText('Saved as large-edited.gguf.')).toBeVisible()
  const size = await page.evaluate(
    async () =>
      (await (await (await navigator.storage.getDirectory()).getFileHandle('large-edited.gguf')).getFile())
        .size,
  )
  expect(Math.abs(size - large.size)).toBeLessThan(100)
})

test('without a way to the disk a large remote file offers its changes alone', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  const large = writeHeader(hugeModel(40e9))
  site.add('/huge.gguf', sparseContent(large.header, large.size))
  await page.addInitScript(() => {
    Object.assign(window, { showSaveFilePicker: undefined })
    Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })
  })
  await site.visit(page, '/huge.gguf', '#edit/keys%2Fgeneral.name')
  await value(page).fill('larger')
  await changesOf(page)
  await expect(page.getByText(/cannot save a file of [34]\d(\.\d)? GB from a server/)).toBeVisible()
  await expect(page.getByRole('button', { name: /^Save the new file/ })).toHaveCount(0)
  await expect(page.getByText(/^npx ggufscope set .*huge\.gguf --changes/)).toBeVisible()
})

test('the pieces of a template are its text, coloured as Jinja reads it', async ({ page, site }) => {
  const kindsOf = (template: string) => jinjaPieces(template).map(({ kind, text }) => `${kind} ${text}`)
  expect(kindsOf("a{%- if x == '%}' and 1.5 %}b{# {{ #}{{ y|trim }}")).toEqual(
    // prettier-ignore
    [
      'text a', 'mark {%-', 'text  ', 'word if', 'text  ', 'name x', 'text  == ', "string '%}'", 'text  ', 'word and',
      'text  ', 'number 1.5', 'text  ', 'mark %}', 'text b', 'comment {# {{ #}', 'mark {{', 'text  ', 'name y', 'text |',
      'name trim', 'text  ', 'mark }}',
    ],
  )
  for (const odd of ['', '{{', "{{ 'open", '{# open', '{%-%}', '}} %}', '{{ "\\', '{{ 1 - -2 } % }'])
    expect(
      jinjaPieces(odd)
        .map(({ text }) => text)
        .join(''),
    ).toBe(odd)

  await site.visit(page)
  await editLocal(page, 'mine.gguf', writeGguf(model))
  await choose(page, 'tokenizer.chat_template')
  const coloured = page.getByRole('region', { name: 'What is to be changed' }).locator('pre').first()
  await expect(coloured.locator('.word').first()).toHaveText('for')
  // Both layers break lines at the same places.
  await value(page).fill(`${kTemplate}{% set x = '${'long '.repeat(400)}' %}`)
  await expect(coloured.locator('.string')).toContainText('long')
  const [under, over] = await Promise.all(
    [coloured, value(page)].map((one) =>
      one.evaluate((element) => [element.scrollHeight, element.clientWidth]),
    ),
  )
  expect(under).toEqual(over)
})
