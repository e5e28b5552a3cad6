// The documentation lists exactly the architectures that the code supports.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  knownArchitectures,
  knownPreTokenizers,
  runnableArchitectures,
} from '../../scripts/compare-architectures.ts'
import { kRoot } from './packed.ts'

const read = (path: string): string => readFileSync(join(kRoot, path), 'utf8')
const sorted = (names: Iterable<string>): string[] => [...names].sort()

test('every name of llama.cpp runs or is refused with a reason, and the page says so', () => {
  const known = knownArchitectures()
  const { runs, refused } = runnableArchitectures()
  const ours = sorted(runs).filter((name) => known.has(name))
  assert.deepEqual(sorted(known), sorted([...ours, ...refused]))
  const page = read('web/docs/reference/architectures.md')
  const [listed, rest] = page.split('Files of the other architectures')
  assert.deepEqual(sorted([...listed!.matchAll(/`([^`.]+)`/g)].map(([, name]) => name!)), ours)
  assert.deepEqual(sorted([...rest!.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name!)), sorted(refused))
  const count = `${ours.length} of llama.cpp's ${known.size} [architecture names]`
  for (const path of ['README.md', 'web/docs/faq.md']) assert.ok(read(path).includes(count), path)
})

test('the script lists what is new in a version of llama.cpp', () => {
  const tree = mkdtempSync(join(tmpdir(), 'llama-'))
  try {
    mkdirSync(join(tree, 'src'))
    const rows = [...knownArchitectures()].filter((name) => name !== 'gptj').concat('novel')
    writeFileSync(
      join(tree, 'src/llama-arch.cpp'),
      rows.map((name, i) => `    { LLM_ARCH_N${i}, "${name}" },\n`).join(''),
    )
    writeFileSync(
      join(tree, 'src/llama-vocab.cpp'),
      [...knownPreTokenizers(), 'novel-pre'].map((name) => `tokenizer_pre == "${name}" ||\n`).join(''),
    )
    const said = execFileSync('node', [join(kRoot, 'scripts/compare-architectures.ts'), tree], {
      encoding: 'utf8',
    })
    assert.match(said, /unknown here: novel\narchitectures known here and not there: gptj\n/)
    assert.match(said, /pre-tokenizers of llama.cpp that are unknown here: novel-pre\n/)
  } finally {
    rmSync(tree, { recursive: true })
  }
})
