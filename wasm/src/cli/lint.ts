import type { Command } from './command.js'
import { table, visible } from './format.js'

export const command: Command = {
  async run(context) {
    const { style } = context
    using file = await context.open({ allowMissingShards: true })
    const findings = file.lint()
    const errors = findings.filter(({ level }) => level === 'error').length
    if (context.json) {
      context.printJson(findings)
      return errors > 0 ? 1 : 0
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
    return errors > 0 ? 1 : 0
  },
}
