// Tools that the user defines as JSON, and the simulated results of their calls.
import type { FunctionTool } from 'ggufscope/engine'
import { t } from '../language/text'

export interface Tools {
  readonly tools: readonly FunctionTool[]
  /** the preset results by the function's name */
  readonly results: ReadonlyMap<string, string>
}

export const exampleTools = `[
  {
    "type": "function",
    "function": {
      "name": "weather",
      "description": "Tells the weather of a city",
      "parameters": {
        "type": "object",
        "properties": { "city": { "type": "string", "maxLength": 40 } },
        "required": ["city"],
        "additionalProperties": false
      }
    },
    "result": { "sky": "clear", "celsius": 21 }
  }
]
`

interface Given {
  readonly function?: { readonly name?: unknown }
  readonly name?: unknown
  readonly result?: unknown
}

/**
 * Parses tools in OpenAI's form, or functions alone. Each may have a `result`. Throws an Error that says what is wrong.
 */
export function parseTools(text: string): Tools {
  if (!text.trim()) return { tools: [], results: new Map() }
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw new Error(t('The tools are not JSON: {error}', { error: (error as Error).message }), {
      cause: error,
    })
  }
  if (!Array.isArray(given)) throw new Error(t('Tools are a JSON array of functions.'))
  const results = new Map<string, string>()
  const tools = given.map((one: Given | null, i) => {
    const { result, ...rest } = one ?? {}
    const called = rest.function ?? rest
    if (typeof called.name !== 'string') throw new Error(t('Tool {number} has no name.', { number: i + 1 }))
    if (result !== undefined)
      results.set(called.name, typeof result === 'string' ? result : JSON.stringify(result))
    return { type: 'function', function: called } as FunctionTool
  })
  return { tools, results }
}

/** The preset results of an answer's calls, empty where there is none; undefined: no calls. */
export const presetResults = (
  { calls = [] }: { readonly calls?: readonly { readonly name: string }[] },
  results: Tools['results'],
): string[] | undefined => (calls.length > 0 ? calls.map(({ name }) => results.get(name) ?? '') : undefined)
