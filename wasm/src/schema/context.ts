// What the writers of arrays and objects ask of the conversion that they are part of.
import type { Expression, Range } from './gbnf.js'
import type { Json, Node, SchemaDocument } from './node.js'
import type { Normalizer } from './normalize.js'
import type { Rules } from './rules.js'

/** How values are written: JSON, or a notation like it. */
export interface ValueStyle {
  /** what common rules are: kCommon in JSON */
  readonly common: Readonly<Record<string, string>>
  /** around strings */
  readonly quote: Expression
  /** one character of a set within a string */
  readonly character: (ranges: readonly Range[]) => Expression
  /** a whole value, or a property's key */
  readonly value: (value: Json) => Expression
  readonly key: (key: string) => Expression
}

/** How the properties of one object are written: in JSON's way, or as parameters of a call. */
export interface ObjectSyntax {
  readonly open: Expression
  readonly close: Expression
  readonly comma: Expression
  readonly pair: (key: string, nodes: readonly Node[]) => Expression
  /** whether properties can be written that no schema names */
  readonly others: boolean
}

export interface Context {
  readonly style: ValueStyle
  readonly document: SchemaDocument
  readonly rules: Rules
  readonly normalizer: Normalizer
  /** accepts every string */
  readonly strings: Node
  /** Whether no value is accepted by all nodes. What is not known counts as accepted. */
  isEmpty(nodes: readonly Node[]): boolean
  /** All values that nodes accept, where they are few and known. */
  values(nodes: readonly Node[]): Json[] | undefined
  /** What all nodes accept. */
  visit(nodes: readonly Node[], hint: string): Expression
}
