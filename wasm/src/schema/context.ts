// What the writers of arrays and objects ask of the conversion that they are part of.
import type { Expression } from './gbnf.js'
import type { Json, Node, SchemaDocument } from './node.js'
import type { Normalizer } from './normalize.js'
import type { Rules } from './rules.js'

export interface Context {
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
