// Completes the package's declarations: adds hand-written ones, which tsc does not copy, and removes those that
// neither an entry reaches nor belong to a module.
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'wasm/dist')
const source = join(root, 'wasm/src')

for (const path of globSync('**/*.d.ts', { cwd: source })) {
  mkdirSync(dirname(join(dist, path)), { recursive: true })
  copyFileSync(join(source, path), join(dist, path))
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string }>
}
const waiting = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : [join(root, entry.types)],
)
const reached = new Set<string>()
for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
  if (reached.has(path)) continue
  reached.add(path)
  for (const [, target] of readFileSync(path, 'utf8').matchAll(
    /\b(?:from |import\()['"](\.[^'"]+)\.js['"]/g,
  )) {
    const found = join(dirname(path), `${target}.d.ts`)
    if (!existsSync(found)) throw new Error(`${path} imports ${target}.js, which has no declarations`)
    waiting.push(found)
  }
}
for (const path of globSync('**/*.d.ts', { cwd: dist }))
  if (!reached.has(join(dist, path)) && !existsSync(join(dist, path.replace(/d\.ts$/, 'js'))))
    rmSync(join(dist, path))
