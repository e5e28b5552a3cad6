// Generates the command line reference from the built package's tables: commands, options and help texts.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The parts of wasm/src/cli/command.ts that this page uses. */
interface Option {
  readonly value?: string
  readonly help: string
  readonly repeats?: boolean
  readonly choices?: readonly string[]
  readonly needs?: string
}
type Options = Readonly<Record<string, Option>>
interface Argument {
  readonly name: string
  readonly help?: string
}
interface Command {
  readonly arguments: readonly Argument[]
  readonly options?: Options
  readonly help?: readonly string[]
  readonly standardInput?: boolean
}
interface CommandRow {
  readonly name: string
  readonly summary: string
  load(): Promise<{ command: Command }>
}

const cli = join(import.meta.dirname, '../../wasm/dist/cli')

const kHead = `# Commands

Made from the tables of the command line. \`ggufscope COMMAND --help\` prints the same.
A file is a path, an address, a page of a model hub, or \`hf:owner/repository/file.gguf\`.

The exit status is 0 where all is fine. It is 2 for a call that is wrong whatever the files hold: an unknown command or option, a
value of the wrong form or out of its range, options that exclude each other, an output that is an input. It is 1 for all else:
something is wrong with a file, or the work failed, also because a file lacks the tensor, key, row or token that the call names. Where a
signal ended the call, it is 128 and the signal's number.
`

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{', '&#123;')

interface Printed {
  usageOf(row: CommandRow, wanted: readonly Argument[]): string
  spelled(name: string, option: Option): string
  readonly kShared: Options
}

/** One row for each option, with the text of --help. */
function optionRows(options: Options, { spelled }: Printed): string[] {
  if (Object.keys(options).length === 0) return []
  const rows = Object.entries(options).map(([name, option]) => {
    const { choices, help, needs, repeats } = option
    const notes = [
      ...(choices ? [`one of ${choices.join(', ')}`] : []),
      ...(needs === undefined ? [] : [`with --${needs}`]),
      ...(repeats ? ['may be repeated'] : []),
    ]
    const more = notes.length > 0 ? ` (${notes.join('; ')})` : ''
    return `| \`${spelled(name, option).replaceAll('|', '\\|')}\` | ${cell(help + more)} |`
  })
  return ['| option | |', '| --- | --- |', ...rows, '']
}

async function section(row: CommandRow, printed: Printed): Promise<string> {
  const { command } = await row.load()
  const notes = [
    ...command.arguments.flatMap(({ name, help }) => (help === undefined ? [] : [`<${name}> ${help}`])),
    ...(command.help ?? []),
    ...(command.standardInput ? ['The file "-" is standard input.'] : []),
  ]
  return [
    `## ${row.name}`,
    '',
    `${row.summary.charAt(0).toUpperCase()}${row.summary.slice(1)}.`.replaceAll('<', '&lt;'),
    '',
    '```text',
    printed.usageOf(row, command.arguments),
    '```',
    '',
    ...notes.flatMap((note) => [cell(note), '']),
    ...optionRows(command.options ?? {}, printed),
  ].join('\n')
}

export async function commandsPage(): Promise<string> {
  const load = async (name: string): Promise<unknown> => await import(pathToFileURL(join(cli, name)).href)
  const { kCommands } = (await load('commands.js')) as { kCommands: readonly CommandRow[] }
  const printed = {
    ...((await load('command.js')) as Pick<Printed, 'kShared'>),
    ...((await load('arguments.js')) as Omit<Printed, 'spelled' | 'kShared'>),
    ...((await load('help.js')) as Pick<Printed, 'spelled'>),
  }
  const sections = await Promise.all(kCommands.map((row) => section(row, printed)))
  const shared = ['## Options of every command', '', ...optionRows(printed.kShared, printed)].join('\n')
  return [kHead, shared, ...sections].join('\n')
}
