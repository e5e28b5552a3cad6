// A dump as Markdown, with the sections and tables of gguf-dump --markdown.
import { basename } from 'node:path'
import type { Dump, Field, TensorEntry } from './fields.js'
import { lengthOf, numpyText, padEnd, padStart, rounded, sliced, titled } from './python.js'
import { typeText } from './text.js'

type Column = readonly [title: string, align: 'left' | 'right']

function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(
    ([title], i) => 2 + rows.reduce((max, row) => Math.max(max, lengthOf(row[i]!)), lengthOf(title)),
  )
  const line = (cells: readonly string[]): string =>
    `|${cells
      .map((cell, i) =>
        columns[i]![1] === 'right'
          ? `${padStart(cell, widths[i]! - 1)} `
          : ` ${padEnd(cell, widths[i]! - 1)}`,
      )
      .join('|')}|`
  const dashes = columns.map(([, align], i) => {
    const dash = '-'.repeat(widths[i]! - 1)
    return align === 'right' ? `${dash}:` : `:${dash}`
  })
  return [line(columns.map(([title]) => title)), `|${dashes.join('|')}|`, ...rows.map(line)]
}

/** Inline code, with more backticks around than within. */
function code(text: string): string {
  const max = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const mark = '`'.repeat(max + 1)
  const inner = text.startsWith('`') || text.endsWith('`') ? ` ${text} ` : text
  return `${mark}${inner}${mark}`
}

function shortCode(text: string, length: number): string {
  if (lengthOf(text) <= length) return code(text)
  return `${code(sliced(text, 0, length / 2))}...${code(sliced(text, -length / 2))}`
}

function valueText(field: Field): string {
  const { types, count } = field
  if (types.length === 1) {
    if (types[0] === 'ARRAY') return ''
    const scalar = field.scalars(1)[0]!
    return types[0] === 'STRING' ? shortCode(scalar.value as string, 60) : numpyText(scalar)
  }
  const shown =
    types[1] === 'STRING'
      ? field.scalars(5).map(({ value }) => shortCode(value as string, 30))
      : types[1] === 'ARRAY'
        ? []
        : field.scalars(7).map(numpyText)
  return `[ ${shown.join(', ').trim()}${count > shown.length ? ', ...' : ''} ]`
}

const kUnits = [
  [1e15, 1e-15, 'Q'],
  [1e12, 1e-12, 'T'],
  [1e9, 1e-9, 'B'],
  [1e6, 1e-6, 'M'],
  [1e3, 1e-3, 'K'],
] as const

function roundCount(count: number): string {
  const [, scale, unit] = kUnits.find(([limit]) => count > limit) ?? [0, 1, '']
  return `${count > 1e3 ? '~' : ''}${rounded(count * scale)}${unit}`
}

const kWords: Readonly<Record<string, string>> = {
  token_embd: 'Token embedding',
  pos_embd: 'Position embedding',
  output_norm: 'Output normalization',
  output: 'Output',
  attn_norm: 'Attention normalization',
  attn_norm_2: 'Attention normalization',
  attn_qkv: 'Attention query-key-value',
  attn_q: 'Attention query',
  attn_k: 'Attention key',
  attn_v: 'Attention value',
  attn_output: 'Attention output',
  ffn_norm: 'Feed-forward network normalization',
  ffn_up: 'Feed-forward network "up"',
  ffn_gate: 'Feed-forward network "gate"',
  ffn_down: 'Feed-forward network "down"',
  ffn_gate_inp: 'Expert-routing layer for the Feed-forward network in Mixture of Expert models',
  ffn_gate_exp: 'Feed-forward network "gate" layer per expert in Mixture of Expert models',
  ffn_down_exp: 'Feed-forward network "down" layer per expert in Mixture of Expert models',
  ffn_up_exp: 'Feed-forward network "up" layer per expert in Mixture of Expert models',
  ssm_in: 'State space model input projections',
  ssm_conv1d: 'State space model rolling/shift',
  ssm_x: 'State space model selective parametrization',
  ssm_a: 'State space model state compression',
  ssm_d: 'State space model skip connection',
  ssm_dt: 'State space model time step',
  ssm_out: 'State space model output projection',
  blk: 'Block',
  enc: 'Encoder',
  dec: 'Decoder',
}

const readable = (name: string): string =>
  name
    .split('.')
    .map((word) => {
      const known = word.trim().toLowerCase()
      return titled(Object.hasOwn(kWords, known) ? kWords[known]! : word)
    })
    .join(' ')

/** "blk.0" for "blk.0.attn_q.weight"; "base" for tensors outside of blocks. */
function groupOf(name: string): string {
  const parts = name.split('.')
  if (parts[0] === 'blk') return parts.slice(0, 2).join('.')
  if (parts[0] !== 'enc' && parts[0] !== 'dec') return 'base'
  return parts[1] === 'blk' ? parts.slice(0, 3).join('.') : parts[0]
}

interface Row extends TensorEntry {
  readonly index: number
}

const elementsOf = (rows: readonly TensorEntry[]): number =>
  rows.reduce((sum, { tensor }) => sum + tensor.elementCount, 0)
const bytesOf = (rows: readonly TensorEntry[]): number =>
  rows.reduce((sum, { tensor }) => sum + tensor.byteLength, 0)
/** Bits per weight. */
const bitsOf = (rows: readonly TensorEntry[]): string => rounded((bytesOf(rows) * 8) / elementsOf(rows), 4)

const hexadecimal = (value: number): string => padStart(`0x${value.toString(16)}`, 16)

function groupRows(rows: readonly Row[]): string[][] {
  const shapes = rows.map(({ tensor: { shape } }) =>
    Array.from({ length: Math.max(4, shape.length) }, (_, k) => String(shape[k] ?? 1)),
  )
  const widths = shapes.reduce<number[]>((max, shape) => {
    shape.forEach((size, k) => (max[k] = Math.max(max[k] ?? 1, size.length)))
    return max
  }, [])
  const counts = rows.map(({ tensor }) => roundCount(tensor.elementCount))
  const widest = Math.max(1, ...counts.map((count) => count.length))
  const longest = Math.max(1, ...rows.map(({ tensor }) => String(tensor.elementCount).length))
  return rows.map(({ index, name, tensor }, i) => [
    String(index),
    name,
    readable(name.replaceAll('.weight', '.(W)').replaceAll('.bias', '.(B)')),
    `(${padStart(counts[i]!, widest)}) ${padStart(String(tensor.elementCount), longest)}`,
    shapes[i]!.map((size, k) => padStart(size, widths[k]!)).join(' x '),
    tensor.type,
    tensor.elementCount > 0 ? bitsOf([rows[i]!]) : 'nan',
  ])
}

const kGroupColumns: readonly Column[] = [
  ['T_ID', 'right'],
  ['Tensor Layer Name', 'left'],
  ['Human Friendly Tensor Layer Name', 'left'],
  ['Elements', 'left'],
  ['Shape', 'left'],
  ['Type', 'left'],
  ['BPW', 'right'],
]

function* groupLines(group: string, rows: readonly Row[], all: number): Generator<string> {
  const elements = elementsOf(rows)
  yield `### <a name="${group.replaceAll('.', '_')}">${readable(group)} Tensor Group : ${roundCount(elements)} Elements</a>`
  yield ''
  yield* tableLines(kGroupColumns, groupRows(rows))
  yield ''
  yield `- Total elements in ${group}: (${padStart(roundCount(elements), 4)}) ${elements}`
  yield `- Percentage of total elements: ${rounded(all > 0 ? (elements / all) * 100 : 0, 2)}%`
  const bits = elements > 0 ? `${bitsOf(rows)} bits` : 'undefined (no elements)'
  yield `- Bits per Weight (BPW) for ${group}: ${bits}`
  yield ''
  yield ''
}

function* tensorLines(tensors: readonly TensorEntry[]): Generator<string> {
  const groups = new Map<string, Row[]>()
  for (const [index, entry] of tensors.entries()) {
    const group = groupOf(entry.tensor.name)
    if (!groups.has(group)) groups.set(group, [])
    groups.get(group)!.push({ ...entry, index })
  }
  const all = elementsOf(tensors)
  yield `## Tensors Overview ${roundCount(all)} Elements`
  yield ''
  yield `Total number of elements in all tensors: ${all} Elements`
  yield ''
  for (const [group, rows] of groups)
    yield `- [${readable(group)} Tensor Group - ${roundCount(elementsOf(rows))} Elements](#${group.replaceAll('.', '_')})`
  yield* [
    '',
    '### Tensor Data Offset',
    '',
    'This table contains the offset and data segment relative to start of file',
    '',
  ]
  yield* tableLines(
    [
      ['T_ID', 'right'],
      ['Tensor Layer Name', 'left'],
      ['Data Offset (B)', 'right'],
      ['Data Size (B)', 'right'],
    ],
    tensors.map(({ name, tensor }, i) => [
      String(i),
      name,
      hexadecimal(tensor.offset),
      hexadecimal(tensor.byteLength),
    ]),
  )
  yield ''
  for (const [group, rows] of groups) yield* groupLines(group, rows, all)
}

export function* markdownLines(
  { endian, fields, tensors }: Dump,
  filename: string,
  withTensors: boolean,
): Generator<string> {
  yield* [
    `# ${filename} - GGUF Internal File Dump`,
    '',
    `- Endian: ${endian} endian`,
    '',
    '## Key Value Metadata Store',
    '',
    `There are ${fields.length} key-value pairs in this file`,
    '',
  ]
  yield* tableLines(
    [
      ['POS', 'right'],
      ['TYPE', 'left'],
      ['Count', 'right'],
      ['Key', 'left'],
      ['Value', 'left'],
    ],
    fields.map((field, i) => [
      String(i + 1),
      typeText(field),
      String(field.count),
      field.name,
      valueText(field),
    ]),
  )
  yield ''
  if (withTensors) yield* tensorLines(tensors)
  const shown = withTensors && elementsOf(tensors) > 0
  yield `Total BPW for ${basename(filename)}: ${shown ? `${bitsOf(tensors)} bits` : 'undefined (no elements)'}`
}
