// node scripts/make-engine-classes.ts: writes wasm/src/engine/classes.d.ts, the types of the classes that wasm/bindings_*.cpp
// register for the engine's modules, and of the structs that only those files know. The build runs it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { writeSource } from './core-tables.ts'

// What several files use comes first.
const kFiles = ['gpu', 'engine', 'speech', 'speaker', 'trace'].map((name) => `wasm/bindings_${name}.cpp`)
const kStructs = 'wasm/plan_tables.hpp'

const kTypes: Readonly<Record<string, string>> = {
  void: 'void',
  bool: 'boolean',
  int: 'number',
  int32_t: 'number',
  uint32_t: 'number',
  float: 'number',
  double: 'number',
  uintptr_t: 'Pointer',
  Span: 'Span',
  'std::string': 'string',
}

/** The structs of the types so far that other files define: records.d.ts describes them. */
const imported = new Set<string>()
let classes: readonly string[] = []
let structs: readonly string[] = []

function typeOf(cpp: string): string {
  const name = cpp.replace(/^const /, '').replace(/&$/, '')
  const type = kTypes[name]
  if (type !== undefined) return type
  if (!/^[A-Z]\w+$/.test(name)) throw new Error(`no type of TypeScript for ${cpp}`)
  if (classes.includes(name)) return `Wasm${name}`
  if (!structs.includes(name)) imported.add(name)
  return name
}

const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const matchOf = (text: string, pattern: RegExp, what: string): RegExpExecArray => {
  const match = pattern.exec(text)
  if (!match) throw new Error(`${what} was not found`)
  return match
}
/** What is between the braces of a struct or class at the beginning of a line. */
const bodyOf = (text: string, name: string): string =>
  matchOf(text, new RegExp(`^(?:class|struct) ${name} \\{\\n([^]*?)\\n\\};`, 'm'), name)[1]!
const comment = (text: string): string =>
  text === '' ? '' : `  /** ${text.replaceAll(/\b[a-z]+_\w+\(\)/g, camel)} */\n`

/** A C++ declaration of a parameter or field: its type and names. */
function declared(text: string): { type: string; names: string[] } {
  const [, type, names] = matchOf(text.trim(), /^((?:const )?[\w:]+&?) ([\w, =]+)$/s, text)
  return { type: typeOf(type!), names: names!.split(',').map((name) => name.replace(/=.*/s, '').trim()) }
}

function parametersOf(list: string): string {
  if (list.trim() === '') return ''
  return list
    .split(',')
    .map(declared)
    .map(({ type, names }) => `${camel(names[0]!)}: ${type}`)
    .join(', ')
}

/** A method: its comment in C++, and its signature. */
function methodOf(body: string, js: string, name: string): string {
  const signature = `^((?:  ///.*\\n)*)  (?:\\[\\[nodiscard\\]\\] )?(?:static )?([\\w:]+) ${name}\\(([^)]*)\\)`
  const [, above, type, parameters] = matchOf(body, new RegExp(signature, 'm'), name)
  const lines = above!.split('\n').map((line) => line.replace(/^ *\/\/\/ ?/, ''))
  return `${comment(lines.join(' ').trim())}  ${js}(${parametersOf(parameters!)}): ${typeOf(type!)}\n`
}

/** An interface of the class for its objects, and one for itself. */
function classOf(text: string, cpp: string, name: string, members: string): string {
  const body = bodyOf(text, cpp)
  const methods = (kind: string): string =>
    [...members.matchAll(new RegExp(`\\.${kind}\\("(\\w+)", &\\w+::(\\w+)\\)`, 'g'))]
      .map(([, js, method]) => methodOf(body, js!, method!))
      .join('')
  const [, pointer] = matchOf(members, /\.constructor<(uintptr_t)?>\(\)/, `the constructor of ${name}`)
  return `
export interface Wasm${name} {
${methods('function')}  delete(): void
}
export interface Wasm${name}Type {
  new (${pointer ? 'session: Pointer' : ''}): Wasm${name}
${methods('class_function')}}
`
}

function structOf(text: string, name: string): string {
  const jsName = (member: string): string =>
    matchOf(text, new RegExp(`\\.field\\("(\\w+)", &${name}::${member}\\)`), `${name}::${member}`)[1]!
  const fields = bodyOf(text, name)
    .split('\n')
    .map((line) => matchOf(line, /^  (.+);(?: +\/\/\/< (.+))?$/, `a field in ${line}`))
    .map(([, declaration, about]) => {
      const { type, names } = declared(declaration!)
      return comment(about ?? '') + names.map((member) => `  readonly ${jsName(member)}: ${type}\n`).join('')
    })
  return `\nexport interface ${name} {\n${fields.join('')}}\n`
}

let out = ''
const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8')
for (const path of kFiles) {
  const text = (path === kFiles[0] ? read(kStructs) : '') + read(path)
  const namesOf = (kind: string): string[] =>
    [...text.matchAll(new RegExp(`^${kind} (\\w+) \\{$`, 'gm'))].map(([, name]) => name!)
  classes = namesOf('class')
  const own = namesOf('struct')
  structs = [...structs, ...own]
  for (const name of own) out += structOf(text, name)
  for (const [, cpp, name, members] of text.matchAll(/class_<(\w+)>\("(\w+)"\)([^;]+);/g))
    out += classOf(text, cpp!, name!, members!)
}
writeSource(
  import.meta.filename,
  'wasm/src/engine/classes.d.ts',
  'wasm/bindings_*.cpp',
  `// Addresses in the heap are valid until the next call.
import type { Pointer, Span } from '../runtime/span.js'
import type { ${[...imported].sort().join(', ')} } from './records.js'
${out}`,
)
