import type { LoadOptions, Model } from '../engine/index.js'
import type { GgufFile, OpenOptions } from '../node.js'
import type { Style } from './format.js'
import type { Progress } from './progress.js'

/** What a word of the call names on disk: a file that is read, or one that is written. */
export type FileRole = 'read' | 'written'

/** An option of a command. Parsing, --help, completion and the tests of safe outputs all read this. */
export interface Option {
  /** Stands for the value in --help: FILE, N. Without it the option takes none. */
  readonly value?: string
  /** the letter of -o */
  readonly short?: string
  /** may be given more than once */
  readonly repeats?: boolean
  readonly help: string
  readonly file?: FileRole
  /** all values that it takes */
  readonly choices?: readonly string[]
  /** the option without which this one means nothing */
  readonly needs?: string
  /** options beside which this one means nothing */
  readonly excludes?: readonly string[]
}
export type Options = Readonly<Record<string, Option>>

/** Options of every command. */
export const kShared: Options = {
  json: { help: 'for programs: JSON on stdout, errors as JSON on stderr' },
  header: {
    value: '"A: b"',
    repeats: true,
    help: 'send this header with every request to the origin of the given address, to no other',
  },
  shard: {
    value: 'FILE',
    repeats: true,
    file: 'read',
    help: 'another file of the same split model, where the names do not tell',
  },
  'allow-missing-shards': { help: 'read what is there of a split model' },
  help: { short: 'h', help: 'this text' },
}

/** A word behind the command's name that is no option. */
export interface Argument {
  readonly name: string
  readonly optional?: boolean
  /** takes all words that are left; the last argument only */
  readonly repeats?: boolean
  readonly help?: string
  readonly file?: FileRole
  readonly choices?: readonly string[]
}

/** The model that a command reads. */
export const kFile: Argument = { name: 'file-or-url', file: 'read' }
/** Several of them, one result each: several.ts. */
export const kFiles: Argument = { ...kFile, repeats: true }

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** What a command finds when it runs. */
export interface Context {
  /** the words that are no options, after the command's name */
  readonly positionals: readonly string[]
  /** options by name, those of every command included (--json, --header) */
  readonly values: Values
  readonly json: boolean
  /** the table that this command is a row of */
  readonly commands: readonly CommandRow[]
  readonly style: Style
  /** columns of the terminal; 80 where the output goes elsewhere */
  readonly width: number
  readonly signal: AbortSignal
  /** what is under way, on a terminal's stderr */
  readonly progress: Progress
  /** one line to stdout */
  print(line: string): void
  printJson(value: unknown): void
  /** A line to stderr about what is odd but no failure. */
  warn(message: string): void
  /**
   * Opens a file, by default the one that the first positional names; an error ends the command with status 1.
   * shards: paths of further files of the same set, by default those of --shard.
   */
  open(options?: OpenOptions, path?: string, shards?: readonly string[]): Promise<GgufFile>
  /** Loads a model, by default the one that the first positional names. */
  load(options?: LoadOptions, path?: string): Promise<Model>
}

/** A wrong call: the message and a hint at --help go to stderr, status 2. */
export class UsageError extends Error {}

export interface Command {
  readonly arguments: readonly Argument[]
  /** beyond --json, --header and --help */
  readonly options?: Options
  /** More lines for --help, without indentation. */
  readonly help?: readonly string[]
  /**
   * What is missing of a file is a warning, but where the command tells it itself, or refuses such a file without --force.
   */
  readonly damage?: 'told' | 'refused'
  /** A stream is enough to read the model: "-" is standard input. */
  readonly standardInput?: boolean
  /** The exit status: 0 fine, 1 something is wrong with the file. */
  run(context: Context): Promise<number>
}

/** A row of the table of commands; the file is loaded when the command is called. */
export interface CommandRow {
  readonly name: string
  readonly summary: string
  load(): Promise<{ command: Command }>
}
