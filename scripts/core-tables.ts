// What the generators share: they read tables of the core (*.inc) and write files of TypeScript.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The captures of each row. The pattern begins with ^ and the name of a macro; a row of another form is an error. */
export function rowsOf(table: string, pattern: RegExp): string[][] {
  const text = readFileSync(join(root, table), 'utf8')
  const macro = /^\^(\w+)/.exec(pattern.source)![1]!
  const rows = [...text.matchAll(pattern)].map(([, ...captures]) => captures)
  if (rows.length !== text.split(`\n${macro}(`).length - 1)
    throw new Error(`${table} has rows of another form`)
  return rows
}

/** Writes a file with a first line that names the script and its source. */
export function writeSource(script: string, path: string, source: string, text: string): void {
  writeFileSync(join(root, path), `// Written by scripts/${basename(script)} from ${source}.\n${text}`)
}
