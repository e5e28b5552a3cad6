import { text as readAll } from 'node:stream/consumers'
import { GgufError } from '../api/errors.js'
import { UsageError, type Command } from './command.js'
import { table, visible } from './format.js'

export const command: Command = {
  options: {
    special: { type: 'boolean' },
    bos: { type: 'boolean' },
    decode: { type: 'boolean' },
    count: { type: 'boolean' },
    compare: { type: 'boolean' },
  },
  help: [
    '--special         tokenize: control tokens written in the text become their ids',
    '--bos             tokenize: add BOS, EOS and SEP as the file says',
    '--count           tokenize: only how many tokens',
    '--decode          tokenize: ids in, text out',
    "--compare         tokenize: the tokens of tokenizer.huggingface.json against the file's own",
  ],
  async run(context) {
    const { positionals, values, print, style } = context
    using file = await context.open()
    if (values['compare'] === true) {
      const compared = await file.compareTokenizers()
      if (!compared) throw new GgufError('not-found', 'The file has no tokenizer.huggingface.json.')
      const { model, size, merges, different, differences } = compared
      if (context.json) context.printJson(compared)
      else {
        print(
          `${model}, ${size} tokens, ${merges} merges: ${different === 0 ? 'the same tokens' : `${different} different`}`,
        )
        const rows = differences.map(({ id, ours, theirs }) => [
          String(id),
          ...[ours, theirs].map((text) => (text === undefined ? '(none)' : JSON.stringify(visible(text)))),
        ])
        if (rows.length > 0)
          table([['id', 'file', 'tokenizer.json'], ...rows], ['>', '<', '<']).forEach(print)
      }
      return different === 0 ? 0 : 1
    }
    using tokenizer = await file.loadTokenizer()
    const input = positionals.length > 1 ? positionals.slice(1).join(' ') : await readAll(process.stdin)
    if (values['decode'] === true) {
      const ids = input.split(/[\s,[\]]+/).filter((part) => part !== '')
      if (!ids.every((id) => /^\d+$/.test(id))) throw new UsageError('--decode takes ids: 15339 1917')
      const text = tokenizer.decode(ids.map(Number))
      if (context.json) context.printJson({ ids: ids.map(Number), text })
      else print(text)
      return 0
    }
    const ids = tokenizer.encode(input, { special: values['special'] === true, bos: values['bos'] === true })
    if (values['count'] === true) {
      if (context.json) context.printJson({ count: ids.length })
      else print(String(ids.length))
      return 0
    }
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
      return 0
    }
    const shown = new TextDecoder()
    const rows = tokens.map(({ id, type, bytes }) => [
      String(id),
      type === 'normal' ? '' : type,
      JSON.stringify(visible(shown.decode(bytes))),
    ])
    table(rows, ['>', '<', '<']).forEach(print)
    print(style.dim(`${ids.length} tokens`))
    return 0
  },
}
