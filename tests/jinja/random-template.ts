// Random templates: statements in statements, with the variables, loops, macros and namespaces that are in scope.
// Most expressions have the kind that their place requires, so that most templates run to their end.

type Kind = 'text' | 'number' | 'list' | 'dict' | 'any'
type Row = readonly [what: string, kind: Kind]
const kKinds: readonly Kind[] = ['text', 'number', 'list', 'dict', 'any']

/** "kind: one two | kind: three" as rows. */
function rows(text: string): Row[] {
  return text.split(' | ').flatMap((group) => {
    const [kind, all] = group.split(': ') as [Kind, string]
    return all.split(' ').map((what): Row => [what, kind])
  })
}

/** Filters and methods by the kind of their operand, with the kind of their result. */
const kFilters: Readonly<Record<Kind, readonly Row[]>> = {
  text: rows(
    'text: capitalize center(9) e escape forceescape format(1,2) indent indent(2,true) indent(width=3,blank=true) lower ' +
      'replace("l","L",1) replace("a","X") safe string striptags title trim trim("<") truncate(5) truncate(5,true) upper ' +
      'truncate(6,false,"..",0) urlencode wordwrap(5) first last reverse default("D") d("D",true) tojson pprint | ' +
      'number: wordcount length count int int(5) int(0,16) float float(1.5) | list: list batch(2) batch(3,"-") slice(2) ' +
      'slice(3,"f") sort unique map("upper")',
  ),
  number: rows(
    'number: abs int float round round(1) round(1,"floor") round(0,"ceil") default(4) | text: string filesizeformat ' +
      'filesizeformat(true) tojson pprint e',
  ),
  list: rows(
    'list: batch(2) list map("string") map("int") map("default","q") reject("odd") select select("string") reject reverse ' +
      'slice(2) slice(3,"f") sort sort(true) unique unique(true) map("upper") default([]) | number: length count ' +
      'sum(start=1) | any: first last max min | text: join join("|") join(",") tojson tojson(indent=2) string pprint ' +
      'tojson(separators=(",",":"),sort_keys=true)',
  ),
  dict: rows(
    'list: dictsort dictsort(true,"value") dictsort(reverse=true) items list sort | number: length | text: tojson ' +
      'tojson(indent=1) string xmlattr urlencode pprint join',
  ),
  any: rows(
    'any: default("D") d("D",true) first last | text: string tojson pprint upper e | number: length int list',
  ),
}
const kOfPeople: readonly Row[] = rows(
  'list: groupby("age") groupby("address.city") map(attribute="name") map(attribute="tags") map(attribute="zip",default=0) ' +
    'rejectattr("age","gt",26) selectattr("tags") selectattr("age","eq",30) sort(attribute="age,name") ' +
    'sort(attribute="name",case_sensitive=true) unique(attribute="age") sort(attribute="address.city",reverse=true) | ' +
    'number: sum(attribute="age") | any: max(attribute="age") min(attribute="name") | text: join(";",attribute="name")',
)
const kMethods: Readonly<Record<Kind, readonly Row[]>> = {
  text: rows(
    'text: capitalize() center(12,"*") format(1) join(words) ljust(14,".") lower() lstrip() removeprefix("He") rjust(3) ' +
      'removesuffix("ld") replace("l","") rstrip() strip() strip(" <") swapcase() title() upper() zfill(15) casefold() ' +
      'expandtabs(2) | number: count("l") find("o") rfind("l") index("l") | any: endswith("d") isalnum() isalpha() isascii() ' +
      'isdecimal() isdigit() islower() isnumeric() isspace() istitle() isupper() startswith("H") startswith(("a","H")) | ' +
      'list: partition(",") rpartition("l") rsplit() rsplit(",",1) split() split("l") split(",",1) splitlines() splitlines(true)',
  ),
  number: rows('number: bit_length() conjugate()'),
  list: rows('number: index(1) count(1) | list: copy() | any: append(1) pop()'),
  dict: rows('list: keys() values() items() | dict: copy() | any: get("a") get("q") get("q",1) update(d)'),
  any: rows('any: get("a") keys() q'),
}
const kAtoms: Readonly<Record<Kind, readonly string[]>> = {
  text: [
    's',
    't',
    'e',
    '"a"',
    "'b'",
    '""',
    '"%s-%d"',
    '"{}:{}"',
    '"ß\\n"',
    "'it\"s'",
    'people[0].name',
    'words[1]',
  ],
  number: [
    'n',
    'z',
    'x',
    '0',
    '1',
    '2',
    '10',
    '-1',
    '1.5',
    '0.1',
    '1e3',
    '123456789012345678901',
    '1_000',
    'd.a',
  ],
  list: ['items', 'words', 'mixed', 'people', '[]', '[1,2,3]', '["a","b"]', '(1,2)', '(1,)', '()', 'range(3)', 'range(5,0,-2)', 'tree'], // prettier-ignore
  dict: ['d', '{}', '{"a":1,"b":2}', 'dict(a=1)', 'people[1]', 'dict(d, z=s)'],
  any: [
    'yes',
    'no',
    'nothing',
    'true',
    'false',
    'none',
    'True',
    'None',
    'missing',
    'd.q',
    'caller',
    'mixed[3]',
  ],
}
const kTests: readonly string[] = (
  'boolean callable defined divisibleby(2) eq(1) even false filter float ge(2) gt(1) in(items) integer iterable le(3) ' +
  'lower lt(3) mapping ne(1) none number odd sameas(nothing) sequence string test true undefined upper'
).split(' ')
const kLoopNames: readonly string[] =
  'index index0 revindex revindex0 first last length depth depth0 previtem nextitem cycle("a","b") changed(n)'.split(
    ' ',
  )
const kTexts: readonly string[] = ['a', ' ', '\n', ' text\n', '  \n  ', 'ü😀', '<&>', '{ }', '\t', 'end\n\n']

const kVariables = {
  n: 7,
  z: -3,
  x: 2.5,
  s: 'Hello, wörld',
  t: '  <b>"A\'&\n b</b> ',
  e: '',
  yes: true,
  no: false,
  nothing: null,
  items: [3, 1, 2, 1],
  words: ['beta', 'Alpha', 'gamma', 'alpha'],
  mixed: [1, 'a', null, 2.0, [1, 2], { k: 'v' }],
  d: { a: 1, b: 'two', c: [1, 2], 'ü k': null },
  people: [
    { name: 'Ann', age: 30, tags: ['x', 'y'], address: { city: 'Bern' } },
    { name: 'bob', age: 25, tags: [], address: { city: 'Ulm' } },
    { name: 'Cyd', age: 30, tags: ['z'], address: { city: 'Bern' } },
  ],
  tree: [
    {
      v: 1,
      kids: [
        { v: 2, kids: [] },
        { v: 3, kids: [{ v: 4, kids: [] }] },
      ],
    },
    { v: 5, kids: [] },
  ],
}
export const kTemplateVariables = JSON.stringify(kVariables)

interface Scope {
  readonly names: readonly string[]
  readonly macros: readonly string[]
  readonly namespaces: readonly string[]
  readonly loops: number
  readonly inMacro: boolean
  readonly recursive: boolean
}

export class RandomTemplate {
  #state: number
  #named = 0

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  #next(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
  #of<T>(all: readonly T[]): T {
    return all[this.#next(all.length)]!
  }
  #maybe(one: () => string): string {
    return this.#next(3) === 0 ? one() : ''
  }

  #atom(scope: Scope, kind: Kind): string {
    const roll = this.#next(10)
    if (roll < 2 && scope.names.length > 0) return this.#of(scope.names)
    if (roll === 2 && scope.loops > 0) return `loop.${this.#of(kLoopNames)}`
    if (roll === 3 && scope.namespaces.length > 0) return `${this.#of(scope.namespaces)}.v`
    return this.#of(kAtoms[kind])
  }

  #expression(scope: Scope, depth = 3, wanted: Kind = this.#of(kKinds)): string {
    const kind = this.#next(25) === 0 ? this.#of(kKinds) : wanted // now and then of a wrong kind
    if (depth <= 0) return this.#atom(scope, kind)
    const one = (of: Kind = kind) => this.#expression(scope, depth - 1, of)
    switch (this.#next(9)) {
      case 0:
        return this.#atom(scope, kind)
      case 1:
        return `(${one()} if ${one('any')}${this.#next(3) ? ` else ${one()}` : ''})`
      case 2:
      case 3:
        return this.#made(scope, depth, kind)
      case 4:
        return scope.macros.length > 0 && kind === 'text'
          ? `${this.#of(scope.macros)}(${this.#arguments(scope, depth - 1)})`
          : this.#made(scope, depth, kind)
      case 5:
        return `(${one()} ${this.#of(['and', 'or'])} ${one()})`
      default:
        return this.#operation(kind, one)
    }
  }

  /** An expression with a filter or method whose result has the kind. */
  #made(scope: Scope, depth: number, kind: Kind): string {
    const fits = (row: Row) => row[1] === kind || kind === 'any'
    const filter = this.#next(3) > 0
    const ofPeople = kOfPeople.filter(fits)
    if (filter && ofPeople.length > 0 && this.#next(6) === 0) return `(people | ${this.#of(ofPeople)[0]})`
    const from = this.#of(kKinds)
    const fitting = (filter ? kFilters : kMethods)[from].filter(fits)
    if (fitting.length === 0) return this.#atom(scope, kind)
    const value = this.#expression(scope, depth - 1, from)
    const [what] = this.#of(fitting)
    return filter ? `(${value} | ${what})` : `(${value}).${what}`
  }

  #operation(kind: Kind, one: (of?: Kind) => string): string {
    switch (kind) {
      case 'text':
        return this.#of([
          () => `(${one()} ~ ${one('any')})`,
          () => `(${one()} + ${one()})`,
          () => `(${one()} * 2)`,
          () => `("%s|%5.1f|%-4d|%r" % (${one()}, ${one('number')}, 3, ${one()}))`,
          () => `(s, ${one()})[1][${this.#of(['0', '-1', '1:', ':2', '::-1', '::2', '-2:', '1:-1', 'n'])}]`,
        ])()
      case 'number':
        return `(${one()} ${this.#of(['+', '-', '*', '/', '//', '%', '** 2 +'])} ${one()})`
      case 'list':
        return this.#of([
          () => `[${one('any')}, ${one()}]`,
          () => `(${one()} + ${one()})`,
          () => `([n], ${one()})[1][${this.#of(['1:', ':2', '::-1', '::2', '-2:', '1:-1'])}]`,
          () => `(${one('text')}, ${one('number')})`,
        ])()
      case 'dict':
        return `{"k": ${one('any')}, ${this.#of(['"a"', '1', 's', 'none', '(1,2)'])}: ${one('any')}}`
      case 'any':
        return this.#of([
          () => `(${one('number')} ${this.#of(['==', '!=', '<', '<=', '>', '>='])} ${one('number')} < 10)`,
          () => `(${one('any')} ${this.#of(['==', '!='])} ${one('any')})`,
          () => `(${one('any')} ${this.#of(['in', 'not in'])} ${one('list')})`,
          () => `(${one('text')} ${this.#of(['in', 'not in', '<'])} ${one('text')})`,
          () => `(${one('any')} is ${this.#next(3) ? '' : 'not '}${this.#of(kTests)})`,
          () => `(not ${one('any')})`,
          () => `(${one('list')})[${this.#of(['0', '-1', '1'])}]`,
          () => `(${one('dict')})${this.#of(['["a"]', '.k', '["k"]', '.a'])}`,
        ])()
    }
  }
  #arguments(scope: Scope, depth: number): string {
    const one = () => this.#expression(scope, depth)
    return this.#of([
      '',
      one(),
      `${one()}, ${one()}`,
      `b=${one()}`,
      `${one()}, q=${one()}`,
      `*items`,
      `**{'b': 2}`,
    ])
  }

  #tag(inner: string): string {
    const mark = () => (this.#next(6) === 0 ? this.#of(['-', '+', '-']) : '')
    const end = this.#next(6) === 0 ? '-' : ''
    return `{%${mark()} ${inner} ${end}%}`
  }
  #fresh(prefix: string): string {
    // Names are reused, so that inner scopes shadow outer ones.
    return `${prefix}${this.#named++ % 3}`
  }

  body(scope: Scope, depth: number): string {
    let out = ''
    let inner = scope
    for (let i = this.#next(3) + 1; i > 0; i--) {
      const [text, next] = this.#statement(inner, depth)
      out += text
      inner = next
    }
    return out
  }

  #statement(scope: Scope, depth: number): [text: string, scope: Scope] {
    const simple = () => this.#expression(scope, 2)
    if (depth === 0 || this.#next(4) === 0)
      return this.#next(2) === 0
        ? [this.#of(kTexts), scope]
        : [`{{${this.#maybe(() => '-')} ${simple()} ${this.#maybe(() => '-')}}}`, scope]
    const body = (inner = scope) => this.body(inner, depth - 1)
    switch (this.#next(13)) {
      case 0:
        return [
          `${this.#tag(`if ${simple()}`)}${body()}${this.#maybe(() => `${this.#tag(`elif ${simple()}`)}${body()}`)}${this.#maybe(() => `${this.#tag('else')}${body()}`)}${this.#tag('endif')}`,
          scope,
        ]
      case 1:
      case 2:
      case 3:
        return [this.#loop(scope, depth), scope]
      case 4:
      case 5: {
        const name = this.#fresh('v')
        const next = { ...scope, names: [...scope.names, name] }
        if (this.#next(3) === 0)
          return [`${this.#tag(`set ${name}${this.#maybe(() => ` | ${this.#of(['upper', 'trim', 'length'])}`)}`)}${body()}${this.#tag('endset')}`, next] // prettier-ignore
        if (this.#next(5) === 0) return [this.#tag(`set ${name}, w = [${simple()}, ${simple()}]`), next]
        return [this.#tag(`set ${name} = ${simple()}`), next]
      }
      case 6: {
        const name = this.#fresh('ns')
        const next = { ...scope, namespaces: [...scope.namespaces, name] }
        return [this.#tag(`set ${name} = namespace(v=${simple()})`), next]
      }
      case 7:
        if (scope.namespaces.length === 0) return [body(), scope]
        return [this.#tag(`set ${this.#of(scope.namespaces)}.v = ${simple()}`), scope]
      case 8:
        return this.#macro(scope, depth)
      case 9:
        if (scope.macros.length === 0) return [body(), scope]
        return [
          `${this.#tag(`call${this.#maybe(() => '(p)')} ${this.#of(scope.macros)}(${this.#arguments(scope, 1)})`)}${body({ ...scope, names: [...scope.names, 'p'] })}${this.#tag('endcall')}`,
          scope,
        ]
      case 10:
        return [`${this.#tag(`filter ${this.#of(['upper', 'trim', 'indent(2)', 'replace("a","_")', 'title | trim', 'length', 'e'])}`)}${body()}${this.#tag('endfilter')}`, scope] // prettier-ignore
      case 11: {
        const name = this.#fresh('w')
        return [`${this.#tag(`with ${name} = ${simple()}`)}${body({ ...scope, names: [...scope.names, name] })}${this.#tag('endwith')}`, scope] // prettier-ignore
      }
      default:
        return [
          this.#of([
            `${this.#tag('raw')}{{ x }} {% if %}${this.#tag('endraw')}`,
            `{#${this.#maybe(() => '-')} note ${this.#maybe(() => '-')}#}`,
            `${this.#tag('generation')}${body()}${this.#tag('endgeneration')}`,
            this.#next(30) === 0 ? this.#tag('do items') : '',
          ]),
          scope,
        ]
    }
  }

  #loop(scope: Scope, depth: number): string {
    const pair = this.#next(4) === 0
    const recursive = !pair && this.#next(6) === 0
    const name = this.#fresh('i')
    const names = [...scope.names, name, ...(pair ? ['j'] : [])]
    const inner = { ...scope, names, loops: scope.loops + 1, recursive }
    const over = recursive
      ? 'tree'
      : pair
        ? this.#of([
            'd.items()',
            'd | dictsort',
            'people | groupby("age")',
            '[(1,2),(3,4)]',
            'words | batch(2)',
          ])
        : this.#of([
            'items',
            'words',
            'people',
            'range(4)',
            's',
            'mixed',
            'd',
            '[]',
            this.#expression(scope, 2),
          ])
    const condition = this.#maybe(
      () => ` if ${this.#of([`${name}`, `loop.index`, this.#expression(inner, 1)])}`,
    )
    const jump = this.#maybe(() => `${this.#tag(`if ${this.#expression(inner, 1)}`)}${this.#tag(this.#of(['break', 'continue']))}${this.#tag('endif')}`) // prettier-ignore
    const again = recursive ? `{{ loop.depth }}${name && `{{ loop(${name}.kids) }}`}` : ''
    const other = this.#maybe(() => `${this.#tag('else')}${this.body(scope, depth - 1)}`)
    return `${this.#tag(`for ${name}${pair ? ', j' : ''} in ${over}${condition}${recursive ? ' recursive' : ''}`)}${jump}${this.body(inner, depth - 1)}${again}${other}${this.#tag('endfor')}`
  }

  #macro(scope: Scope, depth: number): [text: string, scope: Scope] {
    const name = this.#fresh('m')
    const inner: Scope = {
      ...scope,
      names: [...scope.names, 'a', 'b', 'varargs', 'kwargs'],
      macros: scope.macros.filter((one) => one !== name), // none that calls itself for ever
      inMacro: true,
      loops: 0,
      recursive: false,
    }
    const parameters = this.#of(['', 'a', 'a, b=1', `a=${this.#expression(scope, 1)}, b=a`, 'a, b'])
    const called = this.#maybe(() => `{{ caller${this.#of(['()', '(1)'])} if caller }}`)
    const text = `${this.#tag(`macro ${name}(${parameters})`)}${this.body(inner, depth - 1)}${called}${this.#tag('endmacro')}`
    // A macro that shadows one of the same name might be called by that one.
    if (scope.macros.includes(name)) return [text, scope]
    return [text, { ...scope, macros: [...scope.macros, name] }]
  }
}

/** The template of a seed. */
export function randomTemplate(seed: number): string {
  const scope: Scope = { names: [], macros: [], namespaces: [], loops: 0, inMacro: false, recursive: false }
  return new RandomTemplate(seed).body(scope, 4)
}
