// Checks that includes of core/ point only down, as the table of core/README.md says, and that only wasm/bindings*.cpp use Emscripten.
// Prints file:line.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
/** By layer, those that it may include: the table of core/README.md. */
const mayUse: Record<string, readonly string[]> = {}
for (const [, layer, below] of readFileSync(join(root, 'core/README.md'), 'utf8').matchAll(
  /^(\w+) +\d  .* {2,}(\S.*)$/gm,
))
  mayUse[layer!] =
    below === 'all above' ? Object.keys(mayUse) : below === 'no other layer' ? [] : below!.split(' ')
const banned = /^\s*#\s*include\s*<(emscripten[^>]*|iostream|regex|functional|format|print)>/

let errors = 0
let count = 0
for (const entry of readdirSync(join(root, 'core'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(hpp|cpp|inc)$/.test(entry.name)) continue
  count++
  const path = join(entry.parentPath, entry.name)
  const name = relative(root, path)
  const floor = name.split('/')[1] ?? ''
  if (!mayUse[floor]) throw new Error(`core/README.md lacks the layer ${floor}`)
  readFileSync(path, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const say = (what: string) => {
        errors++
        console.error(`${name}:${index + 1}: ${what}`)
      }
      const target = /^\s*#\s*include\s*"([^"/]+)\//.exec(line)?.[1]
      if (target && target !== floor && !mayUse[floor]?.includes(target))
        say(`${floor} may not include ${target}`)
      const system = banned.exec(line)?.[1]
      if (system) say(`<${system}> does not belong in the core`)
    })
}
if (errors) process.exit(1)
console.log(`layers: the includes of ${count} files in core/ point down only`)
