// Takes the types out of a snippet in TypeScript, so that it runs. Blanks take their places: lines and columns of errors stay.
// Loaded by the first snippet that has types.
import { typescriptLanguage } from '@codemirror/lang-javascript'

/** Parts of a program that say something about types only. */
const kTypes = new Set([
  'TypeAnnotation',
  'TypeArgList',
  'TypeParamList',
  'TypeAliasDeclaration',
  'InterfaceDeclaration',
  'Privacy',
  'readonly',
  'Optional',
])

export function withoutTypes(text: string): string {
  let plain = text
  const blank = (from: number, to: number) => {
    plain = plain.slice(0, from) + plain.slice(from, to).replace(/[^\n]/g, ' ') + plain.slice(to)
  }
  typescriptLanguage.parser.parse(text).iterate({
    enter({ name, from, to, node }) {
      const parent = node.parent?.name ?? ''
      if (kTypes.has(name) || (name === 'ImportDeclaration' && node.getChild('type'))) {
        blank(from, to)
        return false
      }
      // What follows the value in `value as const` and `value satisfies Type`.
      if ((name === 'as' || name === 'satisfies') && parent === 'BinaryExpression')
        blank(from, node.parent!.to)
      // `value!` and `field!: Type`, not `!value`.
      if (name === 'LogicOp' && /^(?:PostfixExpression|PropertyDeclaration)$/.test(parent)) blank(from, to)
      return undefined
    },
  })
  return plain
}
