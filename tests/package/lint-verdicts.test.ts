// For models with one changed field, lint refuses exactly those that llama.cpp's loader refuses. The results of
// llama.cpp 0.7.0 are in tests/fixtures/corruptions.json. If lint differs on purpose, the reason is stated here and in
// web/docs/reference/lint-and-llama-cpp.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { corruptions } from '../fixtures/corruptions.ts'
import { loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const verdicts = JSON.parse(
  readFileSync(new URL('../fixtures/corruptions.json', import.meta.url), 'utf8'),
) as Record<string, string>

/** Name of the corruption -> why lint's verdict differs. */
const differences: Record<string, string> = {}

/** Lint's errors; empty if there are none. */
async function refusal(bytes: Uint8Array): Promise<string> {
  try {
    using file = await open(bytes)
    return file
      .lint()
      .filter(({ level }) => level === 'error')
      .map(({ code, message }) => `${code}: ${message}`)
      .join('; ')
  } catch (error) {
    return String(error)
  }
}

test('lint refuses what llama.cpp refuses', async () => {
  assert.ok(corruptions.length > 60, `${corruptions.length}`)
  assert.deepEqual(
    corruptions.map(({ name }) => name).sort(),
    Object.keys(verdicts).sort(),
    'record-corruptions.ts makes the verdicts anew',
  )
  const wrong: string[] = []
  const unused = new Set(Object.keys(differences))
  for (const { name, bytes } of corruptions) {
    const found = await refusal(bytes())
    const theirs = verdicts[name]!
    if ((found !== '') === theirs.startsWith('refuses')) continue
    if (!unused.delete(name)) wrong.push(`${name}: llama.cpp ${theirs}; lint ${found || 'accepts'}`)
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...unused], [], 'these agree by now')
})

test('the documentation has every difference', () => {
  const page = readFileSync(
    new URL('../../web/docs/reference/lint-and-llama-cpp.md', import.meta.url),
    'utf8',
  )
  for (const [name, reason] of Object.entries(differences))
    assert.ok(page.includes(reason), `${name}: ${reason}`)
})
