// The JSON schema of an object, as a list of fields that a form shows.
import type { Plain } from '../../texts/text.ts'

type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'enum'

export interface Field {
  name: string
  type: FieldType
  required: boolean
  /** whether the value is a list of such values */
  isList: boolean
  /** the allowed values of an enum, separated by commas; numbers and words of JSON count as such */
  choices: string
  /** most characters of a text, and most entries of a list. A small model may never end them by itself. */
  longest: number
  max: number
}

export const fieldTypes: readonly { type: FieldType; title: Plain }[] = [
  { type: 'string', title: 'Text##type' },
  { type: 'number', title: 'Number' },
  { type: 'integer', title: 'Whole number' },
  { type: 'boolean', title: 'True or false' },
  { type: 'enum', title: 'One of a list' },
]

export const newField = (): Field => ({
  name: '',
  type: 'string',
  required: true,
  isList: false,
  choices: '',
  longest: 80,
  max: 8,
})

/** What is wrong with the fields: indexes of those without a name, with another one's name, or without choices. */
export function faultsOf(fields: readonly Field[]): { names: number[]; choices: number[] } {
  const indexes = [...fields.keys()]
  return {
    names: indexes.filter(
      (i) => fields[i]!.name === '' || fields.findIndex(({ name }) => name === fields[i]!.name) !== i,
    ),
    choices: indexes.filter((i) => fields[i]!.type === 'enum' && choicesOf(fields[i]!.choices).length === 0),
  }
}

type Value = string | number | boolean | null

function choicesOf(text: string): Value[] {
  const parts = text.split(',').map((part) => part.trim())
  const values = parts.filter(Boolean).map((part): Value => {
    if (!/^(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null|".*")$/.test(part)) return part
    try {
      return JSON.parse(part) as Value
    } catch {
      return part
    }
  })
  return [...new Set(values)]
}

/** An enum's value as the form shows it; undefined: it cannot show it. */
function choiceText(value: unknown): string | undefined {
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || value === null
  if (typeof value !== 'string' && !isPlain) return undefined
  for (const text of [String(value), JSON.stringify(value)]) {
    const [read, ...more] = choicesOf(text)
    if (read === value && more.length === 0) return text
  }
  return undefined
}

interface Part {
  type?: string
  enum?: readonly unknown[]
  maxLength?: number
  items?: Part
  maxItems?: number
}

function partOf({ type, choices, longest, isList, max }: Field): Part {
  const one: Part =
    type === 'enum'
      ? { enum: choicesOf(choices) }
      : { type, ...(type === 'string' && longest > 0 && { maxLength: longest }) }
  return isList ? { type: 'array', items: one, ...(max > 0 && { maxItems: max }) } : one
}

/** The schema as JSON text. Fields without a name are left out; no fields: an empty text. */
export function schemaText(fields: readonly Field[]): string {
  const faults = faultsOf(fields)
  const named = fields.filter((_, i) => !faults.names.includes(i) && !faults.choices.includes(i))
  if (named.length === 0) return ''
  // The entries of a Map keep their order, and its keys may be any names.
  const properties = Object.fromEntries(named.map((field) => [field.name, partOf(field)]))
  const required = named.filter((field) => field.required).map(({ name }) => name)
  const schema = { type: 'object', properties, required, additionalProperties: false }
  return JSON.stringify(schema, undefined, 2)
}

function fieldOf(name: string, part: Part, required: boolean): Field | undefined {
  const isList = part.type === 'array'
  const one = isList ? part.items : part
  if (typeof one !== 'object' || one === null) return undefined
  const choices = (Array.isArray(one.enum) ? (one.enum as unknown[]) : []).map(choiceText)
  const type = one.enum ? 'enum' : fieldTypes.find((row) => row.type === one.type)?.type
  if (type === undefined || choices.includes(undefined)) return undefined
  return {
    ...newField(),
    name,
    type,
    required,
    isList,
    choices: choices.join(', '),
    longest: one.maxLength ?? 0,
    max: part.maxItems ?? 0,
  }
}

/** The fields of a schema; undefined: it is no schema that the form can show without losing a part of it. */
export function fieldsOf(text: string): Field[] | undefined {
  if (!text.trim()) return []
  try {
    const schema = JSON.parse(text) as { properties?: Record<string, Part>; required?: unknown }
    const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : []
    const parts = Object.entries(schema.properties ?? {})
    const fields = parts.flatMap(([name, part]) => fieldOf(name, part, required.includes(name)) ?? [])
    const same = JSON.stringify(JSON.parse(schemaText(fields) || '0')) === JSON.stringify(schema)
    return same ? fields : undefined
  } catch {
    return undefined
  }
}
