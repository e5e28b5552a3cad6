// GBNF rules for JSON values.
import type { ValueStyle } from './context.js'
import { jsonCharacter, text } from './gbnf.js'

const kPlain = '[^"\\\\\\x00-\\x1f]'
// Escapes of surrogates are left out, because each is half a character.
export const kCommon: Readonly<Record<string, string>> = {
  space: '| " " | "\\n"{1,2} [ \\t]{0,20}',
  char: `${kPlain} | "\\\\" (["\\\\/bfnrt] | "u" ([0-9a-cefA-CEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))`,
  string: '"\\"" char* "\\""',
  integer: '"-"? ("0" | [1-9] [0-9]{0,19})',
  number: 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  pair: 'string ":" space value',
  object: '"{" space (pair ("," space pair)* space)? "}"',
  array: '"[" space (value ("," space value)* space)? "]"',
  value: 'object | array | string | number | boolean | null',
}

export const kJson: ValueStyle = {
  common: kCommon,
  quote: text('"'),
  character: jsonCharacter,
  value: (value) => text(JSON.stringify(value)),
  key: (key) => text(JSON.stringify(key)),
}
