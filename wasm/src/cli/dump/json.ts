// A dump as JSON, with the members of gguf-dump --json.
import type { Dump, Field, TypedScalar } from './fields.js'
import { floatText } from './python.js'

/** Integers keep all digits. JSON has no NaN and no infinities: they are strings, as in every command. */
function scalarJson({ type, value }: TypedScalar): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number') return JSON.stringify(value)
  if (!Number.isFinite(value)) return JSON.stringify(String(value))
  return type === 'f32' || type === 'f64' ? floatText(value) : String(value)
}

function fieldJson(field: Field, index: number, withArrays: boolean): string {
  const { types, offset } = field
  const members = [`"index": ${index}`, `"type": "${types[0]}"`, `"offset": ${offset}`]
  if (types[0] === 'ARRAY') members.push(`"array_types": ${JSON.stringify(types.slice(1))}`)
  if (types[0] !== 'ARRAY') members.push(`"value": ${scalarJson(field.scalars(1)[0]!)}`)
  else if (withArrays) members.push(`"value": [${field.scalars().map(scalarJson).join(', ')}]`)
  return `{ ${members.join(', ')} }`
}

/** Pieces of one JSON document. */
export function* jsonLines(
  { endian, fields, tensors }: Dump,
  filename: string,
  { withArrays, withTensors }: { withArrays: boolean; withTensors: boolean },
): Generator<string> {
  const object = (name: string, rows: readonly string[], end: string): string =>
    rows.length === 0 ? `  "${name}": {}${end}` : `  "${name}": {\n    ${rows.join(',\n    ')}\n  }${end}`
  yield '{'
  yield `  "filename": ${JSON.stringify(filename)},`
  yield `  "endian": "${endian}",`
  const keys = fields.map((field, i) => `${JSON.stringify(field.name)}: ${fieldJson(field, i, withArrays)}`)
  yield object('metadata', keys, ',')
  const rows = tensors.map(({ name, tensor, offset }, index) => {
    const { shape, type } = tensor
    return `${JSON.stringify(name)}: ${JSON.stringify({ index, shape, type, offset })}`
  })
  yield object('tensors', withTensors ? rows : [], '')
  yield '}'
}
