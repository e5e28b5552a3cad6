// Commands that take several files: one result for each, and the worst status.
import { GgufError } from '../api/errors.js'
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
  'Each of several files gives a result; the status is the worst of them. With --json they are one document: an array of {"file", "status", "result"}, or {"file", "status", "error"} for a file that cannot be read.'

/** For a file that is no model: its result, if it is of another known kind. */
type Fallback = (path: string) => Promise<Result | undefined>

/** Opens one file and looks at it. */
async function resultOf(
  context: Context,
  path: string,
  {
    look,
    fallback,
    show,
    ...options
  }: OpenOptions & {
    look: (file: GgufFile, path: string) => Promise<Result>
    fallback: Fallback | undefined
    show: (result: Result) => Promise<void>
  },
): Promise<number> {
  let result: Result | undefined
  try {
    using file = await context.open(options, path)
    result = await look(file, path)
    await show(result)
  } catch (error) {
    const isOther = result === undefined && error instanceof GgufError && error.code === 'bad-magic'
    result = isOther ? await fallback?.(path) : undefined
    if (!result) throw error
    await show(result)
  }
  return result.status
}

/** Opens each file of the call and shows the result of `look`. A failure of one file does not stop the others. */
export async function eachFile(
  context: Context,
  look: (file: GgufFile, path: string) => Promise<Result>,
  options: OpenOptions = {},
  fallback?: Fallback,
): Promise<number> {
  const { positionals, json, print, style } = context
  if (positionals.length === 1) {
    const show = async (result: Result) => (json ? context.printJson(result.json) : await result.print())
    return await resultOf(context, positionals[0]!, { ...options, look, fallback, show })
  }
  let worst = 0
  const all: unknown[] = []
  for (const [i, path] of positionals.entries()) {
    if (!json) print(`${i === 0 ? '' : '\n'}${style.bold(`${visible(path)}:`)}`)
    let status: number
    try {
      const show = async (result: Result) => {
        if (json) all.push({ file: path, status: result.status, result: result.json })
        else await result.print()
      }
      status = await resultOf(context, path, { ...options, look, fallback, show })
    } catch (error) {
      const failure = failureOf(error)
      if (context.signal.aborted || ['usage', 'internal'].includes(failure.code)) throw error
      context.progress.clear()
      status = json ? 1 : report(error, false)
      if (json) all.push({ file: path, status, error: failure })
    }
    worst = Math.max(worst, status)
  }
  if (json) context.printJson(all)
  return worst
}
