// Runs Python's Jinja2 if it is installed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export interface ReferenceCase {
  readonly template: string
  /** JSON of an object */
  readonly variables: string
}
export type ReferenceResult = { readonly text: string } | { readonly error: string }

/** The reason why Jinja2 cannot be used here, or false. */
export const kNoPython: string | false =
  spawnSync('python3', ['-c', 'import jinja2']).status === 0 ? false : 'no python3 with jinja2'

export function renderByPython(cases: readonly ReferenceCase[]): ReferenceResult[] {
  const input = `[${cases.map(({ template, variables }) => `{"template": ${JSON.stringify(template)}, "variables": ${variables}}`).join(',')}]`
  const run = spawnSync('python3', [join(import.meta.dirname, 'reference.py')], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  if (run.status !== 0) throw new Error(`reference.py: ${run.stderr}`)
  return JSON.parse(run.stdout) as ReferenceResult[]
}
