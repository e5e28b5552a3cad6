// The schema of a tool's arguments.
import type { JsonSchema } from '../schema/node.js'
import type { FunctionTool } from './types.js'

export const kNoArguments: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

export function schemaOfTool({ function: { parameters } }: FunctionTool): JsonSchema {
  if (parameters === null || parameters === undefined) return kNoArguments
  const bare = typeof parameters === 'object' && Object.keys(parameters).length === 0
  return bare ? kNoArguments : parameters
}
