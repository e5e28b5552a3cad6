// The command stats: statistics of tensors.
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { TensorStats } from '../api/tensors.js'
import { kFile, type Command, type Context } from './command.js'
import { counted, grouped, printTable, short, shortenNames, visible } from './format.js'
import { kRowsOption, rowsOf } from './rows.js'

/** Facts of a tensor that do not fit into a row of the table. */
function details({ name, absoluteMaximum, rows, outlierColumns, scales }: TensorStats): [string, string][] {
  const facts: [string, string][] = [
    ['absolute maximum', Number.isNaN(absoluteMaximum) ? 'none (no elements)' : short(absoluteMaximum)],
  ]
  if (rows && rows.rootMeanSquare.length > 1) {
    const order = [...rows.rootMeanSquare.keys()].sort(
      (a, b) => rows.rootMeanSquare[a]! - rows.rootMeanSquare[b]!,
    )
    const row = (i: number): string => `${short(rows.rootMeanSquare[i]!)} (row ${grouped(i)})`
    const middle = order[order.length >> 1]!
    facts.push([
      'root mean square of a row',
      `least ${row(order[0]!)}, median ${row(middle)}, most ${row(order.at(-1)!)}`,
    ])
  }
  if (outlierColumns.length > 0) {
    const few = outlierColumns.slice(0, 8)
    const text = few
      .map(({ index, rootMeanSquare }) => `${grouped(index)} (${short(rootMeanSquare)})`)
      .join(', ')
    facts.push(['outlier columns', text + (outlierColumns.length > few.length ? ', ...' : '')])
  }
  if (scales) {
    const { count, min, max, mean, standardDeviation, zeros, subnormal, notFinite } = scales
    const values = `${short(min)} to ${short(max)}, mean ${short(mean)}, deviation ${short(standardDeviation)}`
    const odd = `${grouped(zeros)} zero, ${grouped(subnormal)} subnormal, ${grouped(notFinite)} not finite`
    facts.push([`scales of ${counted(count, 'block')}`, `${values}; ${odd}`])
  }
  return facts.map(([what, value], i) => [i === 0 ? `${visible(name)}: ${what}` : what, value])
}

async function gather(
  context: Context,
  file: GgufFile,
  other: GgufFile | undefined,
  names: readonly string[],
): Promise<TensorStats[]> {
  const { signal, progress } = context
  const chosen = names.length > 0 ? names : file.tensors.map(({ name }) => name)
  const all: TensorStats[] = []
  for (const [i, name] of chosen.entries()) {
    const tensor = file.tensor(name)
    const rowCount = tensor?.shape[0] ? tensor.elementCount / tensor.shape[0] : 0
    const against = other && (names.length > 0 || other.tensor(name)) ? { file: other } : undefined
    const tell = progress.reading(`${i + 1} of ${chosen.length}, ${name}`)
    const options = { rows: rowsOf(context, rowCount), against, signal, onProgress: tell }
    try {
      all.push(await file.stats(name, options))
    } catch (error) {
      // A tensor that cannot be read does not stop the others.
      if (names.length > 0 || !(error instanceof GgufError) || error.code !== 'unsupported') throw error
      context.warn(error.message)
    }
  }
  progress.clear()
  return all
}

const kHead = ['name', 'type', 'elements', 'min', 'max', 'mean', 'deviation', 'zeros', 'NaN/Inf', 'outliers']
const kErrorHead = ['NMSE', 'cosine', 'largest error']

function printStats(all: readonly TensorStats[], compared: boolean, context: Context): void {
  const names = shortenNames(
    all.map(({ name }) => visible(name)),
    60,
  )
  const rows = all.map((stats, i) => [
    names[i]!,
    stats.type,
    grouped(stats.count),
    ...[stats.min, stats.max, stats.mean, stats.standardDeviation].map((one) =>
      stats.count === 0 ? '' : short(one),
    ),
    grouped(stats.zeros),
    grouped(stats.nans + stats.infinities),
    grouped(stats.outlierColumns.length),
    ...(stats.error ? [stats.error.nmse, stats.error.cosine, stats.error.maximum].map(short) : []),
  ])
  printTable(
    [[...kHead, ...(compared ? kErrorHead : [])], ...rows],
    ['<', '<', '>', '>', '>', '>', '>', '>', '>', '>', '>', '>', '>'],
    context,
  )
}

export const command: Command = {
  arguments: [kFile, { name: 'tensor', optional: true, repeats: true }],
  options: {
    rows: kRowsOption,
    against: {
      value: 'FILE',
      file: 'read',
      help: 'also print the error against the tensors of the same names in another file',
    },
  },
  async run(context) {
    const [, ...names] = context.positionals
    const { values, json } = context
    using file = await context.open()
    using other =
      typeof values['against'] === 'string' ? await context.open({}, values['against']) : undefined
    const all = await gather(context, file, other, names)
    const status = all.some((stats) => stats.nans + stats.infinities > 0) ? 1 : 0
    if (json) {
      context.printJson(all)
      return status
    }
    printStats(all, other !== undefined, context)
    // All tensors of a file are shown as a table, named tensors with details.
    for (const stats of names.length > 0 ? all : []) {
      context.print('')
      for (const [what, value] of details(stats)) context.print(`${what}: ${value}`)
    }
    return status
  },
}
