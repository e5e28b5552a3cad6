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
import { missingFrom } from '../../scripts/compare-gguf-py.ts'
import { architectureNames } from '../../scripts/docs/architectures.ts'
import { kRoot } from './packed.ts'

const read = (path: string): string => readFileSync(join(kRoot, path), 'utf8')
const sorted = (names: Iterable<string>): string[] => [...names].sort()

/** The names of llama.cpp 0.7.0: those of its library and of gguf-py agree. */
const theirs = JSON.parse(read('tests/fixtures/llama-architectures.json')) as string[]

test('every known name runs or is refused, and the page lists each once', () => {
  const known = knownArchitectures()
  const { runs, refused } = runnableArchitectures()
  const ours = sorted(runs).filter((name) => known.has(name))
  assert.deepEqual(sorted(known), sorted([...ours, ...refused.keys()]))
  const [running, refusals, newer] = architectureNames().split(/\n(?=`load`|These names)/)
  const names = (text: string): string[] =>
    [...text.matchAll(/`([^`.]+)`(?=,|$| \|)/gm)].map(([, name]) => name!)
  assert.deepEqual(names(running!), ours)
  assert.deepEqual(names(refusals!), sorted(refused.keys()))
  assert.deepEqual(
    names(newer ?? ''),
    theirs.filter((name) => !known.has(name)),
  )
})

test('every name of llama.cpp 0.7.0 runs or is refused with a reason', () => {
  const { runs, refused } = runnableArchitectures()
  assert.equal(theirs.length, 158)
  assert.deepEqual(
    theirs.filter((name) => !runs.has(name) && !refused.has(name)),
    [],
  )
  // Those that stay refused; a new one needs a reason here and in the registry.
  assert.deepEqual(
    theirs.filter((name) => !runs.has(name)),
    ['clip'],
  )
})

test('a row of an architecture changes no other file: no text counts them', () => {
  for (const page of [
    'README.md',
    'web/docs/index.md',
    'web/docs/faq.md',
    'web/docs/reference/architectures.md',
  ])
    assert.doesNotMatch(read(page), /\b\d+ (of llama\.cpp's \d+ )?\[?architecture/, page)
})

test('there are as many checks of lint as the README says', () => {
  const rules = JSON.parse(read('web/docs/reference/lint-rules.json')) as Record<string, unknown>
  for (const page of ['README.md', 'web/docs/index.md']) {
    const [, count] = /more than (\d+) checks/.exec(read(page)) ?? []
    assert.ok(Object.keys(rules).length > Number(count), page)
  }
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

const kConstants = `class Keys:
    class LLM:
        VOCAB_SIZE = "{arch}.vocab_size"
        NOVEL = "{arch}.novel_key"

class MODEL_ARCH(IntEnum):
    LLAMA = auto()

MODEL_ARCH_NAMES: dict[MODEL_ARCH, str] = {
    MODEL_ARCH.LLAMA: "llama",
    MODEL_ARCH.NOVEL: "novel",
}

TENSOR_NAMES: dict[MODEL_TENSOR, str] = {
    MODEL_TENSOR.ATTN_Q: "blk.{bid}.attn_q",
    MODEL_TENSOR.NOVEL: "blk.{bid}.novel_tensor",
}

class GGMLQuantizationType(IntEnum):
    F32     = 0
    NOVEL   = 999


class LlamaFileType(IntEnum):
    ALL_F32 = 0
    NOVEL = 998


class VisionProjectorType:
    GEMMA3 = "gemma3"
    NOVEL = "novel_projector"
`
test('another script lists what is new in a version of gguf-py', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gguf-py-'))
  try {
    writeFileSync(join(folder, 'constants.py'), kConstants)
    writeFileSync(join(folder, 'base.py'), '        res = "llama-bpe"\n        res = "novel-pre"\n')
    const added = {
      keys: ['{arch}.novel_key'],
      tensors: ['blk.{bid}.novel_tensor'],
      architectures: ['novel'],
      types: ['NOVEL (999)'],
      'file types': ['NOVEL (998)'],
      projectors: ['novel_projector'],
    }
    assert.deepEqual(missingFrom(folder, folder), { ...added, 'pre-tokenizers': ['novel-pre'] })
    assert.deepEqual(missingFrom(folder), { ...added, 'pre-tokenizers': [] })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
