// Converts JSON schemas to GBNF. Every text of the grammar is JSON that the schema accepts. A keyword is enforced
// completely, or is an error that names its place. Objects have their properties in the schema's order, and additional
// ones only if the schema declares them. White space and digits of numbers are limited.
import { Converter } from './converter.js'
import { SchemaDocument, type JsonSchema } from './node.js'
import { withinLimit } from './steps.js'

export type { JsonSchema } from './node.js'

/**
 * Converts a schema to a grammar in GBNF. Errors: 'unsupported' for a keyword that a grammar cannot enforce, or a
 * schema that takes too many steps to convert;
 * 'invalid-argument' for a value that is not a schema, or a schema that accepts nothing. Both name a JSON pointer.
 */
export function schemaToGrammar(schema: JsonSchema): string {
  return withinLimit(() => {
    const document = new SchemaDocument(schema)
    const converter = new Converter(document)
    const root = converter.visit([document.root], 'schema')
    return converter.rules.print(root) ?? converter.nothing()
  })
}
