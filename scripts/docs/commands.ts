// The page of the command line from its own tables: the built package's rows, options and lines of help.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What this page shows of wasm/src/cli/command.ts. */
interface CommandRow {
  readonly name: string
  readonly usage: string
  readonly summary: string
  load(): Promise<{ command: { readonly help?: readonly string[] } }>
}

const cli = join(import.meta.dirname, '../../wasm/dist/cli')

const kHead = `# Commands

Made from the tables of the command line. \`ggufscope COMMAND --help\` prints the same.
A file is a path, an address, a page of a model hub, or \`hf:owner/repository/file.gguf\`.

The exit status is 0 where all is fine, 1 where something is wrong with the file or the work failed, and 2 for a
wrong call.

Every command takes \`--json\` (JSON on standard output, for programs), \`--header "Name: value"\` (sent with every
request; may be repeated) and \`--help\`.
`

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{', '&#123;')

async function section(row: CommandRow): Promise<string> {
  const { command } = await row.load()
  const lines = [
    `## ${row.name}`,
    '',
    `${row.summary.charAt(0).toUpperCase()}${row.summary.slice(1)}.`.replaceAll('<', '&lt;'),
    '',
    '```text',
    `ggufscope ${row.name} ${row.usage}`,
    '```',
    '',
  ]
  const options = (command.help ?? []).map((line) => {
    const [, option = line, what = ''] = /^(.*?)\s{2,}(.*)$/.exec(line) ?? []
    // One help text lists the options of several commands: "lint: reads all tensor data".
    const meaning = what.replace(new RegExp(`^(?:[a-z]+, )*${row.name}(?:, [a-z]+)*: `), '')
    return `| \`${option.replaceAll('|', '\\|')}\` | ${cell(meaning)} |`
  })
  if (options.length > 0) lines.push('| option | |', '| --- | --- |', ...options, '')
  return lines.join('\n')
}

export async function commandsPage(): Promise<string> {
  const { kCommands } = (await import(pathToFileURL(join(cli, 'commands.js')).href)) as {
    kCommands: readonly CommandRow[]
  }
  const sections = await Promise.all(kCommands.map(section))
  return [kHead, ...sections].join('\n')
}
