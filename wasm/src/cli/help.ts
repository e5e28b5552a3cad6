// The texts of --help, made from the tables of commands and options.
import { usageOf } from './arguments.js'
import { kShared } from './command.js'
import type { Command, CommandRow, Options } from './command.js'
import { kCommands } from './commands.js'
import { wrap } from './format.js'

export const kColumns = 80

/** "-o, --output FILE" */
export function spelled(name: string, { value, short }: Options[string]): string {
  return `${short ? `-${short}, ` : ''}--${name}${value === undefined ? '' : ` ${value}`}`
}

/** Options in two columns. */
function optionLines(options: Options, columns: number): string[] {
  const rows = Object.entries(options).map(([name, option]) => {
    const choices = option.choices ? `${option.choices.join(', ')}: ` : ''
    const more = option.repeats ? ' (may be given again)' : ''
    return [spelled(name, option), `${choices}${option.help}${more}`] as const
  })
  // Beside the names if there is room, otherwise below them.
  const left = columns < 60 ? 4 : Math.min(24, Math.max(...rows.map(([name]) => name.length))) + 2
  return rows.flatMap(([name, text]) => {
    const lines = wrap(text, columns - 2 - left)
    const beside = name.length + 2 <= left
    return [
      `  ${beside ? name.padEnd(left) + (lines.shift() ?? '') : name}`.trimEnd(),
      ...lines.map((line) => ' '.repeat(left + 2) + line),
    ]
  })
}

/** What `ggufscope COMMAND --help` prints, in lines of at most 80 characters. width: of the terminal. */
export function helpOf(row: CommandRow, command: Command, width = kColumns): string[] {
  const columns = Math.min(width, kColumns)
  const notes = [
    ...command.arguments.flatMap(({ name, help }) => (help === undefined ? [] : [`<${name}> ${help}`])),
    ...(command.help ?? []),
    ...(command.standardInput ? ['The file "-" is standard input.'] : []),
  ]
  return [
    `usage: ${usageOf(row, command.arguments)}`,
    '',
    ...wrap(`${row.summary}`, columns),
    ...(notes.length > 0 ? ['', ...notes.flatMap((note) => wrap(note, columns))] : []),
    '',
    ...optionLines({ ...command.options, ...kShared }, columns),
  ]
}

/** What `ggufscope --help` prints, in lines. */
export function overview(width = kColumns): string[] {
  const columns = Math.min(width, kColumns)
  const names = Math.max(...kCommands.map(({ name }) => name.length))
  return [
    'usage: ggufscope <command> <file-or-url> [options]',
    '       ggufscope <file-or-url>     the same as info',
    '',
    ...kCommands.flatMap(({ name, summary }) =>
      wrap(summary, columns - names - 4).map(
        (line, i) => `  ${(i === 0 ? name : '').padEnd(names)}  ${line}`,
      ),
    ),
    '',
    ...optionLines({ ...kShared, version: { help: 'the version of the package' } }, columns),
    '',
    ...wrap(
      'A file is a path, an address, a page of a model hub, hf:owner/name/file.gguf, or a repository: owner/name:Q4_K_M, ms:owner/name, ollama:name:tag, github:owner/name@tag; "-" is standard input where the help of the command says so.',
      columns,
    ),
    ...wrap(
      'Status: 0 fine, 1 something is wrong with the file or the work failed, 2 wrong call, 128 and the number of the signal that ended it.',
      columns,
    ),
  ]
}
