// node scripts/compare-keys.ts CONSTANTS_PY: compares the keys in gguf-py's constants.py with those in core/gguf/keys.inc,
// and prints the ones that are unknown here. Ends with status 1 if there are any.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const kRoot = join(import.meta.dirname, '..')

/** The texts of class Keys: '{arch}.block_count' and the like. */
export function keysOf(source: string): string[] {
  const [, rest = ''] = source.split(/^class Keys:$/m)
  const body = rest.split(/^\S/m)[0]!
  return [...body.matchAll(/^\s+[A-Z0-9_]+\s*=\s*f?"([^"]+)"/gm)].map(([, key]) => key!)
}

/** Whether a key with placeholders is one of the patterns. A placeholder stands for a word. */
export function isKnown(key: string, patterns: readonly string[]): boolean {
  const shape = (text: string) => text.replaceAll(/\{\w+\}/g, '{}')
  // gguf-py's {dense} is a part of a word.
  const choices = key.includes('{dense}')
    ? ['dense_2', 'dense_3'].map((word) => key.replace('{dense}', word))
    : [key]
  return choices.every((choice) => patterns.some((pattern) => shape(pattern) === shape(choice)))
}

export function knownKeys(): string[] {
  const rows = readFileSync(join(kRoot, 'core/gguf/keys.inc'), 'utf8')
  return [...rows.matchAll(/^GGUFSCOPE_KEY\("([^"]+)"/gm)].map(([, key]) => key!)
}

if (import.meta.main) {
  const [, , path] = process.argv
  if (path === undefined) {
    console.error('node scripts/compare-keys.ts CONSTANTS_PY')
    process.exit(2)
  }
  const theirs = keysOf(readFileSync(path, 'utf8'))
  const patterns = knownKeys()
  const unknown = theirs.filter((key) => !isKnown(key, patterns))
  console.log(
    `${theirs.length} keys, ${unknown.length} unknown here${unknown.map((key) => `\n${key}`).join('')}`,
  )
  if (unknown.length > 0) process.exitCode = 1
}
