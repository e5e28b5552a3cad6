// Checks the sources of the package and of the viewer: no import circles (including `import type`), and no file that is too
// long. Folders of the package and of the viewer's shared files import what their README lists. Prints what is wrong.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const root = join(import.meta.dirname, '..')
const kMaxLines = 500
const errors: string[] = []

type Graph = ReadonlyMap<string, readonly string[]>

/** The files that each TypeScript or Svelte file of a folder imports. Checks their lengths, too. */
function importsOf(folder: string): Graph {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|svelte)$/.test(name),
  )
  const known = new Set(files)
  const graph = new Map<string, string[]>()
  for (const name of files) {
    const text = readFileSync(join(root, folder, name), 'utf8')
    const lines = text.split('\n').length - 1
    if (lines > kMaxLines) errors.push(`${folder}/${name} has ${lines} lines, more than ${kMaxLines}`)
    const targets = [...text.matchAll(/(?:\bfrom |^\s*import |\bimport\()'(\.[^']+)'/gm)].map(
      ([, target]) => {
        const path = normalize(join(dirname(name), target!)).replace(/\.js$/, '')
        return [path, `${path}.ts`, `${path}.d.ts`].find((file) => known.has(file))
      },
    )
    graph.set(name, [...new Set(targets.filter((target) => target !== undefined))])
  }
  return graph
}

/** Files that import each other: Tarjan's strongly connected components with more than one file. */
function circles(graph: Graph): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    order.set(node, order.size)
    low.set(node, order.get(node)!)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) {
        visit(next)
        low.set(node, Math.min(low.get(node)!, low.get(next)!))
      } else if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, order.get(next)!))
    }
    if (low.get(node) !== order.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1) found.push(group)
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found
}

let count = 0
for (const folder of ['wasm/src', 'web/src']) {
  const imports = importsOf(folder)
  count += imports.size
  for (const group of circles(imports)) {
    const within = (name: string) => imports.get(name)!.filter((target) => group.includes(target))
    const lines = group.toSorted().map((name) => `\n  ${name} -> ${within(name).join(', ')}`)
    errors.push(`${folder}: these ${group.length} files import each other:${lines.join('')}`)
  }
}

/**
 * Compares the imports between the folders of `source` with its README's table: | `folder` | purpose | imports |. The last column
 * lists what a folder imports, and in brackets what it imports only on demand or for one of its files. Types are free.
 */
function checkFolders(source: string): void {
  const readme = readFileSync(join(root, source, 'README.md'), 'utf8')
  const rows = new Map<string, Set<string>>()
  for (const [, names, imports] of readme.matchAll(/^\| (`[^|]+`) \| [^|]+ \| ([^|`]+) \|$/gm))
    for (const [, name] of names!.matchAll(/`([^`]+)`/g)) rows.set(name!, new Set(imports!.match(/\w+/g)))
  for (const name of readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })) {
    const folder = name.split('/')[0]!
    if (!name.endsWith('.ts') || folder === name || rows.get(folder)?.has('all')) continue
    const text = readFileSync(join(root, source, name), 'utf8')
    const pattern = /(?:^(?:import|export) (?!type\b)(?:[^'"]*? from )?|\bimport\()'(\.[^']+)'/gm
    for (const [, target] of text.matchAll(pattern)) {
      const other = normalize(join(dirname(name), target!)).split('/')
      if (other.length < 2 || other[0] === '..' || other[0] === folder) continue
      if (!rows.get(folder)?.has(other[0]!))
        errors.push(`${source}/${name} imports ${other[0]}, which ${source}/README.md does not list`)
    }
  }
}
checkFolders('wasm/src')
checkFolders('web/src/lib')

for (const error of errors) console.error(error)
if (errors.length > 0) process.exit(1)
console.log(`imports: ${count} files of the package and the viewer, no circle`)
