// The differences of two files as Markdown, for comments. Texts of the files become plain text.
import { kMaxRows, plainText, tableOf } from '../audit/markdown.js'
import type { ComparedValue, Comparison, KeyDifference, TensorComparison } from '../node.js'
import { counted, short, valueText } from './format.js'

const kRoom = 100

function keyRow({ key, kind, a, b, index, count }: KeyDifference): string[] {
  const shown = (one: ComparedValue | undefined): string => {
    if (one === undefined) return ''
    const { value } = one
    const at = typeof value === 'object' && index !== undefined ? value.slice(index, index + 1) : undefined
    return plainText(at ? `[${index}] ${String(at[0] ?? '(no element)')}` : valueText(value, kRoom))
  }
  const what = count === undefined ? kind : `${kind}: ${counted(count, 'element')}`
  return [plainText(key), what, shown(a), shown(b)]
}

const shapeOf = (tensor: TensorComparison['a']): string =>
  tensor ? `${tensor.type} ${tensor.shape.join(' x ')}` : 'missing'

function tensorRow({ name, a, b, cut, equal, error }: TensorComparison): string[] {
  const data = cut ? 'cut off' : equal === true ? 'same' : equal === false ? 'differ' : 'not read'
  return [plainText(name), plainText(shapeOf(a)), plainText(shapeOf(b)), data, error ? short(error.nmse) : '']
}

export function comparisonMarkdown(found: Comparison, first: string, second: string): string {
  const tensors = found.tensors.filter(({ differs }) => differs)
  const read = { none: 'headers only', sampled: 'some rows of each tensor', all: 'every byte' }[found.values]
  const keys = found.keys.length
  const changed = `${counted(keys, 'key')} and ${counted(tensors.length, 'tensor')} of ${found.tensors.length} differ`
  const cut = (rows: readonly unknown[]): string[] =>
    rows.length > kMaxRows ? [`${rows.length - kMaxRows} more rows.`, ''] : []
  return [
    `## ${plainText(first)} and ${plainText(second)}`,
    '',
    `${found.same ? 'No differences' : changed}; compared: ${read}.`,
    '',
    ...tableOf(['key', 'change', 'first', 'second'], found.keys.slice(0, kMaxRows).map(keyRow)),
    ...cut(found.keys),
    ...tableOf(['tensor', 'first', 'second', 'data', 'NMSE'], tensors.slice(0, kMaxRows).map(tensorRow)),
    ...cut(tensors),
  ].join('\n')
}
