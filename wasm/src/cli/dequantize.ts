// The command dequantize: prints or writes a tensor's values as floats.
import type { GgufFile } from '../api/file.js'
import { openFile } from '../edit/open-file.js'
import { computedPart, WrittenFile } from '../edit/written-file.js'
import { mustHaveRows } from '../file/damage.js'
import { kFile, type Command, type Context } from './command.js'
import { counted } from './format.js'
import { kRowsOption, rowsOf } from './rows.js'
import { kOutputOptions, outputOf, save } from './save.js'

const kFloatsPerChunk = 1 << 20

/** A range of whole rows of one tensor. */
interface Rows {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly rowLength: number
}

/** Yields the first row's index and the floats of a few rows at a time. */
async function* chunksOf(
  file: GgufFile,
  { name, from, to, rowLength }: Rows,
  signal: AbortSignal | undefined,
): AsyncGenerator<[number, Float32Array<ArrayBuffer>]> {
  const step = Math.max(1, Math.floor(kFloatsPerChunk / Math.max(rowLength, 1)))
  for (let at = from; at < to; at += step)
    yield [at, await file.dequantize(name, { rows: [at, Math.min(at + step, to)], signal })]
}

/** Prints one row on each line. JSON has no NaN and no infinity, so they become null. */
async function printRows(context: Context, file: GgufFile, rows: Rows): Promise<void> {
  const { json, print, signal } = context
  if (json) print('[')
  for await (const [at, floats] of chunksOf(file, rows, signal)) {
    for (let i = 0; i < floats.length; i += rows.rowLength) {
      const row = [...floats.subarray(i, i + rows.rowLength)]
      const last = at + i / rows.rowLength + 1 === rows.to
      if (json) print(JSON.stringify(row) + (last ? '' : ','))
      else print(row.map(String).join(' '))
    }
  }
  if (json) print(']')
}

export const command: Command = {
  arguments: [kFile, { name: 'tensor' }],
  options: {
    rows: kRowsOption,
    ...kOutputOptions,
    output: { ...kOutputOptions.output, help: 'write little-endian float32, row-major, instead of text' },
    force: { ...kOutputOptions.force, needs: 'output' },
  },
  async run(context) {
    const name = context.positionals[1]!
    using file = await context.open()
    const output = context.values['output'] === undefined ? undefined : await outputOf(context)
    const tensor = file.tensor(name)
    const rowLength = tensor?.shape[0] ?? 1
    const rowCount = tensor && rowLength > 0 ? tensor.elementCount / rowLength : 0
    const [from, to] = rowsOf(context, rowCount) ?? [0, rowCount]
    // Checks the tensor and the rows before anything is printed or written.
    if (!tensor || from >= to || to > rowCount) await file.dequantize(name, { rows: [from, to] })
    // Throws if data of these rows are missing.
    mustHaveRows(openFile(file), tensor!, [from, to])
    const rows: Rows = { name, from, to, rowLength }
    if (output === undefined) {
      await printRows(context, file, rows)
      return 0
    }
    async function* chunks(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array<ArrayBuffer>> {
      for await (const [, floats] of chunksOf(file, rows, signal)) yield new Uint8Array(floats.buffer)
    }
    const floats = (to - from) * rowLength
    const part = computedPart({ tensor: name, to: 0, length: 4 * floats, chunks })
    await save(context, output, new WrittenFile([part]), {
      told: `${counted(floats, 'float')} in ${output}`,
    })
    if (context.json) context.printJson({ output, size: 4 * floats, floats })
    return 0
  },
}
