// The command info: what a file contains.
import type { Finding, GgufFile, MetadataValue, ValueType } from '../node.js'
import { kFiles, type Command, type Context } from './command.js'
import {
  bytesText,
  counted,
  countText,
  grouped,
  printTable,
  shorten,
  shortenNames,
  table,
  valueText,
  visible,
  width as columnsOf,
  wrap,
} from './format.js'
import { eachFile, kSeveralHelp, type Result } from './several.js'
import { readInput } from './inputs.js'
import type { ImatrixColumns } from '../edit/imatrix.js'

// Number of array elements that --json shows without --full.
const kShownElements = 8

function jsonValue(value: MetadataValue, full: boolean): unknown {
  if (typeof value !== 'object') return value
  if (full || value.length <= kShownElements) return value.slice().map((element) => jsonValue(element, full))
  return {
    type: value.type,
    length: value.length,
    first: value.slice(0, kShownElements).map((element) => jsonValue(element, full)),
  }
}

function printSummary(file: GgufFile, { print, style, width }: Context): void {
  const summary = file.summary()
  const bytes = file.shards.reduce((total, { size }) => total + (size ?? 0), 0)
  const plain = (value: number | undefined) => (value === undefined ? undefined : grouped(value))
  const experts = summary.experts ? `${summary.experts}, ${summary.expertsUsed ?? '?'} used` : undefined
  const parameters =
    summary.activeParameters === summary.parameters
      ? countText(summary.parameters)
      : `${countText(summary.parameters)}, ${countText(summary.activeParameters)} active`
  const rows: [string, string | undefined][] = [
    ['name', summary.name ?? file.name],
    ['kind', summary.kind],
    ['architecture', summary.architecture],
    ['parameters', summary.parameters ? `${parameters} (${grouped(summary.parameters)})` : undefined],
    [
      'size',
      bytes > 0
        ? `${bytesText(bytes)}${file.shards.length > 1 ? ` in ${counted(file.shards.length, 'file')}` : ''}`
        : undefined,
    ],
    ['file type', summary.fileType],
    ['bits per weight', summary.parameters ? summary.bitsPerWeight.toFixed(3) : undefined],
    ['context length', plain(summary.contextLength)],
    ['embedding length', plain(summary.embeddingLength)],
    ['layers', plain(summary.layers)],
    [
      'heads',
      summary.heads === undefined ? undefined : `${summary.heads}, ${summary.kvHeads} for keys and values`,
    ],
    ['experts', experts],
    ['tokenizer', summary.tokenizer && [summary.tokenizer, summary.preTokenizer].filter(Boolean).join(', ')],
    ['vocabulary', plain(summary.vocabularySize)],
    ['chat template', summary.hasChatTemplate ? 'yes' : 'no'],
    ['license', summary.license],
    [
      'format',
      `${file.container.toUpperCase()}${file.version === 0 ? '' : ` version ${file.version}`}, ${file.endianness}-endian, alignment ${file.alignment}`,
    ],
  ]
  const shown = rows.filter((row): row is [string, string] => row[1] !== undefined)
  for (const [label, value] of shown)
    print(`${style.dim(label.padEnd(18))}${shorten(visible(value), width - 18)}`)
}

/** All entries of the header. Repeated entries of a key follow the first one. */
function entriesOf({ metadata }: GgufFile): { key: string; type: ValueType; value: MetadataValue }[] {
  const repeated = metadata.repeated
  return [...metadata].flatMap(([key, value]) => [
    { key, type: metadata.type(key)!, value },
    ...repeated.filter((one) => one.key === key),
  ])
}

/** Shortens arrays to their first elements, unless --full is given. */
async function jsonInfo(file: GgufFile, full: boolean): Promise<unknown> {
  const { container, version, endianness, alignment, size, dataOffset, shards } = file
  // Pairs, not an object: keys come from the file, may occur twice, and may have names such as __proto__.
  const metadata = await Promise.all(
    entriesOf(file).map(async ({ key, type, value }) => ({
      key,
      type,
      value: jsonValue(value, full),
      ...(await file.metadata.meaning(key)),
    })),
  )
  const summary = file.summary()
  return {
    name: file.name,
    container,
    version,
    endianness,
    alignment,
    size,
    dataOffset,
    shards,
    summary,
    metadata,
    damage: await file.damage(),
  }
}

/** The damage of a file, and the bytes after its data. */
function printDamage(damage: readonly Finding[], { print, style, width }: Context): void {
  for (const { level, message } of damage)
    for (const line of wrap(visible(message), width)) print(level === 'error' ? style.red(line) : line)
}

function printTypes(file: GgufFile, context: Context): void {
  const { quantization, tensorBytes } = file.summary()
  if (quantization.length === 0) return
  const rows = quantization.map(({ type, tensors, elements, bytes }) => [
    type,
    grouped(tensors),
    countText(elements),
    bytesText(bytes),
    `${((100 * bytes) / Math.max(1, tensorBytes)).toFixed(1)} %`,
  ])
  context.print('')
  printTable([['type', 'tensors', 'elements', 'size', 'share'], ...rows], ['<', '>', '>', '>', '>'], context)
}

// Indentation of a key's meaning, which is printed below it.
const kIndent = 4

/** Prints key, type and value on one line, and the key's meaning below, within the terminal's width. */
async function printMetadata(file: GgufFile, { print, style, width }: Context): Promise<void> {
  const entries = entriesOf(file)
  if (entries.length === 0) return
  const keys = shortenNames(
    entries.map(({ key }) => visible(key)),
    Math.floor(width / 2),
  )
  const typed = entries.map(({ type, value }, i) => {
    const shape = typeof value === 'object' ? `${value.type}[${grouped(value.length)}]` : type
    return [keys[i]!, shape]
  })
  const lines = table([['key', 'type', ''], ...typed.map((row) => [...row, ''])], ['<', '<', '<'])
  const left = Math.max(...[['key', 'type'], ...typed].map(([key]) => columnsOf(key!)))
  const middle = Math.max(...[['', 'type'], ...typed].map(([, type]) => columnsOf(type!)))
  // Values go below their keys where no room is beside them.
  const beside = width - left - middle - 4
  const below = beside < 12
  const room = below ? width - kIndent : beside
  const pad = (line: string) => line + ' '.repeat(Math.max(0, left + middle + 4 - columnsOf(line)))
  print(`\n${style.bold(below ? 'key  type' : `${pad(lines[0]!)}value`)}`)
  for (const [i, { key, value }] of entries.entries()) {
    const text = shorten(valueText(value, room), room)
    if (below) [typed[i]!.join('  '), ' '.repeat(kIndent) + text].forEach(print)
    else print((pad(lines[i + 1]!) + text).trimEnd())
    const meant = await file.metadata.meaning(key)
    const meaning = meant ? `${meant.meaning}${meant.unit && ` (${meant.unit})`}` : ''
    if (meaning !== '')
      for (const line of wrap(meaning, width - kIndent)) print(' '.repeat(kIndent) + style.dim(line))
  }
}

/** An importance matrix in llama.cpp's older format, imatrix.dat; undefined if the file is none. */
async function imatrixInfo(path: string, context: Context): Promise<Result | undefined> {
  const { print, style, json } = context
  let entries: ImatrixColumns
  let size: number
  try {
    const { parseImatrix } = await import('../edit/imatrix.js')
    const bytes = await readInput(path, 'info')
    size = bytes.length
    entries = parseImatrix(bytes)
  } catch {
    return undefined
  }
  const { datasets, chunks } = entries
  const all = [...entries].map(([name, columns]) => ({ name, columns: columns.length }))
  return {
    status: 0,
    json: json
      ? { kind: 'imatrix', container: 'imatrix.dat', size, datasets, chunks, entries: all }
      : undefined,
    print() {
      const rows: [string, string | undefined][] = [
        ['kind', 'importance matrix'],
        ['size', bytesText(size)],
        ['data sets', datasets.length > 0 ? datasets.join(', ') : undefined],
        ['chunks', chunks === undefined ? undefined : grouped(chunks)],
        ['entries', grouped(all.length)],
        ['format', 'imatrix.dat, from before GGUF'],
      ]
      for (const [label, value] of rows)
        if (value !== undefined) print(`${style.dim(label.padEnd(18))}${visible(value)}`)
      const names = shortenNames(
        all.map(({ name }) => visible(name)),
        60,
      )
      print('')
      printTable(
        [['entry', 'columns'], ...all.map(({ columns }, i) => [names[i]!, grouped(columns)])],
        ['<', '>'],
        context,
      )
    },
  }
}

export const command: Command = {
  damage: 'told',
  arguments: [kFiles],
  options: { full: { needs: 'json', help: 'print arrays whole, however long they are' } },
  help: [kSeveralHelp],
  standardInput: true,
  run: (context) =>
    eachFile(
      context,
      async (file) => ({
        status: 0,
        json: context.json ? await jsonInfo(file, context.values['full'] === true) : undefined,
        async print() {
          printSummary(file, context)
          printDamage(await file.damage({ signal: context.signal }), context)
          printTypes(file, context)
          await printMetadata(file, context)
        },
      }),
      {},
      (path) => imatrixInfo(path, context),
    ),
}
