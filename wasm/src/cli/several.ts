// Commands that take several files: one result for each, and the worst status.
import type { GgufFile, OpenOptions } from '../node.js'
import type { Context } from './command.js'
import { failureOf, report } from './failure.js'
import { visible } from './format.js'

export interface Result {
  readonly status: number
  readonly json: unknown
  /** for people */
  print(): void | Promise<void>
}

export const kSeveralHelp =
  'Several files give one result each, and the worst status. With --json they are one document: an array of {"file", "status", "result"}, or {"file", "status", "error"} for a file that cannot be read.'

/** Opens each file of the call and shows the result of `look`. A failure of one file does not stop the others. */
export async function eachFile(
  context: Context,
  look: (file: GgufFile) => Promise<Result>,
  options: OpenOptions = {},
): Promise<number> {
  const { positionals, json, print, style } = context
  if (positionals.length === 1) {
    using file = await context.open(options)
    const result = await look(file)
    if (json) context.printJson(result.json)
    else await result.print()
    return result.status
  }
  let worst = 0
  const all: unknown[] = []
  for (const [i, path] of positionals.entries()) {
    if (!json) print(`${i === 0 ? '' : '\n'}${style.bold(`${visible(path)}:`)}`)
    let status: number
    try {
      using file = await context.open(options, path)
      const result = await look(file)
      status = result.status
      if (json) all.push({ file: path, status, result: result.json })
      else await result.print()
    } catch (error) {
      const failure = failureOf(error)
      if (!failure || context.signal.aborted || failure.code === 'usage') throw error
      context.progress.clear()
      status = json ? 1 : report(error, false)
      if (json) all.push({ file: path, status, error: failure })
    }
    worst = Math.max(worst, status)
  }
  if (json) context.printJson(all)
  return worst
}
