// GBNF rules of JSON's values, and regular expressions of the formats of strings that a schema can name.

export const kPlain = '[^"\\\\\\x00-\\x1f]'
// Escapes of surrogates would be half a character each.
export const kCommon: Readonly<Record<string, string>> = {
  space: '| " " | "\\n"{1,2} [ \\t]{0,20}',
  char: `${kPlain} | "\\\\" (["\\\\/bfnrt] | "u" ([0-9a-cefA-CEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))`,
  string: '"\\"" char* "\\""',
  integer: '"-"? ("0" | [1-9] [0-9]{0,14})',
  number: 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  pair: 'string ":" space value',
  object: '"{" space (pair ("," space pair)* space)? "}"',
  array: '"[" space (value ("," space value)* space)? "]"',
  value: 'object | array | string | number | boolean | null',
}
const kLabel = '[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?'
const kDay =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))'
const kTime = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])'
const kByte = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
export const kFormats: Readonly<Record<string, string>> = {
  date: kDay,
  time: kTime,
  'date-time': `${kDay}T${kTime}`,
  uuid: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  email: `[a-zA-Z0-9]{1,30}([._+-][a-zA-Z0-9]{1,20}){0,3}@(${kLabel}\\.){1,3}[a-z]{2,12}`,
  hostname: `${kLabel}(\\.${kLabel}){0,4}`,
  ipv4: `${kByte}(\\.${kByte}){3}`,
  ipv6: '([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}',
  uri: `https?://${kLabel}(\\.${kLabel}){0,4}(/[a-zA-Z0-9._~-]{0,40}){0,8}`,
}
