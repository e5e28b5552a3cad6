// Writes values as a console shows them, in limited length.

const kMaxItems = 20
const kMaxDepth = 4
const kMaxLength = 4000

function items(values: Iterable<unknown>, count: number, depth: number, seen: readonly object[]): string {
  const shown: string[] = []
  for (const value of values) {
    if (shown.length === kMaxItems) break
    shown.push(write(value, depth, seen))
  }
  if (count > shown.length) shown.push(`... ${count - shown.length} more`)
  return shown.length === 0 ? '[]' : `[ ${shown.join(', ')} ]`
}

function fields(value: object, depth: number, seen: readonly object[]): string {
  const entries = Object.entries(value)
  const shown = entries.slice(0, kMaxItems).map(([key, field]) => `${key}: ${write(field, depth, seen)}`)
  if (entries.length > kMaxItems) shown.push(`... ${entries.length - kMaxItems} more`)
  return shown.length === 0 ? '{}' : `{ ${shown.join(', ')} }`
}

function writeObject(value: object, depth: number, seen: readonly object[]): string {
  if (value instanceof Error) {
    const code: unknown = 'code' in value ? value.code : undefined
    return `${value.name}${typeof code === 'string' ? ` [${code}]` : ''}: ${value.message}`
  }
  if (value instanceof Blob) return `Blob { size: ${value.size}, type: '${value.type}' }`
  if (seen.includes(value)) return '[circular]'
  const name = Object.getPrototypeOf(value)?.constructor?.name ?? 'Object'
  if (depth === kMaxDepth) return `[${name}]`
  const inner = [...seen, value]
  if (Array.isArray(value)) return items(value, value.length, depth + 1, inner)
  if (ArrayBuffer.isView(value) && Symbol.iterator in value) {
    const { length } = value as Uint8Array
    return `${name}(${length}) ${items(value as Uint8Array, length, depth + 1, inner)}`
  }
  if (value instanceof Map || value instanceof Set)
    return `${name}(${value.size}) ${items(value, value.size, depth + 1, inner)}`
  return `${name === 'Object' ? '' : `${name} `}${fields(value, depth + 1, inner)}`
}

function write(value: unknown, depth: number, seen: readonly object[]): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'bigint':
      return `${value}n`
    case 'function':
      return `[function ${value.name}]`
    case 'object':
      return value === null ? 'null' : writeObject(value, depth, seen)
    default:
      return String(value)
  }
}

/** The line that console.log writes for its arguments. */
export function printed(values: readonly unknown[]): string {
  const line = values.map((value) => (typeof value === 'string' ? value : write(value, 0, []))).join(' ')
  return line.length > kMaxLength ? `${line.slice(0, kMaxLength)}...` : line
}
