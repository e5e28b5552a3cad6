// The panels with text input: the tokens of a text, and the prompt of a conversation.
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { kWithoutShared, kSharedData } from './files.ts'
import { expect, opened, test } from './site.ts'

/** The number of tokens of a text by the built package, which gets it whole. */
async function wholeCount(text: string): Promise<number> {
  const { open } = (await import('../../wasm/dist/node.js')) as typeof import('ggufscope/node')
  const file = await open(join(import.meta.dirname, '../fixtures/stories.gguf'))
  const amount = (await file.loadTokenizer()).count(text)
  file.close()
  return amount
}

/** Clicks an element as soon as it is in the page, where it may be for less time than between two looks from outside. */
const clickedWhenShown = (page: Page, selector: string) =>
  page.evaluate(
    (selector) =>
      new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          const found = document.querySelector<HTMLElement>(selector)
          if (!found?.checkVisibility()) return
          observer.disconnect()
          found.click()
          resolve()
        })
        observer.observe(document.body, { childList: true, subtree: true })
      }),
    selector,
  )

test('text to tokens', async ({ page, site }) => {
  await site.visit(page, kSample, '#tokenizer')
  const chips = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem')
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  await text.fill('the lighthouse<|end|>')
  const plain = await chips.count()
  expect(plain).toBeGreaterThan(4)
  await page.getByLabel('Read control tokens such as <s> in the text').check()
  await expect(chips.last()).toContainText('<|end|>')
  expect(await chips.count()).toBeLessThan(plain)
  const why = page.getByText('There are more tokens than characters')
  await expect(why).toHaveCount(0)
  // Tokens that share a character stand together, with the character.
  await text.fill('a €, 人')
  const shared = page
    .getByRole('list', { name: 'Tokens' })
    .getByRole('listitem')
    .filter({ hasText: ' in 3 tokens' })
  await expect(shared).toHaveCount(2)
  await expect(shared.first()).toContainText('€ in 3 tokens')
  await expect(shared.first().getByRole('listitem')).toHaveText([/^\\xe2/, /^\\x82/, /^\\xac/])
  await expect(why).toBeVisible()
  await text.fill('')
  await expect(page.getByText('0 tokens')).toBeVisible()
})

test('the vocabulary can be searched by token text, and ids are decoded', async ({ page, site }) => {
  await site.visit(page, kSample, '#tokenizer')
  const grid = page.getByRole('grid', { name: 'Vocabulary' })
  await expect(grid).toBeVisible()
  // The search uses a plain space, not the file's spelling of it.
  await page.getByLabel('Search the vocabulary').fill(' the')
  const first = grid.getByRole('row').nth(1)
  await expect(first).toContainText('·the')
  const id = await first.getByRole('rowheader').textContent()
  await page.getByLabel('Token ids').fill(`[${id}, ${id}]`)
  await expect(page.getByRole('region', { name: 'Text of the ids' })).toHaveText(' the the')
  await page.getByLabel('Token ids').fill('1 x')
  await expect(page.getByText('x is no token id')).toBeVisible()
  await page.getByLabel('Search the vocabulary').fill('')
  await page.getByLabel('Kind of token').selectOption('control')
  await expect(grid.getByRole('row').nth(1)).toContainText('control')
})

test('for a text of over a million characters, the counted part is shown', async ({ page, site }) => {
  await site.visit(page, kSample, '#tokenizer')
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  await text.evaluate((element: HTMLTextAreaElement) => {
    element.value = 'a bee '.repeat(200_000)
    element.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await expect(page.getByText('the first 1,000,000 of 1,200,000 characters')).toBeVisible()
  await page.getByRole('button', { name: 'Count all of it' }).click()
  await expect(page.getByText(/All of it: [\d,]+ tokens/)).toBeVisible()
})

test('the tokens of a file of any size are counted, with progress and cancel', async ({
  page,
  site,
}, info) => {
  await site.visit(page, kSample, '#tokenizer')
  const sentence = (i: number) =>
    `Once upon a time, ${i} bees flew over a lighthouse.\n\tThey said: "naïve 人 🙂"! `
  const text = Array.from({ length: 60_000 }, (_, i) => sentence(i)).join('')
  expect(text.length).toBeGreaterThan(4_000_000)
  const whole = await wholeCount(text)
  const path = info.outputPath('long.txt')
  await writeFile(path, text)
  const result = page.getByText(/^in long\.txt, \d\.\d+ MB/)
  const progress = page.getByRole('progressbar', { name: 'Counting long.txt' })
  const shown = clickedWhenShown(page, 'progress[aria-label="Counting long.txt"]')
  await page.getByLabel('Text file to count').setInputFiles(path)
  await shown
  // The page answers while it counts.
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('bees')
  await expect(page.getByText(/^of 4 characters/)).toBeVisible()
  await expect(result).toBeVisible()
  await expect(page.locator('strong', { hasText: whole.toLocaleString('en') })).toBeVisible()

  // A count takes a second.
  const cancelled = clickedWhenShown(page, 'progress[aria-label="Counting long.txt"] ~ button')
  await page.getByLabel('Text file to count').setInputFiles(path)
  await cancelled
  await expect(progress).toBeHidden()
  await expect(result).toBeHidden()
  await page.getByLabel('Text file to count').setInputFiles({
    name: 'empty.txt',
    mimeType: 'text/plain',
    buffer: Buffer.alloc(0),
  })
  await expect(page.getByText('in empty.txt, 0 B')).toBeVisible()
})

test('the same text with the vocabularies of two models', async ({ page, site }) => {
  site.add(
    '/letters.gguf',
    writeGguf({
      metadata: [
        ['general.architecture', { type: 'string', value: 'llama' }],
        ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
        ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: ['a', 'b', 'ab', 'abab'] }],
        ['tokenizer.ggml.merges', { type: 'array', of: 'string', value: ['a b', 'ab ab'] }],
      ],
      tensors: [],
    }),
  )
  await site.visit(page, kSample, '#tokenizer')
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('ababab')
  const form = page.getByRole('form', { name: 'Compare with another file' })
  await form.getByLabel('Address of the other file').fill('/letters.gguf')
  await form.getByRole('button', { name: 'Open', exact: true }).click()
  const chips = page.getByRole('list', { name: 'Tokens of the other model' }).getByRole('listitem')
  await expect(chips).toHaveText([/^abab\s*3$/, /^ab\s*2$/])
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('ab')
  await expect(chips).toHaveText([/^ab\s*2$/])
  await expect(
    page.getByRole('list', { name: 'Tokens', exact: true }).getByRole('listitem').first(),
  ).toBeVisible()
})

test("the source model's tokenizer.json next to the file's own tokens", async ({ page, site }) => {
  const tokens = ['a', 'b', 'ab']
  const file = writeGguf({
    metadata: [
      ['general.architecture', { type: 'string', value: 'llama' }],
      ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
      ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: tokens }],
      ['tokenizer.ggml.merges', { type: 'array', of: 'string', value: ['a b'] }],
      [
        'tokenizer.huggingface.json',
        { type: 'string', value: '{"model":{"type":"BPE","vocab":{"a":0,"b":1,"Ab":2},"merges":["a b"]}}' },
      ],
    ],
  })
  site.add('/twice.gguf', file)
  await site.visit(page, '/twice.gguf', '#tokenizer')
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText('BPE with 3 tokens, 1 of them different.')).toBeVisible()
  await expect(page.getByText('ab / Ab')).toBeVisible()
})

for (const name of ['llama-spm', 'bert-bge', 'falcon']) {
  test(`the ids of llama.cpp for ${name}`, async ({ page, site }) => {
    test.skip(...kWithoutShared)
    const base = join(kSharedData, `vocab/ggml-vocab-${name}.gguf`)
    const inputs = readFileSync(`${base}.inp`, 'utf8').split('\n__ggml_vocab_test__\n')
    const outputs = readFileSync(`${base}.out`, 'utf8').split('\n')
    // Uses the longest text of the vectors: languages, digits, spaces, emoji.
    const longest = inputs.reduce((at, text, i) => (text.length > (inputs[at] ?? '').length ? i : at), 0)
    await site.visit(page, `/data/vocab/ggml-vocab-${name}.gguf`, '#tokenizer')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(inputs[longest] ?? '')
    await page.getByRole('button', { name: 'Copy ids' }).click()
    const wanted = (outputs[longest] ?? '').trim().split(/\s+/).map(Number)
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(JSON.stringify(wanted))
  })
}

test('typing into 100 KB of text', async ({ page, site }, info) => {
  await site.visit(page, kSample, '#tokenizer')
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  // Pastes the text, because fill() types line by line, which takes seconds even in a plain text field.
  await page.evaluate(
    (long) => navigator.clipboard.writeText(long),
    'The lighthouse keeper counts ships, 17 of them.\n'.repeat(2100),
  )
  await text.press('ControlOrMeta+a')
  await text.press('ControlOrMeta+v')
  const chips = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem')
  await expect(chips).toHaveCount(1500)
  expect(await text.inputValue()).toHaveLength(48 * 2100)
  await text.press('ControlOrMeta+End')
  await page.evaluate(() => {
    const seen = { changes: 0, waits: [] as number[] }
    Object.assign(globalThis, { seen })
    new MutationObserver((records) => (seen.changes += records.length)).observe(
      document.querySelector('[role=tabpanel]')!,
      { childList: true, characterData: true, attributes: true, subtree: true },
    )
    document.querySelector('textarea')!.addEventListener('input', () => {
      const begin = performance.now()
      // After two frames, the typed text is on the screen.
      requestAnimationFrame(() => requestAnimationFrame(() => seen.waits.push(performance.now() - begin)))
    })
  })
  const before = await page.locator('.sum strong').innerText()
  await text.pressSequentially('And one more.', { delay: 30 })
  await expect(page.locator('.sum strong')).not.toHaveText(before)
  const read = () =>
    page.evaluate(() => (globalThis as unknown as { seen: { changes: number; waits: number[] } }).seen)
  await expect.poll(async () => (await read()).waits.length).toBe(13)
  const { changes, waits } = await read()
  info.annotations.push({ type: 'letter to screen, ms', description: waits.map(Math.round).join(' ') })
  // Only the counts change. None of the 1500 chips is rendered again.
  expect(changes).toBeLessThan(13 * 20)
})

test('a conversation through the chat template', async ({ page, site }) => {
  await site.visit(page, kSample, '#template')
  const prompt = page.getByRole('region', { name: 'Prompt' })
  await page.getByLabel('Text of message 1').fill('Be brief.')
  await expect(prompt).toContainText('Be brief.<|end|>')
  await expect(prompt).toContainText('<|assistant|>')
  await page.getByLabel('Add the beginning of the answer').uncheck()
  await expect(prompt).not.toContainText('<|assistant|>')
  await page.getByRole('button', { name: 'Remove message 1' }).click()
  await expect(prompt).not.toContainText('<|system|>')
})

test('what becomes of a system message without a role is said', async ({ page, site }) => {
  const { metadata = [], ...rest } = smallModel()
  const note = page.getByRole('note')
  for (const [name, value, said] of [
    ['user', '{% for m in messages %}[{{ m.role[:1] }}]{{ m.content }}{% endfor %}', ''],
    [
      'turn',
      "{% for m in messages %}[{{ 'model' if m.role == 'assistant' else 'user' }}]{{ m.content }}{% endfor %}",
      'The template makes a user message of the system message.',
    ],
    [
      'drop',
      "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}",
      'The template leaves the system message out.',
    ],
  ] as const) {
    const template = ['tokenizer.chat_template', { type: 'string', value }] as const
    site.add(`/${name}.gguf`, writeGguf({ ...rest, metadata: [...metadata, template] }))
    await site.visit(page, `/${name}.gguf`, '#template')
    await expect(page.getByRole('region', { name: 'Prompt' })).toContainText('How many ships')
    await expect(note.filter({ hasText: 'the system message' })).toHaveText(said === '' ? [] : [said])
  }
})

test('templates that do not work say so, with line and column', async ({ page, site }) => {
  const { metadata = [], ...rest } = smallModel()
  for (const [name, value, place] of [
    ['endless', '{% for i in range(1000000000) %}{{ i }}{% endfor %}', /line 1, column \d+/],
    ['unclosed', 'Hello\n{% if messages %}', /line 2, column 18/],
    ['ollama', 'Hi\n{{- if .System }}{{ .System }}{{ end }}', /line 2, column \d+: this is a Go template/],
    ['refusing', '\n\n  {{ raise_exception("no such role") }}', /line 3, column 21: no such role/],
  ] as const) {
    const template = ['tokenizer.chat_template', { type: 'string', value }] as const
    site.add(`/${name}.gguf`, writeGguf({ ...rest, metadata: [...metadata, template] }))
    await site.visit(page, `/${name}.gguf`, '#template')
    // The error stands at its line of the source, and once.
    const line = /line (\d)/.exec(String(place))![1]!
    await expect(page.getByRole('tabpanel').getByRole('alert')).toHaveText(
      `The template fails at line ${line}.`,
    )
    await expect(page.locator('#panel-template .bad')).toHaveAttribute('data-number', line)
    await expect(page.locator('#panel-template .bad + .message')).toContainText(place)
    await site.visit(page, `/${name}.gguf`, '#findings')
    await expect(page.locator('.findings')).toContainText('template-error')
    await expect(page.locator('.findings')).toContainText(place)
  }
  await site.visit(page, '/unclosed.gguf', `#edit/${encodeURIComponent('keys/tokenizer.chat_template')}`)
  await expect(page.locator('#panel-edit .bad')).toHaveText('{% if messages %}')
  site.add('/none.gguf', writeGguf({ ...rest, metadata }))
  await site.visit(page, '/none.gguf', '#template')
  await expect(
    page.getByRole('note').filter({ hasText: 'has no chat template: Run continues' }),
  ).toBeVisible()
  const empty = ['tokenizer.chat_template', { type: 'string', value: '' }] as const
  site.add('/empty.gguf', writeGguf({ ...rest, metadata: [...metadata, empty] }))
  await site.visit(page, '/empty.gguf', '#template')
  await expect(page.getByRole('note').filter({ hasText: 'The chat template is empty' })).toBeVisible()
  await page.getByRole('button', { name: 'Edit the template' }).click()
  await expect(page.getByRole('heading', { name: 'tokenizer.chat_template' })).toBeVisible()
})

test('source, messages and prompt stand side by side, control tokens as chips', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await site.visit(page, kSample, '#template')
  const source = page.getByRole('region', { name: 'Source of the template' })
  const prompt = page.getByRole('region', { name: 'Prompt' })
  await expect(source.locator('.word').first()).toHaveText('for')
  await expect(prompt.locator('.chip').first()).toHaveText('<|begin|>')
  await expect(prompt.locator('.chip').last()).toHaveText('<|assistant|>')
  const places = await Promise.all(
    [source, page.getByLabel('Text of message 1'), prompt].map((one) => one.boundingBox()),
  )
  const [first, second, third] = places.map((box) => box!.x)
  expect(first).toBeLessThan(second!)
  expect(second).toBeLessThan(third!)
  const why = page.getByText('There are more tokens than characters')
  await expect(why).toHaveCount(0)
  await page.getByLabel('Text of message 1').fill('人'.repeat(80))
  await expect(why).toBeVisible()
  // What only looks like a control token is no chip.
  await page.getByLabel('Text of message 1').fill('<|nothing|>')
  await expect(prompt).toContainText('<|nothing|>')
  await expect(prompt.locator('.chip', { hasText: 'nothing' })).toHaveCount(0)
})

test('the template differs from that of another file by lines', async ({ page, site }) => {
  const { metadata = [], ...rest } = smallModel()
  for (const [name, value] of [
    ['one', 'a\nb\nc\nd\ne'],
    ['two', 'a\nB\nc\nd\ne\nf'],
  ] as const) {
    const template = ['tokenizer.chat_template', { type: 'string', value }] as const
    site.add(`/${name}.gguf`, writeGguf({ ...rest, metadata: [...metadata, template] }))
  }
  await site.visit(page, '/two.gguf', '#template')
  await page.getByText('Difference to another file’s template').click()
  await page.getByLabel('Address of the other file').fill('/one.gguf')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  const difference = page.getByRole('region', { name: 'Difference of the templates' })
  await expect(difference.locator('del')).toHaveText(['b'])
  await expect(difference.locator('ins')).toHaveText(['B', 'f'])
  await expect(difference.getByText(/^From line/)).toHaveText(['From line 2 on', 'From line 6 on'])
  await page.getByRole('button', { name: 'Close it' }).click()
  await expect(difference).toHaveCount(0)
})

test('a token has one colour, and its neighbour another', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await site.visit(page, kSample, '#tokenizer')
  await page.getByLabel('Text', { exact: true }).fill('a time there was a time')
  const chips = page.getByRole('list', { name: 'Tokens', exact: true }).getByRole('listitem')
  await expect(chips.last()).toContainText('time')
  const shown = await chips.evaluateAll((all) =>
    all.map((one) => [one.textContent, getComputedStyle(one).backgroundColor] as const),
  )
  const same = shown.filter(([text]) => text.includes('time')).map(([, colour]) => colour)
  expect(same.length).toBeGreaterThan(1)
  expect(new Set(same).size).toBe(1)
  for (const [i, [text, colour]] of shown.slice(1).entries())
    if (text !== shown[i]![0]) expect(colour).not.toBe(shown[i]![1])
})

test('an empty template is ChatML, and the panel says so', async ({ page, site }) => {
  const { metadata = [], ...rest } = smallModel()
  const template = ['tokenizer.chat_template', { type: 'string', value: ' ' }] as const
  site.add('/empty.gguf', writeGguf({ ...rest, metadata: [...metadata, template] }))
  await site.visit(page, '/empty.gguf', '#template')
  await expect(page.getByRole('note')).toContainText('The chat template is empty: the format chatml is used.')
  await expect(page.getByRole('tabpanel')).toContainText('<|im_start|>user')
})

test('a template that does not end soon is stopped soon', async ({ page, site }) => {
  const loop = '{% for i in range(100000) %}'
  const value = `${loop}${loop}{% set a = i %}{% endfor %}{% endfor %}`
  const { metadata = [], ...rest } = smallModel()
  const template = ['tokenizer.chat_template', { type: 'string', value }] as const
  site.add('/slow.gguf', writeGguf({ ...rest, metadata: [...metadata, template] }))
  await site.visit(page, '/slow.gguf', '#template')
  // Without a limit of steps, the template would block the page for an hour.
  await expect(page.locator('#panel-template .message')).toContainText('takes too long')
})

test('files without a vocabulary have no such panels', async ({ page, site }) => {
  site.add('/small.gguf', writeGguf(smallModel()))
  await site.visit(page, '/small.gguf', '#tokenizer')
  await opened(page)
  await expect(page.getByRole('tab', { name: 'Tokenizer' })).toHaveCount(0)
  await expect(page.getByRole('tab', { name: 'Overview' })).toHaveAttribute('aria-selected', 'true')
})
