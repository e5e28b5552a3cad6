// The command dump: lists keys and tensors of one physical file like gguf-py's gguf-dump.
import { basename } from 'node:path'
import { openFile } from '../edit/open-file.js'
import type { GgufFile } from '../node.js'
import { kFile, type Command } from './command.js'
import { inEscapes } from './format.js'
import { dumpOf, type Dump } from './dump/fields.js'
import { jsonLines } from './dump/json.js'
import { markdownLines } from './dump/markdown.js'
import { textLines } from './dump/text.js'

/** The dump of the file that the call names, also if it is one of a split model. */
async function dumpOfNamed(file: GgufFile, path: string): Promise<Dump> {
  await file.completeHeader()
  const { parts } = openFile(file)
  const name = basename(path.split('?')[0]!)
  const named = parts.findIndex((part) => part?.source.name === name)
  const shard = named === -1 ? parts.findIndex((part) => part !== undefined) : named
  return dumpOf(
    parts[shard]!,
    file.tensors.filter((tensor) => tensor.shard === shard),
  )
}

export const command: Command = {
  arguments: [kFile],
  options: {
    markdown: { help: 'print Markdown', excludes: ['json', 'json-array'] },
    'json-array': { help: 'print JSON with the elements of arrays' },
    'no-tensors': { help: 'leave out the tensors' },
    'data-offset': {
      help: 'print only where the tensor data begins',
      excludes: ['markdown', 'json', 'json-array'],
    },
    'data-alignment': {
      help: 'print only the alignment of the tensor data',
      excludes: ['markdown', 'json', 'json-array', 'data-offset'],
    },
  },
  help: [
    'The output equals that of gguf-dump of gguf-py. NaN and infinities are strings in JSON, which has none.',
    'Of a split model, the named file is dumped.',
  ],
  async run(context) {
    const { values, print } = context
    const [path] = context.positionals as readonly [string]
    using file = await context.open({ allowMissingShards: true })
    const dump = await dumpOfNamed(file, path)
    const withTensors = values['no-tensors'] !== true
    const withArrays = values['json-array'] === true
    const lines =
      values['data-offset'] === true
        ? [String(dump.dataOffset)]
        : values['data-alignment'] === true
          ? [String(dump.alignment)]
          : context.json || withArrays
            ? jsonLines(dump, path, { withArrays, withTensors })
            : values['markdown'] === true
              ? markdownLines(dump, path, withTensors)
              : textLines(dump, withTensors)
    // On a terminal, which would execute characters of the file. Elsewhere the output equals that of gguf-dump.
    const shown = process.stdout.isTTY ? inEscapes : (line: string) => line
    for (const line of lines) print(shown(line))
    return 0
  },
}
