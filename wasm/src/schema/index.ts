// JSON schemas as GBNF: every text of the grammar is JSON that the schema accepts. A keyword is kept whole or is an error
// that says where it stands. Objects have their properties in the schema's order, and others only where the schema says
// so; white space and the digits of numbers have bounds.
import { GgufError } from '../api/errors.js'
import { Converter } from './converter.js'
import { SchemaDocument, type JsonSchema } from './node.js'

export type { JsonSchema } from './node.js'

/**
 * The grammar of a schema's JSON. Errors: 'unsupported' for what a grammar cannot keep, 'invalid-argument' for what is no
 * schema or accepts nothing; both say where, as a JSON pointer.
 */
export function schemaToGrammar(schema: JsonSchema): string {
  const document = new SchemaDocument(schema)
  const converter = new Converter(document)
  const root = converter.visit([document.root], 'schema')
  const grammar = converter.rules.print(root)
  if (grammar === undefined)
    throw new GgufError(
      'invalid-argument',
      `The schema accepts nothing: ${converter.normalizer.reason ?? 'no value keeps to all that it says'}.`,
    )
  return grammar
}
