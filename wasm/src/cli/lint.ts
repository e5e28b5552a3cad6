// The command lint: checks files.
import type { Finding, FindingLevel } from '../api/findings.js'
import type { GgufFile } from '../api/file.js'
import { kFiles, UsageError, type Command, type Context } from './command.js'
import { counted, sentences, visible } from './format.js'
import { eachFile, kSeveralHelp } from './several.js'
import { drained } from './standard-input.js'

/** levels: the words for the findings' levels */
export function printFindings(
  findings: readonly Finding[],
  { print, style, columns }: Context,
  levels?: Readonly<Record<FindingLevel, string>>,
): void {
  const rows = findings.map(({ level, code, offset, message }) => [
    levels?.[level] ?? level,
    code,
    offset === undefined ? '' : `@${offset}`,
    visible(message),
  ])
  sentences(rows, ['<', '<', '>', '<'], columns).forEach((lines, i) => {
    const level = findings[i]!.level
    for (const line of lines)
      print(level === 'error' ? style.red(line) : level === 'spec' ? style.yellow(line) : line)
  })
}

function printAll(findings: readonly Finding[], context: Context): void {
  const { print, style } = context
  printFindings(findings, context)
  const errors = findings.filter(({ level }) => level === 'error').length
  print(style.dim(`${counted(errors, 'error')}, ${counted(findings.length - errors, 'other finding')}`))
}

async function findingsOf(
  file: GgufFile,
  { positionals, values, signal, progress }: Context,
  base: GgufFile | undefined,
): Promise<Finding[]> {
  await drained(file, signal)
  // Reads the first bytes after the data, if possible, to identify them.
  const behind = positionals.includes('-')
    ? []
    : (await file.damage({ signal })).filter(({ code }) => code === 'trailing-data')
  const findings = file.lint({ strict: values['strict'] === true }).map((one) => {
    const known = behind.find(({ code, shard }) => code === one.code && shard === one.shard)
    return known ? { ...one, message: known.message } : one
  })
  findings.push(...(await file.lintTemplates({ signal })), ...(await file.lintKeys({ signal })))
  // Other errors would be found again.
  if (!findings.some(({ level }) => level === 'error')) {
    const { lintLoad } = await import('../engine/index.js')
    findings.push(...(await lintLoad(file, { signal })))
  }
  if (values['data'] === true)
    findings.push(...(await file.lintData({ signal, onProgress: progress.reading('checking tensor data') })))
  progress.clear()
  if (base) {
    const { lintAdapter } = await import('../edit/lint-adapter.js')
    findings.push(...lintAdapter(file, base))
  }
  return findings
}

export const command: Command = {
  damage: 'told',
  arguments: [kFiles],
  options: {
    strict: { help: 'status 1 also for violations of the specification; check the file name, too' },
    data: { help: 'also read all tensor data, and find NaN and infinities' },
    base: {
      value: 'FILE',
      file: 'read',
      help: 'also check whether the files, which are LoRA adapters, fit this model',
    },
  },
  help: [kSeveralHelp],
  standardInput: true,
  async run(context) {
    const { positionals, values } = context
    if (values['data'] === true && positionals.includes('-'))
      throw new UsageError('--data reads parts of the file, which standard input does not allow')
    const path = values['base'] as string | undefined
    using base = path === undefined ? undefined : await context.open({}, path, [])
    const levels = values['strict'] === true ? ['error', 'spec'] : ['error']
    return await eachFile(
      context,
      async (file) => {
        const findings = await findingsOf(file, context, base)
        return {
          status: findings.some(({ level }) => levels.includes(level)) ? 1 : 0,
          json: findings,
          print: () => printAll(findings, context),
        }
      },
      { allowMissingShards: true },
    )
  },
}
