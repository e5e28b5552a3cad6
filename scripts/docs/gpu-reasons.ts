// Generates the table of models without a plan for graphics cards, for the documentation's page of these. The tests of the
// core hold each row true: other reference models have a plan.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const tests = join(import.meta.dirname, '../../tests/core/gpu')

/** The rows of a list of the tests, {name, reason}. */
const rowsOf = (file: string): string[] =>
  [...readFileSync(join(tests, file), 'utf8').matchAll(/^\{"([^"]+)", "([^"]+)"\},$/gm)].map(
    ([, name, reason]) => `| \`${name}\` | ${reason} |`,
  )

export function gpuReasons(): string {
  return `| reference model | why it runs on the CPU |
| --- | --- |
${rowsOf('reasons.inc').join('\n')}

With an encoder on the CPU:

| reference model or kind of projector | why the encoder runs on the CPU |
| --- | --- |
${rowsOf('encoder_reasons.inc').join('\n')}
`
}
