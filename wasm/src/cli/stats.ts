import { open } from '../node.js'
import type { TensorStats } from '../types.js'
import { type Command } from './command.js'
import { grouped, shorten, table, visible } from './format.js'
import { rowsOf } from './rows.js'

const short = (value: number): string =>
  Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : String(value)

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
    return all.some((stats) => stats.nans + stats.infinities > 0) ? 1 : 0
  },
}
