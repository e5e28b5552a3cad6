// node scripts/compare-architectures.ts LLAMA_CPP: compares the names of architectures (src/llama-arch.cpp) and
// pre-tokenizers (src/llama-vocab.cpp) in a llama.cpp source tree with those in this version.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const read = (...parts: string[]): string => readFileSync(join(...parts), 'utf8')
const names = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].flatMap(([, name]) => name!.split(' ')))
const without = (all: Set<string>, taken: Set<string>): string[] =>
  [...all].filter((name) => !taken.has(name)).sort()

/** The names that lint accepts: those of tensors.inc, and the ones without a row. */
export function knownArchitectures(): Set<string> {
  const [, rows] = read(root, 'core/gguf/tensors.inc').split('kTensorRows[] = {')
  const known = names(rows!, /^ {4}\{"([^"]+)", "/gm)
  const more = /kNamesWithoutRow = "([^"]+)"/.exec(read(root, 'core/gguf/lint/tensor_plan.cpp'))
  for (const name of more![1]!.split(' ')) known.add(name)
  return known
}

const kRegistry = ['core', 'model', 'architectures', 'architectures.cpp']

/** The rows of core/model's registry: an architecture's name, and the C++ text of its row. */
export function architectureRows(): { name: string; text: string }[] {
  const [, rows] = read(root, ...kRegistry).split('kArchitectures[] = {')
  const [text] = rows!.split('\n};')
  return text!.split(/^ {4}(?=\{\.name = ")/m).flatMap((row) => {
    const [, name] = /^\{\.name = "([^"]+)"/.exec(row) ?? []
    return name === undefined ? [] : [{ name, text: row }]
  })
}

/** The names that can run, and those that are refused, with the reason. */
export function runnableArchitectures(): { runs: Set<string>; refused: Map<string, string> } {
  const [, refusals] = read(root, ...kRegistry).split('kRefusals[] = {')
  return {
    runs: new Set(architectureRows().map(({ name }) => name)),
    refused: new Map(
      [...refusals!.slice(0, refusals!.indexOf('};')).matchAll(/\{"([^"]+)",\s+"([^"]+)"\}/g)].map(
        ([, name, reason]) => [name!, reason!],
      ),
    ),
  }
}

export function knownPreTokenizers(): Set<string> {
  return names(read(root, 'core/gguf/pre_tokenizers.inc'), /^GGUFSCOPE_PRE_TOKENIZER\("([^"]+)"/gm)
}

function compare(tree: string): void {
  const theirs = names(read(tree, 'src/llama-arch.cpp'), /\{\s*LLM_ARCH_\w+,\s*"([^"()]+)"\s*\}/g)
  const theirPre = names(read(tree, 'src/llama-vocab.cpp'), /tokenizer_pre == "([^"]+)"/g)
  const ours = knownArchitectures()
  const { runs } = runnableArchitectures()
  const say = (what: string, found: string[]): void =>
    console.log(`${what}: ${found.length === 0 ? 'none' : found.join(', ')}`)
  say('architectures of llama.cpp that are unknown here', without(theirs, ours))
  say('architectures known here and not there', without(ours, theirs))
  say(
    'architectures of both that do not run here',
    without(theirs, runs).filter((name) => ours.has(name)),
  )
  say('pre-tokenizers of llama.cpp that are unknown here', without(theirPre, knownPreTokenizers()))
}

if (import.meta.main) {
  const tree = process.argv[2]
  if (tree === undefined) {
    console.error('node scripts/compare-architectures.ts LLAMA_CPP')
    process.exit(2)
  }
  compare(tree)
}
