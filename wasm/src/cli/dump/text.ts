// A dump as plain text, with the lines of gguf-dump.
import { endianness } from 'node:os'
import type { Dump, Field } from './fields.js'
import { lengthOf, padEnd, padStart, pythonText, sliced } from './python.js'

/** "[STRING]" for an array of strings. */
export function typeText({ types }: Field): string {
  const depth = types[0] === 'ARRAY' ? types.length - 1 : 0
  return '['.repeat(depth) + types.at(-1)! + ']'.repeat(depth)
}

function valueText(field: Field): string {
  if (field.types[0] === 'ARRAY') {
    const shown = field.scalars(6).map(pythonText).join(', ')
    return `[${shown}${field.count > 6 ? ', ...' : ''}]`
  }
  const [scalar] = field.scalars(1)
  const { value } = scalar!
  if (typeof value !== 'string' || lengthOf(value) <= 60) return pythonText(scalar!)
  return pythonText({ type: 'string', value: `${sliced(value, 0, 57)}...` })
}

export function* textLines({ endian, fields, tensors }: Dump, withTensors: boolean): Generator<string> {
  const host = endianness() === 'LE' ? 'LITTLE' : 'BIG'
  yield `* File is ${endian} endian, script is running on a ${host} endian host.`
  yield `* Dumping ${fields.length} key/value pair(s)`
  for (const [i, field] of fields.entries())
    yield `  ${padStart(String(i + 1), 5)}: ${padEnd(typeText(field), 10)} | ${padStart(String(field.count), 8)} | ${field.name} = ${valueText(field)}`
  if (!withTensors) return
  yield `* Dumping ${tensors.length} tensor(s)`
  for (const [i, { name, tensor }] of tensors.entries()) {
    const shape = Array.from({ length: Math.max(4, tensor.shape.length) }, (_, k) => tensor.shape[k] ?? 1)
    const dims = shape.map((n) => padStart(String(n), 5)).join(', ')
    yield `  ${padStart(String(i + 1), 5)}: ${padStart(String(tensor.elementCount), 10)} | ${dims} | ${padEnd(tensor.type, 7)} | ${name}`
  }
}
