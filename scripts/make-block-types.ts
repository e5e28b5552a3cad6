// node scripts/make-block-types.ts: writes web/src/lib/lens/block-types.ts, the sizes of each type's blocks and where their
// scales are, from core/types/types.inc. The build runs it.
import { rowsOf, writeSource } from './core-tables.ts'

const kTable = 'core/types/types.inc'
const types = rowsOf(kTable, /^GGUFSCOPE_TYPE\(\d+, "(\w+)", (\d+), (\d+), (true|false)\)/gm)
const scales = rowsOf(kTable, /^GGUFSCOPE_SCALES\(k(\w+), (\d+), (\d+), k(\w+), (\d+)\)/gm)
const scalesOf = new Map(scales.map(([type, ...fields]) => [type, fields]))

const lines = types.flatMap(([name, elements, bytes, removed]) => {
  if (removed === 'true') return []
  const [offset, count, kind, minimums] = scalesOf.get(name) ?? []
  const scale =
    offset === undefined
      ? ''
      : `, scales: { offset: ${offset}, count: ${count}, kind: '${kind!.toLowerCase()}', minimums: ${minimums} }`
  return [`  ['${name}', { elements: ${elements}, bytes: ${bytes}${scale} }],`]
})
const kinds = [...new Set(scales.map(([, , , kind]) => `'${kind!.toLowerCase()}'`))]

writeSource(
  import.meta.filename,
  'web/src/lib/lens/block-types.ts',
  kTable,
  `
export interface BlockType {
  readonly elements: number
  readonly bytes: number
  /** where a block stores its own scales, and minimums of the same kind after them; absent: it has none */
  readonly scales?: {
    readonly offset: number
    readonly count: number
    readonly kind: ${kinds.join(' | ')}
    readonly minimums: number
  }
}

export const blockTypes: ReadonlyMap<string, BlockType> = new Map<string, BlockType>([
${lines.join('\n')}
])
`,
)
