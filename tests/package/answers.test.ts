// The texts of the viewer's panel Run: a long answer in pieces that are parsed one by one, and the text that a model continues.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Marked } from 'marked'
import { continued } from '../../web/src/lib/run/continued.ts'
import { piecesOf } from '../../web/src/lib/run/pieces.ts'

/** The HTML of a text, and the largest number of marks in one of its pieces. */
function drawn(text: string) {
  const markdown = new Marked({ gfm: true, breaks: true })
  const pieces = piecesOf(markdown, text)
  const html = pieces.map(({ tokens }) => markdown.parser(tokens())).join('')
  return { html, most: Math.max(...pieces.map(({ raw }) => raw.match(/[*_\\]/g)?.length ?? 0)) }
}

for (const [name, text, tag, count] of [
  ['emphases in one line', '*a* '.repeat(30_000), '<em>', 30_000],
  ['emphases in many lines', '*a* b\n'.repeat(30_000), '<em>', 30_000],
  ['formulas without end', '\\[ '.repeat(20_000), '[', 20_000],
  ['items of one list', '- **a** is an item of one list\n'.repeat(400), '<li><strong>', 400],
  ['rows of tables', '| a | b |\n|---|---|\n| *x* | y |\n\n'.repeat(400), '<td><em>', 400],
  ['words of one line', 'word '.repeat(20_000), 'word', 20_000],
] as const)
  test(`a long answer is whole and in small pieces: ${name}`, () => {
    const { html, most } = drawn(text)
    // A mark that a cut separates from its other one stays as it is.
    assert.ok(html.split(tag).length - 1 >= count * 0.99, `${html.split(tag).length - 1}`)
    assert.ok(tag.startsWith('<li>') || most <= 300, `${most} marks`)
  })

test('what is written after a text of the model begins a line', () => {
  const texts = [
    { role: 'user', text: 'Once' },
    { role: 'assistant', text: ' upon a time.' },
    { role: 'user', text: 'The owl' },
    { role: 'assistant', text: ' sleeps. ' },
    { role: 'user', text: 'By day' },
  ]
  assert.equal(continued(texts), 'Once upon a time.\nThe owl sleeps. By day')
})
