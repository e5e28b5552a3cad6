import type { GgufFile, MetadataValue } from '../node.js'
import type { Command, Context } from './command.js'
import { bytesText, countText, grouped, shorten, table, valueText, visible } from './format.js'

// Elements of an array that --json shows without --full.
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

function printSummary(file: GgufFile, { print, style }: Context): void {
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
        ? `${bytesText(bytes)}${file.shards.length > 1 ? ` in ${file.shards.length} files` : ''}`
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
  for (const [label, value] of shown) print(`${style.dim(label.padEnd(18))}${shorten(visible(value), 120)}`)
}

export const command: Command = {
  options: { full: { type: 'boolean' } },
  help: ['--full            with --json: arrays whole, however long'],
  async run(context) {
    const { print, style, values } = context
    using file = await context.open()
    const summary = file.summary()
    if (context.json) {
      const full = values['full'] === true
      const { container, version, endianness, alignment, size, dataOffset, shards } = file
      // Pairs, not an object: keys are the file's and may repeat what an object already means.
      const metadata = await Promise.all(
        [...file.metadata].map(async ([key, value]) => ({
          key,
          type: file.metadata.type(key),
          value: jsonValue(value, full),
          ...(await file.metadata.meaning(key)),
        })),
      )
      context.printJson({
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
      })
      return 0
    }
    printSummary(file, context)
    if (summary.quantization.length > 0) {
      const rows = summary.quantization.map(({ type, tensors, elements, bytes }) => [
        type,
        grouped(tensors),
        countText(elements),
        bytesText(bytes),
        `${((100 * bytes) / Math.max(1, summary.tensorBytes)).toFixed(1)} %`,
      ])
      const [head, ...lines] = table(
        [['type', 'tensors', 'elements', 'size', 'share'], ...rows],
        ['<', '>', '>', '>', '>'],
      )
      print(`\n${style.bold(head!)}`)
      lines.forEach(print)
    }
    const rows = await Promise.all(
      [...file.metadata].map(async ([key, value]) => {
        const type = file.metadata.type(key)!
        const shape = typeof value === 'object' ? `${value.type}[${grouped(value.length)}]` : type
        const meant = await file.metadata.meaning(key)
        const meaning = meant ? `${meant.meaning}${meant.unit && ` (${meant.unit})`}` : ''
        return [shorten(visible(key), 60), shape, valueText(value, 60), meaning]
      }),
    )
    if (rows.length > 0) {
      const [head, ...lines] = table([['key', 'type', 'value', 'meaning'], ...rows], ['<', '<', '<', '<'])
      print(`\n${style.bold(head!)}`)
      lines.forEach(print)
    }
    return 0
  },
}
