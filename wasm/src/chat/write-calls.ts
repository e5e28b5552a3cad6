// Writes calls in a format.
import { writeElements } from './elements.js'
import type { ChatFormat } from './types.js'

interface WritableCall {
  readonly name: string
  /** the arguments as JSON text */
  readonly args: string
  readonly id?: string | undefined
}

const kTokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
const kPython: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
  ',': ', ',
  ':': ': ',
}
const kJson: Readonly<Record<string, string>> = { ',': ', ', ':': ': ' }
const pythonToken = (token: string) => kPython[token] ?? token
/** Writes a JSON token in Gemma 4's notation: strings between special tokens, keys without quotes. */
function gemmaToken(token: string, next: string | undefined): string {
  if (!token.startsWith('"')) return token
  const text = String(JSON.parse(token))
  return next === ':' ? text : `<|"|>${text}<|"|>`
}

/** The keys and values of a JSON object. Values stay JSON texts, so numbers keep their digits. */
function pairsOf(json: string): { key: string; tokens: string[] }[] {
  const pairs: { key: string; tokens: string[] }[] = []
  let depth = 0
  const tokens = json.match(kTokens) ?? []
  tokens.forEach((token, i) => {
    if ('}]'.includes(token)) depth--
    if (depth === 1 && tokens[i + 1] === ':' && token.startsWith('"'))
      pairs.push({ key: String(JSON.parse(token)), tokens: [] })
    else if (
      depth > 1 ||
      (depth === 1 && !(token === ',' || (token === ':' && pairs.at(-1)?.tokens.length === 0)))
    )
      pairs.at(-1)?.tokens.push(token)
    if ('{['.includes(token)) depth++
  })
  return pairs
}

/** The text between the beginning and the end of a call. n: number of earlier calls in the conversation. */
function inner(format: ChatFormat, { name, args, id }: WritableCall, n: number): string {
  const { kind, keys, nameOpen, nameClose, parameters } = format
  switch (kind) {
    case 'object': {
      const own =
        format.name === 'command-r7b' ? `"${keys.id[0]!}": ${JSON.stringify(id ?? String(n))}, ` : ''
      return `{${own}"${keys.name[0]!}": ${JSON.stringify(name)}, "${keys.arguments[0]!}": ${args}}`
    }
    case 'named': {
      const counted = format.name === 'kimi-k2' ? `:${n}` : ''
      const before = format.name === 'solar' ? (id ?? String(n)) : ''
      return `${before}${nameOpen}${name}${counted}${nameClose[0] ?? '\n'}${args}`
    }
    case 'python':
      return `${name}(${pairsOf(args)
        .map(({ key, tokens }) => `${key}=${tokens.map(pythonToken).join('')}`)
        .join(', ')})`
    case 'gemma':
      return `${nameOpen}${name}{${pairsOf(args)
        .map(({ key, tokens }) => `${key}:${tokens.map((one, i) => gemmaToken(one, tokens[i + 1])).join('')}`)
        .join(',')}}`
    case 'elements':
      return `${nameOpen}${name}${nameClose[0]!}\n${writeElements(args, format)}`
    case 'parameters': {
      const { open, named, close, padding, pair, gap = '\n' } = parameters!
      const isTyped = format.name === 'kimi-k3'
      const tags = pairsOf(args).map(({ key, tokens }) => {
        const text = tokens.length === 1 && tokens[0]!.startsWith('"')
        const value = text ? String(JSON.parse(tokens[0]!)) : tokens.map((one) => kJson[one] ?? one).join('')
        const type = isTyped ? ` type="${typeOf(tokens[0] ?? '')}"<|sep|>` : ''
        return `${open}${key}${named[text ? 0 : named.length - 1]!}${type}${padding}${value}${padding}${close}${gap}`
      })
      const index = isTyped ? ` index="${n + 1}"<|sep|>` : ''
      return `${nameOpen}${name}${nameClose[0]!}${index}${pair ? '' : gap}${tags.join('')}`
    }
  }
}

/** The type of a JSON value that begins with this token. */
function typeOf(token: string): string {
  const known: Readonly<Record<string, string>> = { '"': 'string', '{': 'object', '[': 'array', t: 'boolean', f: 'boolean', n: 'null' } // prettier-ignore
  return known[token[0] ?? ''] ?? 'number'
}

/** n: number of earlier calls in the conversation. */
export function writeCalls(format: ChatFormat, calls: readonly WritableCall[], n = 0): string {
  const { layout, open, between, close, callOpen, callClose } = format
  if (format.name === 'llm-jp-harmony')
    return calls
      .map(
        ({ name, args }) =>
          `<|channel|> commentary to=functions.${name} <|constrain|> json<|message|> ${args}`,
      )
      .join('<|end|><|start|> assistant')
      .concat('<|call|>')
  if (layout === 'harmony')
    return calls
      .map(
        ({ name, args }) =>
          `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${args}<|call|>`,
      )
      .join('<|start|>assistant')
  if (layout === 'addressed')
    return calls
      .map(
        (call) =>
          ` to=${call.name}<|message|>${open}${callOpen}${inner(format, call, n)}${callClose}${close}`,
      )
      .join('<|eom|><|start|>assistant')
  if (layout === 'recipients') return calls.map(({ name, args }) => `${name}\n${args}`).join('>>>')
  const all = calls.map((call, i) => `${callOpen}${inner(format, call, n + i)}${callClose}`)
  return `${open}${all.join(between)}${close}`
}

/** An example call, for the instructions to a model. */
export function exampleCall(format: ChatFormat): string {
  if (format.kind === 'object' || format.kind === 'named')
    return writeCalls(format, [{ name: 'NAME', args: '{"ARGUMENT": VALUE}' }])
  return writeCalls(format, [{ name: 'NAME', args: '{"ARGUMENT": "VALUE"}' }])
}
