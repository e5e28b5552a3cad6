import type { Command } from './command.js'
import { table, visible } from './format.js'

export const command: Command = {
  options: { strict: { type: 'boolean' }, data: { type: 'boolean' } },
  help: [
    '--strict          status 1 for anything against the specification, too',
    '--data            lint: reads all tensor data, too, and finds NaN and infinities in it',
  ],
  async run(context) {
    const { style } = context
    using file = await context.open({ allowMissingShards: true })
    const findings = file.lint()
    if (context.values['data'] === true) findings.push(...(await file.lintData({ signal: context.signal })))
    const errors = findings.filter(({ level }) => level === 'error').length
    const against = findings.filter(({ level }) => level === 'spec').length
    const status = errors > 0 || (context.values['strict'] === true && against > 0) ? 1 : 0
    if (context.json) {
      context.printJson(findings)
      return status
    }
    const rows = findings.map(({ level, code, offset, message }) => [
      level,
      code,
      `@${offset}`,
      visible(message),
    ])
    table(rows, ['<', '<', '>', '<']).forEach((line, i) => {
      const level = findings[i]!.level
      context.print(level === 'error' ? style.red(line) : level === 'spec' ? style.yellow(line) : line)
    })
    const others = findings.length - errors
    context.print(style.dim(`${errors} errors, ${others} other findings`))
    return status
  },
}
