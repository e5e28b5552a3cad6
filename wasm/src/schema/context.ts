// The interface of the conversion that the writers of arrays and objects use.
import type { Expression, Range } from './gbnf.js'
import type { Json, Node, SchemaDocument } from './node.js'
import type { Normalizer } from './normalize.js'
import type { Rules } from './rules.js'

/** The notation of values: JSON, or a similar one. */
export interface ValueStyle {
  /** the common rules; kCommon for JSON */
  readonly common: Readonly<Record<string, string>>
  /** the quotes of strings */
  readonly quote: Expression
  /** one character of a set within a string */
  readonly character: (ranges: readonly Range[]) => Expression
  /** a whole value, or a property's key */
  readonly value: (value: Json) => Expression
  readonly key: (key: string) => Expression
}

/** The notation of an object's properties: JSON, or parameters of a call. */
export interface ObjectSyntax {
  readonly open: Expression
  readonly close: Expression
  readonly comma: Expression
  readonly pair: (key: string, nodes: readonly Node[]) => Expression
  /** whether properties that no schema names can be written */
  readonly others: boolean
}

export interface Context {
  readonly style: ValueStyle
  readonly document: SchemaDocument
  readonly rules: Rules
  readonly normalizer: Normalizer
  /** accepts every string */
  readonly strings: Node
  /** Whether the nodes have no common value. If that is unknown, the answer is false. */
  isEmpty(nodes: readonly Node[]): boolean
  /** All values that the nodes accept together, if they are few and known. */
  values(nodes: readonly Node[]): Json[] | undefined
  /** The grammar of the values that all nodes accept. */
  visit(nodes: readonly Node[], hint: string): Expression
}
