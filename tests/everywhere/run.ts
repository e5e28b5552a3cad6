// npm run test:everywhere [NAME...]: installs each environment below build/everywhere, runs the same program in it, and
// writes the results to the documentation's table. Then it installs and runs the documentation's examples. Needs a package registry.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBrowser } from '../browsers/drive.ts'
import { kRoot } from '../package/packed.ts'
import { kBrowser } from '../web/browser.ts'
import { contextOf, install } from './context.ts'
import { tryElement } from './elements.ts'
import { kEnvironments, type Environment } from './environments.ts'
import { kExamples, tryExample } from './examples.ts'
import { expectedSeen, faultsOf, kSteps, type Seen } from './expected.ts'

const parent = join(kRoot, 'build/everywhere')
mkdirSync(parent, { recursive: true })
const report = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', parent], {
  cwd: kRoot,
  encoding: 'utf8',
})
const [{ filename }] = JSON.parse(report) as [{ filename: string }]
const tarball = join(parent, filename)

interface Result {
  readonly seen: Seen
  readonly faults: readonly string[]
  readonly versions: string
}
const path = join(kRoot, 'web/docs/reference/everywhere.json')
const kept = (): Record<string, Result> =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Result>) : {}
const tried: Record<string, Result> = {}

const versionIn = (manifest: string): string =>
  (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
const [kChromium] = /^Chromium \d+/.exec(
  execFileSync(kBrowser.executablePath, ['--version'], { encoding: 'utf8', stdio: 'pipe' }),
)!

const expected = await expectedSeen()
const browser = await startBrowser('chromium')

/** The versions that npm installed for a row's packages, or the browser's if it needs none. */
function versionsOf(folder: string, { packages }: Environment): string {
  if (packages.length === 0) return kChromium
  return packages
    .map((one) => one.replace(/(.)@.*$/, '$1'))
    .map((name) => `${name} ${versionIn(join(folder, 'node_modules', name, 'package.json'))}`)
    .join(', ')
}

/** Merges the results with those of other runs, in the order of the rows, and drops results of removed rows. */
function save(): Record<string, Result> {
  const all = { ...kept(), ...tried }
  const known = kEnvironments.filter(({ name }) => all[name]).map(({ name }) => [name, all[name]!])
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
  return all
}

async function tryOne(environment: Environment): Promise<Result> {
  const folder = await install(parent, environment, tarball)
  const versions = versionsOf(folder, environment)
  try {
    const seen = await environment.run(contextOf(folder, browser))
    return { seen, faults: faultsOf(seen, expected, environment.threads ?? 2), versions }
  } catch (error) {
    return { seen: {}, faults: [String(error instanceof Error ? error.message : error)], versions }
  }
}

const asked = process.argv.slice(2)
const chosen = kEnvironments.filter(
  ({ name }) => asked.length === 0 || asked.some((word) => name.includes(word)),
)
let failed = 0
for (const environment of chosen) {
  const begun = performance.now()
  const result = await tryOne(environment).catch((error: unknown) => ({
    seen: {},
    faults: [`install: ${String(error)}`],
    versions: '',
  }))
  tried[environment.name] = {
    ...result,
    faults: result.faults.map((fault) => fault.replaceAll(kRoot, '.').slice(0, 300)),
  }
  save()
  if (result.faults.length > 0) failed++
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  console.log(
    `${result.faults.length === 0 ? 'ok    ' : 'FAILED'} ${environment.name} (${result.versions}) ${seconds} s`,
  )
  for (const fault of result.faults) console.log(`       ${fault}`)
}
for (const example of kExamples) {
  const name = `example ${example.name}`
  if (asked.length > 0 && !asked.some((word) => name.includes(word))) continue
  const { failed: fault, skipped } = await tryExample(example, parent, tarball, browser)
  if (fault !== undefined) failed++
  console.log(`${fault === undefined ? (skipped === undefined ? 'ok    ' : 'skipped') : 'FAILED'} ${name}`)
  if (fault ?? skipped) console.log(`       ${fault ?? skipped}`)
}
await browser.close()

// The custom element in its host pages: npm run test:everywhere element.
if (asked.length === 0 || asked.some((word) => 'element'.includes(word)))
  for (const { name, fault, skipped } of await tryElement()) {
    if (fault !== undefined) failed++
    console.log(`${fault === undefined ? (skipped === undefined ? 'ok    ' : 'skipped') : 'FAILED'} ${name}`)
    if (fault ?? skipped) console.log(`       ${fault ?? skipped}`)
  }

const results = save()
const rows = kEnvironments.filter(({ name }) => results[name])
const mark = (faults: readonly string[], step: string): string =>
  faults.some((fault) => fault.startsWith(`${step}:`)) ||
  faults.some((fault) => !kSteps.some((one) => fault.startsWith(`${one}:`)))
    ? 'no'
    : 'yes'
const table = [
  `| environment | setting | ${kSteps.join(' | ')} | versions |`,
  `| --- | --- | ${kSteps.map(() => '---').join(' | ')} | --- |`,
  ...rows.map(({ name, setting = 'none' }) => {
    const { faults, versions } = results[name]!
    return `| ${name} | ${setting} | ${kSteps.map((step) => mark(faults, step)).join(' | ')} | ${versions} |`
  }),
].join('\n')
const page = join(kRoot, 'web/docs/guides/bundlers.md')
const text = readFileSync(page, 'utf8')
const marked = /(<!-- everywhere -->\n)[^]*?(\n<!-- \/everywhere -->)/
if (marked.test(text))
  writeFileSync(
    page,
    text.replace(marked, (_, begin: string, end: string) => `${begin}\n${table}\n${end}`),
  )
console.log(table)
process.exit(failed === 0 ? 0 : 1)
