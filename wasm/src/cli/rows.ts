// The option --rows.
import { UsageError, type Context, type Option } from './command.js'

export const kRowsOption: Option = { value: 'A:B', help: 'rows A to B - 1 only; A alone is one row' }

/** Parses --rows 3, 3:7, 3: or :7 (the end is excluded); undefined without the option. */
export function rowsOf({ values }: Context, rowCount: number): [number, number] | undefined {
  const given = values['rows']
  if (given === undefined) return undefined
  const match = /^(\d*)(:?)(\d*)$/.exec(String(given))
  if (!match || given === '' || given === ':')
    throw new UsageError('--rows is one row (3) or a range (3:7, 3:, :7)')
  const from = match[1] === '' ? 0 : Number(match[1])
  if (match[2] === ':' && match[3] !== '' && Number(match[3]) <= from)
    throw new UsageError(`--rows ${String(given)} holds no row: the end is excluded`)
  return [from, match[2] === '' ? from + 1 : match[3] === '' ? rowCount : Number(match[3])]
}
