// JSON that goes to a template as it stands, so that 1.0 and numbers beyond 2^53 stay what they are.
import { GgufError } from '../api/errors.js'

/** A value by its JSON. */
export class JsonText {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** As Python's json.dumps writes it, without escapes of what is not ASCII. */
export function pythonJson(value: unknown): string {
  if (value instanceof JsonText) return value.text
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((one) => pythonJson(one ?? null)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${JSON.stringify(key)}: ${pythonJson(item)}`)
    .join(', ')}}`
}

/** The JSON object that a text is. Errors: 'invalid-argument', which names what it is. */
export function objectText(text: string, what: string): JsonText {
  const trimmed = text.trim()
  if (trimmed === '') return new JsonText('{}')
  let value: unknown
  try {
    value = JSON.parse(trimmed)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new JsonText(trimmed)
  throw new GgufError('invalid-argument', `${what} is no JSON object: ${text.slice(0, 80)}`)
}
