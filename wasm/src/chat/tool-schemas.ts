// Finds the kind of each parameter from the schemas of the tools' arguments.
import { either, listOf, oneOf, text, type Check } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { Converter } from '../schema/converter.js'
import { SchemaDocument, typeOf, type Node } from '../schema/node.js'
import { nodesOfKey } from '../schema/objects.js'
import { StepBudget } from '../schema/steps.js'
import { schemaOfTool } from './schema-of-tool.js'
import type { FunctionTool, ToolChoice } from './types.js'

/** string: only strings, written without quotes; json: no strings; either: JSON if it parses, otherwise a string */
type ValueKind = 'string' | 'json' | 'either'

const isTool: Check = (value) => {
  const called = (value as { function?: { name?: unknown } | null } | null | undefined)?.function
  return text(called?.name)
}
/** A check: tools of functions. */
export const toolList = listOf(isTool, 'an array of { type, function: { name, parameters } }')
/** A check: 'auto', 'none', 'required', or one function. */
export const toolChoice = either(oneOf('auto', 'none', 'required'), (value) =>
  isTool(value) === undefined ? undefined : '{ function: { name } }',
)

/** The kind of the values that all nodes accept. */
export function kindOf(converter: Converter, nodes: readonly Node[]): ValueKind {
  const types = new Set<string>()
  for (const one of converter.normalizer.all(nodes))
    for (const type of one.values ? one.values.map(typeOf) : one.types) types.add(type)
  if (!types.has('string')) return types.size === 0 ? 'either' : 'json'
  return types.size === 1 ? 'string' : 'either'
}

// Steps to find the kinds of all parameters of a reply: a server reads many replies in one thread.
const kMaxKindSteps = 500_000

/** Kinds by tool and parameter. */
export class ParameterKinds {
  readonly #tools: ReadonlyMap<string, FunctionTool>
  readonly #known = new Map<string, ValueKind>()
  readonly #limit = new StepBudget(kMaxKindSteps)

  constructor(tools: readonly FunctionTool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.function.name, tool]))
  }

  has(name: string): boolean {
    return this.#tools.size === 0 || this.#tools.has(name)
  }

  /** The names of a tool's parameters, the longest first. */
  names(name: string): readonly string[] {
    const parameters: unknown = this.#tools.get(name)?.function.parameters
    const { properties } = (parameters ?? {}) as { properties?: unknown }
    if (typeof properties !== 'object' || properties === null) return []
    const names = Object.keys(properties).filter((key) => key !== '')
    return names.sort((a, b) => b.length - a.length)
  }

  of(name: string, parameter: string): ValueKind {
    const tool = this.#tools.get(name)
    if (!tool) return 'either'
    const key = `${name}\0${parameter}`
    let kind = this.#known.get(key)
    if (!kind) this.#known.set(key, (kind = this.#find(tool, parameter)))
    return kind
  }
  #find(tool: FunctionTool, parameter: string): ValueKind {
    try {
      return this.#limit.run(() => {
        const document = new SchemaDocument(schemaOfTool(tool))
        const converter = new Converter(document)
        const kinds = converter.normalizer
          .all([document.root])
          .map(({ object }) => kindOf(converter, nodesOfKey(object.layers, parameter, document.never)))
        return kinds.length > 0 && kinds.every((kind) => kind === kinds[0]) ? kinds[0]! : 'either'
      })
    } catch (error) {
      if (error instanceof GgufError) return 'either' // a schema that a grammar cannot enforce
      throw error
    }
  }
}

/** The tools that a choice allows. Error: 'invalid-argument' if it names no tool. */
export function chosenTools(tools: readonly FunctionTool[], choice: ToolChoice): readonly FunctionTool[] {
  if (choice === 'none') return []
  if (typeof choice === 'string') return tools
  const chosen = tools.filter((tool) => tool.function.name === choice.function.name)
  if (chosen.length > 0) return chosen
  throw new GgufError(
    'invalid-argument',
    `tool_choice names ${JSON.stringify(choice.function.name)}, and no tool has that name.`,
  )
}
