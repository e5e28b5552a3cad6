import { open as openFile } from 'node:fs/promises'
import { UsageError, type Command } from './command.js'
import { grouped } from './format.js'
import { rowsOf } from './rows.js'

const kFloatsPerPiece = 1 << 20

export const command: Command = {
  options: { rows: { type: 'string' }, output: { type: 'string', short: 'o' } },
  help: [
    '--rows A:B        dequantize, stats: rows A to B - 1 only; A alone is one row',
    '--output FILE     dequantize: little-endian binary32, row-major, in place of text',
  ],
  async run(context) {
    const [, name] = context.positionals
    if (name === undefined) throw new UsageError('which tensor?')
    using file = await context.open()
    const { signal } = context
    const tensor = file.tensor(name)
    const rowLength = tensor?.shape[0] ?? 1
    const rowCount = tensor && rowLength > 0 ? tensor.elementCount / rowLength : 0
    const [from, to] = rowsOf(context, rowCount) ?? [0, rowCount]
    const step = Math.max(1, Math.floor(kFloatsPerPiece / Math.max(rowLength, 1)))
    const output = context.values['output']
    const sink = typeof output === 'string' ? await openFile(output, 'w') : undefined
    try {
      if (from >= to) await file.dequantize(name, { rows: [from, to], signal })
      if (context.json && !sink) context.print('[')
      for (let at = from; at < to; at += step) {
        const floats = await file.dequantize(name, { rows: [at, Math.min(at + step, to)], signal })
        if (sink) {
          await sink.writeFile(new Uint8Array(floats.buffer))
          continue
        }
        for (let i = 0; i < floats.length; i += rowLength) {
          const row = [...floats.subarray(i, i + rowLength)]
          const last = at + i / rowLength + 1 === to
          // JSON has no NaN and no infinity.
          if (context.json) context.print(JSON.stringify(row) + (last ? '' : ','))
          else context.print(row.map((value) => String(value)).join(' '))
        }
      }
      if (context.json && !sink) context.print(']')
    } finally {
      await sink?.close()
    }
    if (sink) context.print(`${grouped((to - from) * rowLength)} floats in ${String(output)}`)
    return 0
  },
}
