import type { ParseArgsConfig } from 'node:util'
import type { LoadOptions, Model } from '../engine/index.js'
import type { GgufFile, OpenOptions } from '../node.js'
import type { Style } from './format.js'

/** What a command finds when it runs. */
export interface Context {
  /** after the command's name */
  readonly positionals: readonly string[]
  /** options by name, those of every command included (--json, --header) */
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  readonly json: boolean
  readonly style: Style
  readonly signal: AbortSignal
  /** one line to stdout */
  print(line: string): void
  printJson(value: unknown): void
  /** Opens the file that the first positional names; what is wrong with it ends the command with status 1. */
  open(options?: OpenOptions): Promise<GgufFile>
  /** Loads the model that the first positional names. */
  load(options?: LoadOptions): Promise<Model>
}

/** A wrong call: the message and a hint at --help go to stderr, status 2. */
export class UsageError extends Error {}

export interface Command {
  /** beyond --json, --header and --help */
  readonly options?: ParseArgsConfig['options']
  /** Lines of the options for --help, without indentation. */
  readonly help?: readonly string[]
  /** The exit status: 0 fine, 1 something is wrong with the file. */
  run(context: Context): Promise<number>
}

/** A row of the table of commands; the file is loaded when the command is called. */
export interface CommandRow {
  readonly name: string
  /** what follows the name */
  readonly usage: string
  readonly summary: string
  load(): Promise<{ command: Command }>
}
