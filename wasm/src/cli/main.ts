import { parseArgs, type ParseArgsConfig } from 'node:util'
import { GgufError, messageOf } from '../api/errors.js'
import { open, withPaths } from '../node.js'
import { UsageError, type CommandRow, type Context } from './command.js'
import { kCommands } from './commands.js'
import { jsonScalar, styleFor, visible } from './format.js'

const kShared = {
  json: { type: 'boolean' },
  header: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

const kSharedHelp = [
  '--json            for programs: JSON on stdout',
  '--header "A: b"   send this header with every request (may be repeated)',
  '-h, --help        this text',
]

function overview(): string {
  const names = Math.max(...kCommands.map(({ name }) => name.length))
  const rows = kCommands.map(({ name, summary }) => `  ${name.padEnd(names)}  ${summary}`)
  return [
    'usage: ggufscope <command> <file-or-url> [options]',
    '',
    ...rows,
    '',
    ...kSharedHelp.map((line) => `  ${line}`),
    '      --version   the version of the package',
    '',
    'A file is a path, an address, a page of a model hub, or hf:owner/repository/file.gguf.',
    'Status: 0 fine, 1 something is wrong with the file or the work failed, 2 wrong call.',
  ].join('\n')
}

function headersOf(lines: readonly string[]): Headers {
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

async function packageVersion(): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

async function runCommand(row: CommandRow, args: string[]): Promise<number> {
  const { command } = await row.load()
  let parsed
  try {
    parsed = parseArgs({ args, allowPositionals: true, options: { ...kShared, ...command.options } })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
  const { positionals } = parsed
  const values: Context['values'] = parsed.values
  if (values['help'] === true) {
    const help = [...(command.help ?? []), ...kSharedHelp].map((line) => `  ${line}`)
    console.log([`usage: ggufscope ${row.name} ${row.usage}`, '', row.summary, '', ...help].join('\n'))
    return 0
  }
  const headers = headersOf((values['header'] ?? []) as string[])
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new UsageError('interrupted'))
  process.once('SIGINT', interrupt)
  const context: Context = {
    positionals,
    values,
    json: values['json'] === true,
    style: styleFor(process.stdout, process.env),
    signal: interrupted.signal,
    print: (line) => void process.stdout.write(line + '\n'),
    printJson: (value) =>
      void process.stdout.write(
        JSON.stringify(value, (_, element: unknown) => jsonScalar(element), 2) + '\n',
      ),
    open: (options) => {
      const path = positionals[0]
      if (path === undefined) throw new UsageError(`which file? ggufscope ${row.name} ${row.usage}`)
      return open(path, { headers, signal: interrupted.signal, ...options })
    },
    load: async (options) => {
      const path = positionals[0]
      if (path === undefined) throw new UsageError(`which file? ggufscope ${row.name} ${row.usage}`)
      const { load } = await import('../engine/index.js')
      return await load(withPaths(path), { headers, signal: interrupted.signal, ...options })
    },
  }
  try {
    return await command.run(context)
  } finally {
    process.off('SIGINT', interrupt)
  }
}

/** The command line. Gives the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    ;(name === undefined ? console.error : console.log)(overview())
    return name === undefined ? 2 : 0
  }
  if (name === '--version') {
    console.log(await packageVersion())
    return 0
  }
  const row = kCommands.find((command) => command.name === name)
  try {
    if (!row) throw new UsageError(`there is no command "${name}"`)
    return await runCommand(row, rest)
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`ggufscope: ${visible(error.message)} (ggufscope --help)`)
      return 2
    }
    if (!(error instanceof GgufError)) throw error
    console.error(`ggufscope: ${visible(error.message)} [${error.code}]`)
    return 1
  }
}
