// Runs the command line: finds the command, opens its files, and reports errors.
import { stat } from 'node:fs/promises'
import type { CacheReport } from '../api/source.js'
import { nearest } from '../api/nearest.js'
import { openFile } from '../edit/open-file.js'
import { damageOf } from '../file/damage.js'
import { open } from '../file/open-paths.js'
import type { DeviceReport, LoadedModel, Source } from '../node.js'
import { addressOf } from '../sources/addresses.js'
import { withPaths } from '../sources/node-paths.js'
import { localProjector } from '../sources/node-projector.js'
import { parse, type Parsed } from './arguments.js'
import { UsageError, type Command, type CommandRow, type Context, type Values } from './command.js'
import { kCommands } from './commands.js'
import { inCliWords, Interrupted, report } from './failure.js'
import { counted, inEscapes, jsonScalar, styleFor, visible, widthOf } from './format.js'
import { helpOf, kColumns, overview } from './help.js'
import { watchInputs } from './inputs.js'
import { Progress } from './progress.js'
import { StandardInput } from './standard-input.js'
import { packageVersion } from './version.js'

const kSignals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** Without lines there are none: Node takes a quarter of a short command's time to load the class. */
function headersOf(lines: readonly string[]): Headers | undefined {
  if (lines.length === 0) return undefined
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    try {
      headers.append(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
    } catch {
      throw new UsageError(`--header "${line}" is not of the form "Name: value"`)
    }
  }
  return headers
}

/** Returns the address that a word is; undefined if it is not an address. */
function originOf(path: string | undefined): string | undefined {
  const source = path === undefined ? undefined : withPaths(path)
  return typeof source === 'string' ? addressOf(source).origin : undefined
}

/** Returns the source that a word names: an address, a path, or standard input if the command can read it. */
function sourceOf(path: string, row: CommandRow, command: Command): Source {
  if (path !== '-') return withPaths(path)
  if (!command.standardInput)
    throw new UsageError(
      `${row.name} reads parts of the file, which standard input does not allow: give its path`,
    )
  return new StandardInput()
}

const columns = (): number | undefined => widthOf(process.stdout, process.env)

/** What the output looks like on this terminal. */
const terminal = (): Pick<Context, 'style' | 'width' | 'columns'> => ({
  style: styleFor(process.stdout, process.env),
  width: columns() ?? kColumns,
  columns: columns(),
})

function outputOf(progress: Progress, json: boolean): Pick<Context, 'print' | 'warn'> {
  return {
    print: (text) => {
      progress.clear()
      process.stdout.write(text + '\n')
    },
    warn: (text) => {
      progress.clear()
      const message = inCliWords(text)
      console.error(json ? JSON.stringify({ warning: { message } }) : `ggufscope: ${visible(message)}`)
    },
  }
}

const kNeedsAllShards = 'does not take --allow-missing-shards: the engine needs every file of the model'

/** Tells of a stored model that is not known to be the server's. */
const warnOfCache =
  (warn: (text: string) => void) =>
  ({ name, state, reason }: CacheReport): void => {
    if (state === 'changed')
      warn(`${name} has changed on the server since it was stored: the new one is loaded`)
    if (state === 'unchecked') warn(`the stored ${name} is used, and may be old: ${reason}`)
  }

/** Tells of a context that is longer than those of the training. */
function warnOfContext(
  { info: { trainedContextLength: trained } }: LoadedModel,
  given: Values[string],
  warn: (text: string) => void,
): void {
  if (given !== undefined && trained > 0 && Number(given) > trained)
    warn(
      `--context ${String(given)} is beyond the ${counted(trained, 'token')} of the model's training: expect worse answers there`,
    )
}

function contextOf(
  row: CommandRow,
  command: Command,
  { positionals, values }: Parsed,
  signal: AbortSignal,
): Context {
  const headers = headersOf((values['header'] ?? []) as string[])
  const progress = new Progress(process.stderr)
  const json = values['json'] === true
  // An access token is only sent to its own server, not to other addresses of the call.
  const firstOrigin = originOf(command.arguments[0]?.file === 'read' ? positionals[0] : undefined)
  const headersFor = (path: string) => (originOf(path) === firstOrigin ? headers : undefined)
  const { print, warn } = outputOf(progress, json)
  const given = (values['shard'] ?? []) as readonly string[]
  const sourcesOf = (path: string, shards: readonly string[]): Source[] => {
    const all = [path, ...shards]
    if (headers !== undefined && new Set(all.map(originOf)).size > 1)
      throw new UsageError('the files of the model are on different servers, and --header is for one of them')
    return all.map((one) => sourceOf(one, row, command))
  }
  const allowMissingShards = values['allow-missing-shards'] === true
  return {
    ...{ positionals, values, json, commands: kCommands },
    ...terminal(),
    signal,
    progress,
    print,
    printJson: (value) =>
      print(inEscapes(JSON.stringify(value, (_, element: unknown) => jsonScalar(element), 2))),
    warn,
    open: async (options, path = positionals[0]!, shards = given) => {
      const sources = sourcesOf(path, shards)
      const opening = { headers: headersFor(path), signal, onProgress: progress.opening, allowMissingShards }
      const file = await open(sources, { ...opening, ...options })
      progress.clear()
      const warned =
        command.damage === undefined || (command.damage === 'refused' && values['force'] === true)
      if (warned) for (const { message } of damageOf(openFile(file))) warn(message)
      return file
    },
    load: async (options, path = positionals[0]!) => {
      if (allowMissingShards) throw new UsageError(`${row.name} ${kNeedsAllShards}`)
      const source = sourcesOf(path, given)
      const { load } = await import('../engine/index.js')
      const draft = options?.draft === undefined ? undefined : sourcesOf(options.draft as string, [])
      const projector = await localProjector(source, options?.projector)
      const onDevice = ({ deviceReason }: DeviceReport): void => warn(`on the CPU: ${deviceReason}`)
      const own = { headers, signal, onProgress: progress.loading, onCache: warnOfCache(warn), onDevice }
      const model = await load<LoadedModel>(source, { ...own, ...options, draft, projector })
      progress.clear()
      warnOfContext(model, values['context'], warn)
      if (options?.device === 'auto' && model.info.device === 'cpu') onDevice(model.info)
      for (const { ignored } of 'adapters' in model ? model.adapters : [])
        if (ignored.length > 0) warn(`tensors of an adapter without effect: ${ignored.join(', ')}`)
      return model
    },
  }
}

async function runCommand(row: CommandRow, args: readonly string[]): Promise<number> {
  const { command } = await row.load()
  const parsed = await parse(row, command, args)
  if (parsed.values['help'] === true) {
    console.log(helpOf(row, command, columns()).join('\n'))
    return 0
  }
  watchInputs()
  const interrupted = new AbortController()
  const interrupt = (name: NodeJS.Signals): void =>
    interrupted.abort(new Interrupted(name, kSignals[name as keyof typeof kSignals]))
  const names = Object.keys(kSignals) as NodeJS.Signals[]
  for (const name of names) process.once(name, interrupt)
  let context: Context | undefined
  try {
    const { withHubFiles } = await import('./hub.js')
    const call = await withHubFiles(parsed, command, interrupted.signal)
    context = contextOf(row, command, call, interrupted.signal)
    return await command.run(context)
  } finally {
    context?.progress.clear()
    for (const name of names) process.off(name, interrupt)
  }
}

/** Finds the command of a call. A file without a command means info. */
async function rowOf(name: string): Promise<{ row: CommandRow; isFile: boolean }> {
  const row = kCommands.find((command) => command.name === name)
  if (row) return { row, isFile: false }
  const isPlace = name === '-' || /[/\\.:]/.test(name) || (await stat(name).catch(() => undefined))
  if (!name.startsWith('-') || name === '-') {
    if (isPlace) return { row: kCommands[0]!, isFile: true }
    const close = nearest(
      name,
      kCommands.map((command) => command.name),
    )
    const meant = close === undefined ? '' : `: did you mean ${close}?`
    throw new UsageError(`there is no command and no file "${name}"${meant}`)
  }
  throw new UsageError(`${name} is before the command: options come after it`)
}

/** Runs the command line and returns the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === 'help' && rest.length > 0) return await main([...rest, '--help'])
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    ;(name === undefined ? console.error : console.log)(overview(columns()).join('\n'))
    return name === undefined ? 2 : 0
  }
  if (name === '--version') {
    console.log(await packageVersion())
    return 0
  }
  try {
    const { row, isFile } = await rowOf(name)
    return await runCommand(row, isFile ? args : rest)
  } catch (error) {
    return report(error, args.includes('--json'))
  }
}
