// JSON that is passed to a template as text, so that 1.0 and numbers beyond 2^53 keep their digits.
import { GgufError } from '../api/errors.js'

/** A value that is kept as its JSON text. */
export class JsonText {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** The JSON that Python's json.dumps writes with ensure_ascii=False. */
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

/** Checks that a text is a JSON object. Error: 'invalid-argument', whose message begins with `what`. */
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
