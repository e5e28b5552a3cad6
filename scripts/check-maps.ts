// node scripts/check-maps.ts: the texts that guide a reader through the code (kMaps) name only files, folders, commands and
// names that are there. What stands in backticks is checked, and links.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const root = join(import.meta.dirname, '..')
const git = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
    .split('\n')
    .filter(Boolean)

const tracked = git('ls-files')
const files = tracked.filter((path) => existsSync(join(root, path)))
const kMaps = files.filter(
  (path) =>
    /(^|\/)(README|CONTRIBUTING|AGENTS)\.md$/.test(path) ||
    /^web\/docs\/(architecture|walks)\.md$/.test(path),
)
// Files that the build writes or a user has.
const kMade = /^(wasm|web)\/dist\b|^build\b|\.(gguf|safetensors)$/
const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n')
const commands = Object.keys(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts,
)

const folders = new Set<string>()
for (const path of files) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at)
const places = [...files, ...folders]

const words = new Set<string>()
for (const path of files)
  if (
    /\.(cpp|hpp|inc|ts|svelte|js|json|py|sh|css|wgsl|txt|cmake|yml)$/.test(path) &&
    !path.endsWith('lock.json')
  )
    for (const [word] of readFileSync(join(root, path), 'utf8').matchAll(/[A-Za-z_][\w-]*/g)) words.add(word)

const patternOf = (path: string): RegExp =>
  new RegExp(
    `(^|/)${path
      .replace(/\/$/, '')
      .replaceAll(/[.+?^$()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/\{([^}]+)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`)
      .replaceAll('**', '.+')
      .replaceAll('*', '[^/]*')}$`,
  )

/** Whether a map of that folder may name the place: from the root, from its folder, or by the end of its path. */
function isPlace(name: string, folder: string): boolean {
  const local = normalize(join(folder, name))
  if ([name, local].some((path) => kMade.test(path) || ignored.includes(`/${path}`))) return true
  const pattern = patternOf(local)
  const anywhere = patternOf(name.replace(/^\.\//, ''))
  return places.some((place) => pattern.test(place) || anywhere.test(place))
}

/** What is wrong with a name in backticks, if it is a path, a command or a name. */
function faultOf(name: string, folder: string): string | undefined {
  const [, script] = /^npm run ([\w:]+)/.exec(name) ?? []
  if (script !== undefined) return commands.includes(script) ? undefined : 'no such command'
  const isFile = /^[\w.*{},/-]+\.(cpp|hpp|inc|ts|md|svelte|sh|json|py|js|css|yml)$/.test(name)
  // Not parts of packages, such as ggufscope/node.
  const isFolder = /\/$/.test(name) || /^(core|wasm|web|tests|scripts)\/[\w.*{},/-]+$/.test(name)
  if (isFile || isFolder) return isPlace(name, folder) ? undefined : 'no such file or folder'
  const [, last] = /^(?:\w+(?:::|\.))?(\w+)(?:\(.*\))?$/.exec(name) ?? []
  return last === undefined || words.has(last) ? undefined : 'no such name'
}

let faults = 0
let checked = 0
for (const map of kMaps) {
  const text = readFileSync(join(root, map), 'utf8').replaceAll(/^```[^]*?^```$/gm, (fence) =>
    fence.replaceAll(/[^\n]/g, ''),
  )
  text.split('\n').forEach((line, i) => {
    for (const [, name, link] of line.matchAll(/`([^`]+)`|\]\((?!https?:|#|mailto:)([^)#]+)/g)) {
      checked++
      const fault = faultOf(name ?? link!, dirname(map))
      if (fault === undefined) continue
      faults++
      console.error(`${map}:${i + 1}: ${name ?? link}: ${fault}`)
    }
  })
}
console.log(`maps: ${kMaps.length} texts name ${checked} places and names`)
process.exitCode = faults > 0 ? 1 : 0
