// The schema of a tool's arguments.
import type { JsonSchema } from '../schema/node.js'
import type { FunctionTool } from './types.js'

const kNoArguments: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }
// Keywords that allow no arguments, beside properties without any.
const kBare = new Set(['type', 'properties', 'required', '$schema', 'title', 'description'])

export function schemaOfTool({ function: { parameters } }: FunctionTool): JsonSchema {
  if (parameters === null || parameters === undefined) return kNoArguments
  if (typeof parameters !== 'object') return parameters
  const keys = Object.keys(parameters)
  const { type = 'object', properties, required = [] } = parameters
  const named = [Object.keys(properties ?? { any: true }), required].flat()
  const none = type === 'object' && named.length === 0 && keys.every((key) => kBare.has(key))
  return none || keys.length === 0 ? kNoArguments : parameters
}
