// What a command of the command line is: its arguments, options and function.
import type { LoadedModel, LoadOptions } from '../engine/index.js'
import type { GgufFile, OpenOptions } from '../node.js'
import type { Style } from './format.js'
import type { Progress } from './progress.js'

/** Whether an option or argument names a file that is read, or one that is written. */
type FileRole = 'read' | 'written'

/** An option of a command. Parsing, --help, completion, and the tests that protect input files use it. */
export interface Option {
  /** The placeholder of the value in --help: FILE, N. Without it, the option takes no value. */
  readonly value?: string
  /** the letter of -o */
  readonly short?: string
  /** may be given more than once */
  readonly repeats?: boolean
  readonly help: string
  readonly file?: FileRole
  /** all allowed values */
  readonly choices?: readonly string[]
  /** the option that this one requires */
  readonly needs?: string
  /** options that cannot be given together with this one */
  readonly excludes?: readonly string[]
}
export type Options = Readonly<Record<string, Option>>

/** Options of every command. */
export const kShared: Options = {
  json: { help: 'print JSON on stdout, and errors as JSON on stderr' },
  header: {
    value: '"A: b"',
    repeats: true,
    help: 'send this header with every request to the origin of the given address, and to no other origin',
  },
  shard: {
    value: 'FILE',
    repeats: true,
    file: 'read',
    help: 'another file of the same split model, if the names do not show it',
  },
  'allow-missing-shards': { help: 'read a split model although some of its files are missing' },
  help: { short: 'h', help: 'this text' },
}

/** A positional argument. */
export interface Argument {
  readonly name: string
  readonly optional?: boolean
  /** takes all remaining words; the last argument only */
  readonly repeats?: boolean
  readonly help?: string
  readonly file?: FileRole
  readonly choices?: readonly string[]
}

/** The argument of a command that reads one model. */
export const kFile: Argument = { name: 'file-or-url', file: 'read' }
/** The argument of a command that reads several models, with one result for each (several.ts). */
export const kFiles: Argument = { ...kFile, repeats: true }

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** The context of a running command. */
export interface Context {
  /** the positional arguments after the command's name */
  readonly positionals: readonly string[]
  /** options by name, including those of every command (--json, --header) */
  readonly values: Values
  readonly json: boolean
  /** the table of all commands */
  readonly commands: readonly CommandRow[]
  readonly style: Style
  /** columns of the terminal, or COLUMNS; 80 if both are unknown */
  readonly width: number
  /** the same for tables; undefined if both are unknown, because programs read whole names */
  readonly columns: number | undefined
  readonly signal: AbortSignal
  /** progress, on stderr if it is a terminal */
  readonly progress: Progress
  /** writes one line to stdout */
  print(line: string): void
  printJson(value: unknown): void
  /** Writes a warning to stderr. */
  warn(message: string): void
  /**
   * Opens a file, by default the first positional argument. An error ends the command with status 1.
   * shards: paths of other files of the same split model, by default those of --shard.
   */
  open(options?: OpenOptions, path?: string, shards?: readonly string[]): Promise<GgufFile>
  /** Loads a model, by default the first positional argument. */
  load(options?: LoadOptions, path?: string): Promise<LoadedModel>
}

/** A wrong call. The message and a hint to --help go to stderr; the status is 2. */
export class UsageError extends Error {}

export interface Command {
  readonly arguments: readonly Argument[]
  /** options besides --json, --header and --help */
  readonly options?: Options
  /** More lines for --help, without indentation. */
  readonly help?: readonly string[]
  /**
   * Damage of a file is a warning, unless the command reports it itself, or refuses damaged files without --force.
   */
  readonly damage?: 'told' | 'refused'
  /** Whether the command can read the model from a stream: "-" is standard input. */
  readonly standardInput?: boolean
  /** Runs the command and returns the exit status: 0: success; 1: something is wrong with the file. */
  run(context: Context): Promise<number>
}

/** A row of the table of commands. The command's module is imported when it is called. */
export interface CommandRow {
  readonly name: string
  readonly summary: string
  load(): Promise<{ command: Command }>
}
