// Validates a value against a schema. Used to filter the values of enum and const.
import { hasFormat, kNumberFormats } from './formats.js'
import { matches } from './matches.js'
import { isMultiple } from './numbers.js'
import { isAmong, same, typeOf, type Json, type Keywords, type Node } from './node.js'
import { countSteps } from './steps.js'

/** The evaluated properties and items of a value. */
interface Seen {
  readonly keys: Set<string>
  readonly items: Set<number>
}
type JsonObject = { readonly [key: string]: Json }

export function accepts(node: Node, value: Json): boolean {
  return evaluate(node, value, 0) !== undefined
}

function evaluate(node: Node, value: Json, depth: number): Seen | undefined {
  if (depth > 500) return undefined
  countSteps(4)
  const k = node.keywords()
  const type = typeOf(value)
  if (k.types && !k.types.has(type)) return undefined
  if (k.values && !isAmong(value, k.values)) return undefined
  if (k.excluded && isAmong(value, k.excluded)) return undefined
  const seen: Seen = { keys: new Set(), items: new Set() }
  const inside = (child: Node, item: Json) => evaluate(child, item, depth + 1) !== undefined
  if (typeof value === 'number' && !acceptsNumber(k, value)) return undefined
  if (typeof value === 'string' && !acceptsString(k, value)) return undefined
  if (Array.isArray(value) && !acceptsArray(k, value, inside, seen)) return undefined
  if (type === 'object' && !acceptsObject(k, value as JsonObject, inside, seen)) return undefined
  if (!acceptsCombined(k, value, depth, seen)) return undefined
  return acceptsUnevaluated(k, value, inside, seen) ? seen : undefined
}

function acceptsNumber(k: Keywords, value: number): boolean {
  const format = k.format === undefined ? undefined : kNumberFormats[k.format]
  if ((k.integer || format?.integer) && !Number.isInteger(value)) return false
  if (k.fraction && Number.isInteger(value)) return false
  if (value < Math.max(k.minimum ?? -Infinity, format?.minimum ?? -Infinity)) return false
  if (value > Math.min(k.maximum ?? Infinity, format?.maximum ?? Infinity)) return false
  if (k.exclusiveMinimum !== undefined && value <= k.exclusiveMinimum) return false
  if (k.exclusiveMaximum !== undefined && value >= k.exclusiveMaximum) return false
  if (k.multipleOf !== undefined && !isMultiple(value, k.multipleOf)) return false
  return k.notMultipleOf === undefined || !isMultiple(value, k.notMultipleOf)
}

function acceptsString(k: Keywords, value: string): boolean {
  const length = Array.from(value).length
  if (length < (k.minLength ?? 0) || length > (k.maxLength ?? Infinity)) return false
  if (k.format !== undefined && !hasFormat(k.format, value)) return false
  return (k.patterns ?? []).every(({ source, negated }) => matches(source, value) !== negated)
}

type Inside = (child: Node, item: Json) => boolean

function acceptsArray(k: Keywords, value: readonly Json[], inside: Inside, seen: Seen): boolean {
  const { prefix = [], items, contains } = k
  if (value.length < (k.minItems ?? 0) || value.length > (k.maxItems ?? Infinity)) return false
  if (k.unique && value.some((item, i) => value.slice(0, i).some((other) => same(item, other)))) return false
  for (const [i, item] of value.entries()) {
    const child = prefix[i] ?? items
    if (!child) continue
    if (!inside(child, item)) return false
    seen.items.add(i)
  }
  if (!contains) return true
  let count = 0
  value.forEach((item, i) => {
    if (i < contains.from || !inside(contains.node, item)) return
    count++
    seen.items.add(i)
  })
  return count >= contains.min && count <= contains.max
}

function acceptsObject(k: Keywords, value: JsonObject, inside: Inside, seen: Seen): boolean {
  const keys = Object.keys(value)
  if (keys.length < (k.minProperties ?? 0) || keys.length > (k.maxProperties ?? Infinity)) return false
  const has = (name: string) => Object.hasOwn(value, name)
  if (!(k.required ?? []).every(has)) return false
  for (const [name, others] of k.dependentRequired ?? []) if (has(name) && !others.every(has)) return false
  for (const key of keys) {
    if (k.propertyNames && !inside(k.propertyNames, key)) return false
    const children = [k.properties?.get(key)].filter((child) => child !== undefined)
    for (const [source, child] of k.patternProperties ?? []) if (matches(source, key)) children.push(child)
    if (children.length === 0 && k.additional) children.push(k.additional)
    if (!children.every((child) => inside(child, value[key]!))) return false
    if (children.length > 0) seen.keys.add(key)
  }
  const { someKey } = k
  if (!someKey) return true
  return keys.some(
    (key) =>
      !someKey.names.has(key) &&
      !someKey.patterns.some((source) => matches(source, key)) &&
      inside(someKey.node, value[key]!),
  )
}

function acceptsCombined(k: Keywords, value: Json, depth: number, seen: Seen): boolean {
  const take = (child: Node): boolean => {
    const found = evaluate(child, value, depth + 1)
    if (!found) return false
    for (const key of found.keys) seen.keys.add(key)
    for (const item of found.items) seen.items.add(item)
    return true
  }
  if (![...(k.references ?? []), ...(k.allOf ?? [])].every(take)) return false
  if (k.anyOf && k.anyOf.map(take).every((good) => !good)) return false
  if (k.oneOf && k.oneOf.map(take).filter(Boolean).length !== 1) return false
  if (k.not && evaluate(k.not, value, depth + 1)) return false
  if (k.if) {
    const branch = take(k.if) ? k.then : k.else
    if (branch && !take(branch)) return false
  }
  if (typeOf(value) !== 'object') return true
  for (const [name, child] of k.dependentSchemas ?? [])
    if (Object.hasOwn(value as JsonObject, name) && !take(child)) return false
  return true
}

function acceptsUnevaluated(k: Keywords, value: Json, inside: Inside, seen: Seen): boolean {
  const { unevaluatedItems: items, unevaluatedProperties: properties } = k
  if (items && Array.isArray(value))
    for (const [i, item] of value.entries()) {
      if (seen.items.has(i)) continue
      if (!inside(items, item as Json)) return false
      seen.items.add(i)
    }
  if (properties && typeOf(value) === 'object')
    for (const [key, item] of Object.entries(value as JsonObject)) {
      if (seen.keys.has(key)) continue
      if (!inside(properties, item)) return false
      seen.keys.add(key)
    }
  return true
}
