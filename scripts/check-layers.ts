// Checks that includes of core/ point only down (core/README.md), and that only wasm/bindings*.cpp use Emscripten.
// Prints file:line.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
const mayUse: Record<string, string[]> = {
  base: [],
  types: ['base'],
  jinja: ['base'],
  gguf: ['base', 'types'],
  quant: ['base', 'types'],
  text: ['base', 'types', 'gguf'],
  media: ['base'],
  nn: ['base', 'types', 'quant'],
  model: ['base', 'types', 'gguf', 'quant', 'nn'],
  audio: ['base', 'types', 'gguf', 'media', 'nn', 'model'],
  vision: ['base', 'types', 'gguf', 'media', 'nn', 'model'],
  speech: ['base', 'types', 'gguf', 'media', 'nn', 'model'],
  gpu: ['base', 'types', 'quant', 'nn', 'model'],
  engine: [
    'base',
    'types',
    'gguf',
    'quant',
    'text',
    'nn',
    'media',
    'model',
    'audio',
    'vision',
    'speech',
    'gpu',
  ],
}
const banned = /^\s*#\s*include\s*<(emscripten[^>]*|iostream|regex|functional|format|print)>/

let errors = 0
let count = 0
for (const entry of readdirSync(join(root, 'core'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(hpp|cpp|inc)$/.test(entry.name)) continue
  count++
  const path = join(entry.parentPath, entry.name)
  const name = relative(root, path)
  const floor = name.split('/')[1] ?? ''
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
