// A table as the text of a file.
export type Cell = string | number | boolean | undefined

export interface Table {
  head: readonly string[]
  rows: readonly (readonly Cell[])[]
}

// Spreadsheets would treat a text that begins with such a character as a formula.
const csvCell = (value: Cell) =>
  typeof value === 'string'
    ? `"${value.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`
    : String(value ?? '')

const csv = ({ head, rows }: Table) => [head, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n')

export const records = ({ head, rows }: Table) =>
  rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])))

const markdownCell = (value: Cell) =>
  String(value ?? '')
    .replace(/[\\|<>`*_[\]]/g, '\\$&')
    .replace(/\s*[\r\n]+\s*/g, ' ')

function markdown({ head, rows }: Table): string {
  const line = (row: readonly Cell[]) => `| ${row.map(markdownCell).join(' | ')} |`
  const isFigure = head.map((_, i) => rows.some((row) => typeof row[i] === 'number'))
  const rule = `| ${isFigure.map((figure) => (figure ? '--:' : '---')).join(' | ')} |`
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`
}

export const tableFormats = {
  csv: { title: 'CSV', type: 'text/csv', text: csv },
  json: {
    title: 'JSON',
    type: 'application/json',
    text: (table: Table) => JSON.stringify(records(table), undefined, 1),
  },
  md: { title: 'Markdown', type: 'text/markdown', text: markdown },
} as const
