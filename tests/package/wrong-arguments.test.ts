// Every public function, with every kind of wrong argument and option that JavaScript allows: it must reject with a
// GgufError whose message is a sentence, and never hang. A public function without a row here fails the test.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kAll } from '../fixtures/short.ts'
import { kValues, object, type Row } from './argument-kinds.ts'
import { ai, all, GgufError, hub } from './argument-objects.ts'
import { kFunctions, kHub, kAi } from './argument-functions.ts'
import { kMethods } from './argument-methods.ts'

// Members that take nothing, and those of the class that no type has.
const kWithout = new Set(
  `constructor close summary lint tokenizer keys values entries toJSON toTypedArray removeSplit fork profile peaks
  saveState token bytes rowRange tensorType finish sibling read toBytes`.split(/\s+/),
)
const kPlainExports = new Set('GgufError WrittenFile storedFiles removePreviews memoryLimits'.split(' '))

/** Sentences of JavaScript engines, not of this package. */
const kEngineWords =
  /undefined is not|null is not|is not a function|is not iterable|Cannot (read|convert|mix)|reading '|BindingError|not an instance|must be of type|Invalid (URL|array)/

async function outcome(run: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((resolve) => (timer = setTimeout(() => resolve(new Error('It hangs.')), 20_000)))
  try {
    await Promise.race([
      (async () => await run())(),
      late.then((error) => {
        throw error
      }),
    ])
    return undefined
  } catch (error) {
    return error ?? new Error(`It throws ${String(error)}.`)
  } finally {
    clearTimeout(timer)
  }
}

function flaw(error: unknown, accepted: boolean): string | undefined {
  if (error === undefined) return accepted ? undefined : 'is accepted'
  if (!(error instanceof GgufError)) return `throws ${String(error)}`
  if (kEngineWords.test(error.message) || error.message.length < 15) return `says ${error.message}`
  return undefined
}

async function flawsOf(what: string, { call, takes, right }: Row): Promise<string[]> {
  const found: string[] = []
  let turn = 0
  const attempt = async (
    at: number,
    value: unknown,
    words: string,
    accepted: boolean | undefined,
  ): Promise<void> => {
    if (accepted === undefined) return
    // In npm test every second value, which are others for the next option.
    if (turn++ % 2 > 0 && !kAll) return
    const values = [...right]
    values[at] = value
    const error = await outcome(() => call(...(values as never[])))
    const seen = flaw(error, accepted)
    if (seen !== undefined) found.push(`${what}: ${words} ${seen}`)
  }
  for (const [at, kind] of takes.entries()) {
    if (typeof kind === 'function') {
      for (const [words, value] of Object.entries(kValues))
        await attempt(at, value, `argument ${at + 1}, ${words},`, kind(value))
      continue
    }
    for (const [words, value] of Object.entries(kValues))
      if (!object(value) && value !== undefined) await attempt(at, value, `options ${words}`, false)
    const base = (right[at] ?? {}) as object
    await attempt(at, { ...base, nonsense: 1 }, 'the unknown option', false)
    for (const [name, accepts] of Object.entries(kind))
      for (const [words, value] of Object.entries(kValues))
        if (value !== undefined)
          await attempt(at, { ...base, [name]: value }, `option ${name}, ${words},`, accepts(value))
  }
  return found
}

const kRows = [
  ...Object.entries({ ...kFunctions, ...kHub, ...kAi }),
  ...kMethods.flatMap(([what, , rows]) =>
    Object.entries(rows).map(([member, row]) => [`${what}.${member}`, row] as const),
  ),
]
for (const [what, row] of kRows)
  test(what, async () => {
    assert.equal(row.takes.length >= row.right.length, true, 'each argument has a kind')
    assert.deepEqual(await flawsOf(what, row), [])
  })

test('every public function has a row', () => {
  const missing: string[] = []
  const entries = [
    ['ggufscope/node', all, kFunctions],
    ['ggufscope/hub', hub, kHub],
    ['ggufscope/ai', ai, kAi],
  ] as const
  for (const [entry, exports, rows] of entries)
    for (const [name, value] of Object.entries(exports))
      if (typeof value === 'function' && !Object.hasOwn(rows, name) && !kPlainExports.has(name))
        missing.push(`${entry}: ${name}`)
  for (const [what, one, rows] of kMethods)
    for (const [name, { value }] of Object.entries(
      Object.getOwnPropertyDescriptors(Object.getPrototypeOf(one) as object),
    ))
      if (typeof value === 'function' && !Object.hasOwn(rows, name) && !kWithout.has(name))
        missing.push(`${what}.${name}`)
  assert.deepEqual(missing, [])
})
