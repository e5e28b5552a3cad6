// Compares two files.
import type { ComparedValue, Comparison, KeyDifference, TensorComparison } from '../api/compare.js'
import { compare } from '../file/compare.js'
import { comparisonMarkdown } from './compare-markdown.js'
import { UsageError, type Command, type Context } from './command.js'
import type { MetadataValue } from '../api/metadata.js'
import {
  counted,
  grouped,
  jsonScalar,
  printTable,
  short,
  shorten,
  shortenNames,
  valueText,
  visible,
} from './format.js'

const kSigns = { removed: '-', added: '+', changed: '~', unread: '?' } as const

// Number of elements that are shown before and after the first one that differs.
const kAround = 2

/** The elements around an index: "[281] "a", "b", > "c", ..." */
function around(value: MetadataValue, index: number, room: number): string {
  if (typeof value !== 'object') return valueText(value, room)
  const from = Math.max(0, index - kAround)
  const shown = value.slice(from, index + kAround + 1).map((element, i) => {
    const text =
      typeof element === 'object' ? valueText(element, 40) : shorten(JSON.stringify(jsonScalar(element)), 40)
    return from + i === index ? `> ${text}` : text
  })
  if (index >= value.length) shown.push('> (no element)')
  const end = index + kAround + 1 < value.length ? ', ...' : ''
  return shorten(visible(`${from > 0 ? '..., ' : ''}${shown.join(', ')}${end}`), room)
}

function keyLines({ key, kind, a, b, index, count }: KeyDifference, room: number): string[] {
  const text = (one: ComparedValue | undefined) =>
    one === undefined ? '' : `${one.type} ${valueText(one.value, room)}`
  if (kind === 'unread') return [`? ${visible(key)}: not read (of the same type and length)`]
  if (kind !== 'changed') return [`${kSigns[kind]} ${visible(key)}: ${text(a ?? b)}`]
  if (index === undefined || !a || !b) return [`~ ${visible(key)}`, `    - ${text(a)}`, `    + ${text(b)}`]
  const lengths = [a, b].map(({ value }) => (typeof value === 'object' ? value.length : 0))
  const all = lengths[0] === lengths[1] ? `${grouped(lengths[0]!)}` : lengths.map(grouped).join(' and ')
  return [
    `~ ${visible(key)}: ${counted(count!, 'element')} of ${all} ${count === 1 ? 'differs' : 'differ'}, first at ${grouped(index)}`,
    `    - ${around(a.value, index, room)}`,
    `    + ${around(b.value, index, room)}`,
  ]
}

const shapeOf = (tensor: TensorComparison['a']) => (tensor ? tensor.shape.join(' x ') : 'missing')

function tensorRow({ a, b, comparable, cut, equal, error }: TensorComparison): string[] {
  const types = a && b && a.type !== b.type ? `${a.type} -> ${b.type}` : (a ?? b)!.type
  if (!comparable) return [types, `${shapeOf(a)} -> ${shapeOf(b)}`, '', '', '']
  const note = cut
    ? 'cut off'
    : equal === true
      ? 'same'
      : error
        ? ''
        : equal === false
          ? 'other bytes'
          : 'not read'
  return [types, note, ...(error ? [error.nmse, error.cosine, error.maximum].map(short) : ['', '', ''])]
}

function print(found: Comparison, context: Context): void {
  const { print, style, width } = context
  const shown = found.tensors.filter(({ differs }) => differs)
  const keys = found.keys.flatMap((difference) => keyLines(difference, width - 20))
  print(style.bold(`${counted(found.keys.length, 'key')} ${found.keys.length === 1 ? 'differs' : 'differ'}`))
  keys.forEach(print)
  const read = { none: 'values were not read', sampled: 'some rows of each were read', all: 'all was read' }
  const same = found.tensors.length - shown.length
  print(
    `\n${style.bold(`${counted(shown.length, 'tensor')} of ${found.tensors.length} ${shown.length === 1 ? 'differs' : 'differ'}`)}${same > 0 ? `; ${read[found.values]}` : ''}`,
  )
  if (shown.length === 0) return
  const names = shortenNames(
    shown.map(({ name }) => visible(name)),
    48,
  )
  printTable(
    [
      ['name', 'type', '', 'NMSE', 'cosine', 'largest error'],
      ...shown.map((one, i) => [names[i]!, ...tensorRow(one)]),
    ],
    ['<', '<', '<', '>', '>', '>'],
    context,
  )
}

const jsonOf = ({ values, same, keys, tensors }: Comparison) => ({
  values,
  same,
  keys: keys.map(({ key, kind, a, b, index, count }) => {
    const plain = (one: ComparedValue | undefined) =>
      one && {
        type: one.type,
        value:
          typeof one.value === 'object'
            ? { type: one.value.type, length: one.value.length }
            : typeof one.value === 'bigint'
              ? String(one.value)
              : one.value,
      }
    return { key, kind, a: plain(a), b: plain(b), index, count }
  }),
  tensors: tensors.map(({ name, a, b, comparable, cut, equal, error }) => {
    const plain = (one: TensorComparison['a']) =>
      one && { type: one.type, shape: one.shape, bytes: one.byteLength }
    return { name, a: plain(a), b: plain(b), comparable, cut, equal, error }
  }),
})

export const command: Command = {
  arguments: [
    { name: 'first', file: 'read' },
    { name: 'second', file: 'read' },
  ],
  options: {
    values: {
      value: 'HOW',
      choices: ['none', 'sampled', 'all'],
      help: 'none: headers only; sampled: some rows of each tensor (default); all: every byte',
    },
    markdown: { help: 'print Markdown, for comments', excludes: ['json'] },
  },
  help: ['The error is that of the second file against the first. The largest errors come first.'],
  async run(context) {
    const [first, second] = context.positionals
    if (first === undefined || second === undefined) throw new UsageError('compare takes two files')
    const values = (context.values['values'] ?? 'sampled') as Comparison['values']
    // If no values are read, a preview is enough: vocabularies of the same type and length are not fetched.
    const options = values === 'none' ? ({ preview: 'sparse' } as const) : {}
    using a = await context.open(options, first)
    using b = await context.open(options, second)
    const { signal, progress, json } = context
    const found = await compare(a, b, {
      values,
      signal,
      onProgress: (done, total, name) => progress.show(() => `comparing: ${done} of ${total}, ${name}`),
    })
    progress.clear()
    if (json) context.printJson(jsonOf(found))
    else if (context.values['markdown'] === true) context.print(comparisonMarkdown(found, first, second))
    else print(found, context)
    return found.same ? 0 : 1
  },
}
