// Prints which steps and tests of a run took longest, from the logs that scripts/test.sh left in a folder.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = process.argv[2] ?? 'build/logs'
const read = (name: string): string => {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

interface Timed {
  readonly seconds: number
  readonly name: string
}

/** Boost: file.cpp(12): Leaving test case "name"; testing time: 34us */
const casesOf = (step: string): Timed[] =>
  [
    ...read(`${step}.cases`).matchAll(/([^\s(]+)\(\d+\): Leaving test case "(.*?)"; testing time: (\d+)us/g),
  ].map(([, file, name, us]) => ({ seconds: Number(us) / 1e6, name: `${step}, ${basename(file!)}: ${name}` }))

/** TAP: the outer tests, whose time includes that of their parts. */
const packageTests = (): Timed[] =>
  [...read('package.tap').matchAll(/^(?:not )?ok \d+ - (.*)\n  ---\n  duration_ms: ([\d.]+)/gm)].map(
    ([, name, ms]) => ({ seconds: Number(ms) / 1000, name: `package: ${name}` }),
  )

/** Playwright's list: name (1.2s), (34ms) or (1.5m) */
const kUnits: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60 }
const pages = (): Timed[] =>
  [...read('web.log').matchAll(/^ +\S+ +\d+ (.*) \(([\d.]+)(ms|s|m)\)$/gm)].map(([, name, time, unit]) => ({
    seconds: Number(time) * kUnits[unit!]!,
    name: `web: ${name}`,
  }))

const steps = read('steps')
  .trim()
  .split('\n')
  .map((line) => line.split(' '))
const computed = steps.reduce((sum, [, , cpu]) => sum + Number(cpu), 0)
console.log(`Where the time went: ${computed} s computed, in seconds beside other steps`)
for (const [name, seconds, cpu] of steps)
  console.log(`  ${name!.padEnd(16)} ${seconds!.padStart(5)}, computed ${cpu!.padStart(5)}`)
const kCore = 'native sanitized wasm relaxed arm arm-dot x86 x86-vnni'
  .split(' ')
  .map((name) => `core-${name}`)
console.log('The slowest tests:')
const tests = [...kCore.flatMap(casesOf), ...packageTests(), ...pages()]
for (const { seconds, name } of tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10))
  console.log(`  ${seconds.toFixed(1).padStart(6)} ${name}`)
