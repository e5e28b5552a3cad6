// The command tokenize: shows or counts the tokens of a text.
import { Readable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { Tokenizer } from '../api/text.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { counted, table, visible } from './format.js'

/** Compares tokenizer.huggingface.json with the file's own tokens. */
async function compare(context: Context, file: GgufFile): Promise<number> {
  const { print, signal, columns } = context
  const compared = await file.compareTokenizers({ signal })
  if (!compared) throw new GgufError('not-found', 'The file has no tokenizer.huggingface.json.')
  const { model, size, merges, different, differences } = compared
  if (context.json) context.printJson(compared)
  else {
    const same = different === 0 ? 'the same tokens' : `${different} different`
    print(`${model}, ${counted(size, 'token')}, ${counted(merges, 'merge')}: ${same}`)
    const rows = differences.map(({ id, ours, theirs }) => [
      String(id),
      ...[ours, theirs].map((text) => (text === undefined ? '(none)' : JSON.stringify(visible(text)))),
    ])
    if (rows.length > 0)
      table([['id', 'file', 'tokenizer.json'], ...rows], ['>', '<', '<'], columns).forEach(print)
  }
  return different === 0 ? 0 : 1
}

function decode(context: Context, tokenizer: Tokenizer, input: string): void {
  const ids = input.split(/[\s,[\]]+/).filter((part) => part !== '')
  if (!ids.every((id) => /^\d+$/.test(id))) throw new UsageError('--decode takes ids: 15339 1917')
  const text = tokenizer.decode(ids.map(Number))
  if (context.json) context.printJson({ ids: ids.map(Number), text })
  else context.print(text)
}

function printTokens(context: Context, tokenizer: Tokenizer, ids: readonly number[]): void {
  const tokens = ids.map((id) => tokenizer.tokens.at(id)!)
  if (context.json) {
    context.printJson({
      kind: tokenizer.kind,
      pre: tokenizer.pre,
      ids,
      tokens: tokens.map(({ id, text, type, bytes }) => ({
        id,
        text,
        type,
        bytes: Buffer.from(bytes).toString('hex'),
      })),
    })
    return
  }
  const shown = new TextDecoder()
  const rows = tokens.map(({ id, type, bytes }) => [
    String(id),
    type === 'normal' ? '' : type,
    JSON.stringify(visible(shown.decode(bytes))),
  ])
  table(rows, ['>', '<', '<'], context.columns).forEach(context.print)
  context.print(context.style.dim(counted(ids.length, 'token')))
}

/** The text of standard input in pieces, without a byte order mark at its beginning, as readAll() gives it whole. */
const standardInput = (): ReadableStream<string> =>
  (Readable.toWeb(process.stdin) as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream())

export const command: Command = {
  arguments: [
    kFile,
    { name: 'text', optional: true, repeats: true, help: 'is read from standard input by default.' },
  ],
  options: {
    special: { excludes: ['decode'], help: 'parse names of control tokens in the text' },
    bos: { excludes: ['decode'], help: 'add BOS, EOS and SEP as the file says' },
    count: { excludes: ['decode'], help: 'print only the number of tokens' },
    decode: { help: 'print the text of token ids' },
    compare: {
      excludes: ['special', 'bos', 'count', 'decode'],
      help: "compare the tokens of tokenizer.huggingface.json with the file's own",
    },
  },
  standardInput: true,
  async run(context) {
    const { positionals, values } = context
    const [path, ...words] = positionals
    if (values['compare'] === true && words.length > 0)
      throw new UsageError('--compare compares tokenizers: it has no use for a text')
    if (path === '-' && words.length === 0 && values['compare'] !== true)
      throw new UsageError('standard input is the model: give the text as an argument')
    using file = await context.open()
    if (values['compare'] === true) return await compare(context, file)
    using tokenizer = await file.loadTokenizer({ signal: context.signal })
    const given = words.length > 0 ? words.join(' ') : undefined
    const options = { special: values['special'] === true, bos: values['bos'] === true }
    if (values['count'] === true) {
      const count = await tokenizer.countStream(given ?? standardInput(), {
        ...options,
        signal: context.signal,
      })
      if (context.json) context.printJson({ count })
      else context.print(String(count))
      return 0
    }
    const input = given ?? (await readAll(process.stdin))
    if (values['decode'] === true) decode(context, tokenizer, input)
    else printTokens(context, tokenizer, tokenizer.encode(input, options))
    return 0
  },
}
