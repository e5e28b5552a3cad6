// The sentences that the package says, as its sources make them: messages of lint and of errors, and meanings of keys. A part
// that differs is {}: {"key ", Quoted{key}, " is not ASCII"} is "key {} is not ASCII". A count with its noun is {#byte}.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const kRoot = join(import.meta.dirname, '../..')

function sourcesIn(folder: string, ending: RegExp): string[] {
  const place = join(kRoot, folder)
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => readFileSync(join(place, name), 'utf8'))
}

/** Texts, names, numbers and signs of C++, without comments. */
function tokensOf(code: string): string[] {
  const kToken =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|R"\w*\([\s\S]*?\)\w*"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)+'|[\w.]+|::|->|<<|>>|[<>=!+-]=|[^\s\w]/g
  return [...code.matchAll(kToken)].map(([token]) => token).filter((token) => !/^\/[/*]/.test(token))
}

const kOpening = new Set(['(', '{', '['])
const kClosing = new Set([')', '}', ']'])

/** The index of the bracket that closes the one at `open`. */
function closeOf(tokens: readonly string[], open: number): number {
  let depth = 0
  for (let i = open; i < tokens.length; ++i) {
    if (kOpening.has(tokens[i]!)) ++depth
    if (kClosing.has(tokens[i]!) && --depth === 0) return i
  }
  return tokens.length
}

/** The tokens between separators outside of brackets. */
function split(tokens: readonly string[], separator: string): string[][] {
  const parts: string[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (kOpening.has(token)) ++depth
    if (kClosing.has(token)) --depth
    if (token === separator && depth === 0) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts.filter((part) => part.length > 0)
}

const textOf = (literal: string) =>
  literal.slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\').replaceAll('\\n', '\n')

/** All texts that the parts can make, one after the other. */
const joined = (parts: readonly string[][]): string[] =>
  parts.reduce<string[]>((all, part) => all.flatMap((head) => part.map((tail) => head + tail)), [''])

const kWrappers = new Set(['std::string', 'std::string_view', 'string', 'string_view', 'sentence', 'Part'])

/** What an expression can say. */
function sayings(tokens: readonly string[]): string[] {
  const [first = ''] = tokens
  const [, ...chosen] = split(tokens, '?')
  if (chosen.length > 0) {
    // a ? b : c ? d : e, whose parts after the first question are b : c and d : e.
    const parts = chosen.map((part) => split(part, ':'))
    const texts = parts.flatMap((part, i) => (i === parts.length - 1 ? part : part.slice(0, 1)))
    return texts.flatMap(sayings)
  }
  const sum = split(tokens, '+')
  if (sum.length > 1) return joined(sum.map(sayings))
  if (tokens.every((token) => token.startsWith('"'))) return [tokens.map(textOf).join('')]
  const open = tokens.findIndex((token) => token === '(' || token === '{')
  if (open !== -1 && closeOf(tokens, open) === tokens.length - 1) {
    const inside = tokens.slice(open + 1, -1)
    const name = tokens.slice(0, open).join('')
    if (first === '{') return joined(split(inside, ',').map(sayings))
    if (name === '' || kWrappers.has(name)) return sayings(inside)
    if (/^(?:Counted|counted)$/.test(name)) {
      const nouns = split(inside, ',')
        .slice(1)
        .map((part) => part.map(textOf).join(''))
      return [
        nouns.every((noun) => /^[a-z -]+$/i.test(noun)) && nouns.length > 0 ? `{#${nouns.join('/')}}` : '{}',
      ]
    }
  }
  return ['{}']
}

const wordsOf = (text: string) =>
  text
    .replaceAll(/\{#([^}/]+)[^}]*\}/g, '$1')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .match(/(?<![\w.-])[a-zA-Z]{2,}(?![\w.-]*\w_)/g) ?? []
/** Words of sentences. A list of names has none of them. */
const kOrdinary =
  /\b(?:an?|the|is|are|has|have|no|not|of|in|to|and|or|cannot|without|with|must|than|for|by|at|missing|unknown|that|it|ends?|empty|count|size|impossible|type|other|wants|expected)\b/
/** Two words or more of its own, and no code. */
const isSentence = (text: string) =>
  wordsOf(text).length > 1 &&
  kOrdinary.test(text.replaceAll(/\{[^}]*\}/g, '')) &&
  !/[\n\t]|\{%|=\{|<\||\*\)|^ | $|^[,)]|\w\{\}\w|\w=\w|^[a-z_.]+ [a-z_.]+ [a-z_.]+ [a-z_. ]+_/.test(text)

/** The messages in C++ sources: arguments of calls, fields of rows of tables, and texts that are given back. */
export function saidByCore(folder: string): Set<string> {
  const found = new Set<string>()
  const add = (texts: readonly string[]) => {
    for (const text of texts) if (isSentence(text)) found.add(text)
  }
  for (const code of sourcesIn(folder, /\.cpp$/)) {
    const tokens = tokensOf(code)
    // `constexpr std::string_view kName = "text"`, which rows of tables name.
    const constants = new Map(
      tokens.flatMap((token, i) =>
        /^k[A-Z]/.test(token) && tokens[i - 1] === 'string_view' && tokens[i + 1] === '='
          ? [[token, sayings(tokens.slice(i + 2, tokens.indexOf(';', i)))] as const]
          : [],
      ),
    )
    tokens.forEach((token, i) => {
      if (token === '{' && /^[A-Z]\w+$/.test(tokens[i - 1] ?? '') && tokens[i - 1] !== 'Part')
        for (const field of split(tokens.slice(i + 1, closeOf(tokens, i)), ','))
          add(constants.get(field.join('')) ?? sayings(field))
      if (token === 'return' || token === '=') {
        let end = i + 1
        // A table of a list is no message.
        if (token === '=' && tokens[end] === '{') return
        while (end < tokens.length && tokens[end] !== ';')
          end = kOpening.has(tokens[end]!) ? closeOf(tokens, end) + 1 : end + 1
        add(sayings(tokens.slice(i + 1, end)))
      }
      const name = tokens[i - 1] ?? ''
      if (
        token !== '(' ||
        !/^\w+$|^\w+\.\w+$/.test(name) ||
        kWrappers.has(name) ||
        /^(?:counted|if|while|for|switch)$/.test(name)
      )
        return
      const given = split(tokens.slice(i + 1, closeOf(tokens, i)), ',').map(sayings)
      // fail(code, offset, what, context) is "<what> at byte <offset> in <context>".
      if (name.endsWith('fail') && given.length === 4)
        add(joined([given[2]!, [' at byte {} in '], given[3]!]))
      else for (const texts of given) add(texts)
    })
  }
  return found
}

/** What a template or text of TypeScript can say. */
function sayingsOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isParenthesizedExpression(node)) return sayingsOf(node.expression)
  if (ts.isConditionalExpression(node)) return [...sayingsOf(node.whenTrue), ...sayingsOf(node.whenFalse)]
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return joined([sayingsOf(node.left), sayingsOf(node.right)])
  if (ts.isTemplateExpression(node))
    return joined([
      [node.head.text],
      ...node.templateSpans.flatMap(({ expression, literal }) => [sayingsOf(expression), [literal.text]]),
    ])
  return ['{}']
}

/** The text of `message: text` or `const message = text`, which findings have. */
function messageIn(node: ts.Node): ts.Expression | undefined {
  const isMessage =
    (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) && node.name.getText() === 'message'
  return isMessage ? node.initializer : undefined
}

/** The messages of the package's errors and findings. */
export function saidByPackage(folders: readonly string[]): Set<string> {
  const found = new Set<string>()
  const walk = (node: ts.Node) => {
    // What `throw wrong(where, 'an array is no u32')` makes a message of.
    if (ts.isThrowStatement(node) && ts.isCallExpression(node.expression))
      for (const text of node.expression.arguments.flatMap(sayingsOf)) if (isSentence(text)) found.add(text)
    const message = messageIn(node)
    if (message) for (const text of sayingsOf(message)) if (isSentence(text)) found.add(text)
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isBinaryExpression(node)) {
      const texts = sayingsOf(node)
        .map((text) => text.trim())
        .filter((text) => /[.:?]$|: \{\}$/.test(text) && isSentence(text))
      for (const text of texts) found.add(text)
      if (texts.length > 0) return
    }
    ts.forEachChild(node, walk)
  }
  for (const folder of folders)
    for (const code of sourcesIn(folder, /(?<!\.d)\.ts$/))
      walk(ts.createSourceFile('', code, ts.ScriptTarget.Latest, true))
  return found
}

/** Meanings and units of the standardized keys. */
export function saidOfKeys(): Set<string> {
  const rows = readFileSync(join(kRoot, 'core/gguf/keys.inc'), 'utf8')
  const found = [...rows.matchAll(/^GGUFSCOPE_KEY\(.*, "([^"]*)", "((?:[^"\\]|\\.)*)"\)$/gm)]
  // Units that are names are the same in all languages.
  return new Set(
    found.flatMap(([, unit = '', meaning = '']) => [meaning, ...(/^[a-z]/.test(unit) ? [unit] : [])]),
  )
}
