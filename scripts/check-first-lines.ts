// Checks that the first line of each source file is a comment that says what the file is for. In
// components of Svelte it may be the first line of the script.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const patterns = [
  '*.cpp',
  '*.hpp',
  '*.inc',
  '*.ts',
  '*.svelte',
  '*.sh',
  '*.py',
  '*.cmake',
  ':!web/docs',
  ':!tests/fixtures/*/*',
]
const files = execFileSync('git', ['ls-files', '--', ...patterns], { encoding: 'utf8' })
  .trim()
  .split('\n')
/** The comment at the top, behind what must stand before it, has at least two words: a file's name alone says nothing. */
const says = (text: string): boolean =>
  /^(?:#!.*\n|\/\/\/ <reference.*\n|<script.*>\n *)?(?:(?:<!--|\/\/|#|\/\*\*?(?:\n \*)?) +|""")\S+ +\S+/.test(
    text,
  )
const bare = files.filter((file) => !says(readFileSync(file, 'utf8')))
for (const file of bare) console.error(`${file}:1: the first line does not say what the file is for`)
if (bare.length > 0) process.exit(1)
console.log(`first lines: ${files.length} files say what they are for`)
