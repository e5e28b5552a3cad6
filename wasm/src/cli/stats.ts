import { open } from '../node.js'
import type { TensorStats } from '../api/types.js'
import { type Command } from './command.js'
import { grouped, shorten, table, visible } from './format.js'
import { rowsOf } from './rows.js'

const short = (value: number): string =>
  Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : String(value)

/** What a row of the table has no room for. */
function details({ name, absoluteMaximum, rows, outlierColumns, scales }: TensorStats): [string, string][] {
  const facts: [string, string][] = [['absolute maximum', short(absoluteMaximum)]]
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
    facts.push([`scales of ${grouped(count)} blocks`, `${values}; ${odd}`])
  }
  return facts.map(([what, value], i) => [i === 0 ? `${shorten(visible(name), 60)}: ${what}` : what, value])
}

export const command: Command = {
  options: { rows: { type: 'string' }, against: { type: 'string' } },
  help: ['--against FILE    stats: the error against the tensors of the same names in another file'],
  async run(context) {
    const [, ...names] = context.positionals
    const { signal, values, json } = context
    using file = await context.open()
    using other =
      typeof values['against'] === 'string' ? await open(values['against'], { signal }) : undefined
    const all: TensorStats[] = []
    for (const name of names.length > 0 ? names : file.tensors.map((tensor) => tensor.name)) {
      const tensor = file.tensor(name)
      const rowCount = tensor?.shape[0] ? tensor.elementCount / tensor.shape[0] : 0
      const against = other && (names.length > 0 || other.tensor(name)) ? { file: other } : undefined
      all.push(await file.stats(name, { rows: rowsOf(context, rowCount), against, signal }))
    }
    if (json) {
      // Typed arrays as plain ones.
      context.printJson(
        JSON.parse(
          JSON.stringify(all, (_, value: unknown) =>
            ArrayBuffer.isView(value) ? [...(value as Float64Array)] : value,
          ),
        ),
      )
      return 0
    }
    const head = [
      'name',
      'type',
      'elements',
      'min',
      'max',
      'mean',
      'deviation',
      'zeros',
      'NaN/Inf',
      'outliers',
    ]
    const rows = all.map((stats) => [
      shorten(visible(stats.name), 60),
      stats.type,
      grouped(stats.count),
      ...[stats.min, stats.max, stats.mean, stats.standardDeviation].map(short),
      grouped(stats.zeros),
      grouped(stats.nans + stats.infinities),
      grouped(stats.outlierColumns.length),
      ...(other
        ? stats.error
          ? [short(stats.error.nmse), short(stats.error.cosine), short(stats.error.maximum)]
          : ['', '', '']
        : []),
    ])
    const [title, ...lines] = table(
      [[...head, ...(other ? ['NMSE', 'cosine', 'largest error'] : [])], ...rows],
      ['<', '<', '>', '>', '>', '>', '>', '>', '>', '>', '>', '>', '>'],
    )
    context.print(context.style.bold(title!))
    lines.forEach(context.print)
    // All tensors of a file are a table; those that were named are looked at closely.
    for (const stats of names.length > 0 ? all : []) {
      context.print('')
      for (const [what, value] of details(stats)) context.print(`${what}: ${value}`)
    }
    return all.some((stats) => stats.nans + stats.infinities > 0) ? 1 : 0
  },
}
