// node scripts/compare-gguf-py.ts GGUF_PY [CONVERSION]: compares the tables here with a gguf-py (the folder that holds
// constants.py), and prints what is missing here: keys, tensors, architectures, types, file types and projectors, and
// with llama.cpp's folder of conversion scripts the pre-tokenizers. Ends with status 1 if something is missing.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { knownArchitectures, knownPreTokenizers } from './compare-architectures.ts'

const kRoot = join(import.meta.dirname, '..')
const read = (...parts: string[]): string => readFileSync(join(kRoot, ...parts), 'utf8')
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found!)

/** The body of a class, or of a dictionary, of constants.py. */
function bodyOf(source: string, head: RegExp): string {
  const [, rest = ''] = source.split(head)
  return rest.split(/^\S/m)[0]!
}

/** Whether a name with placeholders is one of the patterns. A placeholder stands for a word. */
function isPattern(name: string, patterns: readonly string[]): boolean {
  const shape = (text: string) => text.replaceAll(/\{\w+\}/g, '{}')
  // gguf-py's {dense} is a part of a word.
  const choices = name.includes('{dense}')
    ? ['dense_2', 'dense_3'].map((word) => name.replace('{dense}', word))
    : [name]
  return choices.every((choice) => patterns.some((pattern) => shape(pattern) === shape(choice)))
}

function missingKeys(source: string): string[] {
  const known = matches(read('core/gguf/keys.inc'), /^GGUFSCOPE_KEY\("([^"]+)"/gm)
  const theirs = matches(bodyOf(source, /^class Keys:$/m), /^\s+[A-Z0-9_]+\s*=\s*f?"([^"]+)"/gm)
  return theirs.filter((key) => !isPattern(key, known))
}

/** Tensors that nothing here reads, and why. A star stands for any text. */
const kUnreadTensors: readonly (readonly [why: string, ...names: string[]])[] = [
  ['a shorter way to logits that are all computed here', 'masked_embd_*'],
  ['draft models that are refused', 'lilicorr.*'],
  ['projectors that are refused', 'v.sam.*', 'v.resample_query_*', 'v.view_seperator', 'v.image_newline'],
  ['projectors that are refused', 'v.proj_blk.*', 'mm.pre_norm', 'mm.image_begin'],
  [
    'only in gguf-py',
    'v.token_embd.img_*',
    'v.blk.{bid}.attn_out_norm',
    'resampler.pos_embd_k',
    '*hard_emb_norm',
  ],
  ['only in gguf-py', 'a.position_embd_norm', 'a.embd_to_logits'],
  ['composed of other words here', 'a.blk.{bid}.ffn_*_1', 'a.blk.{bid}.layer_pre_norm'],
]
const isUnread = (name: string): boolean =>
  kUnreadTensors.some(([, ...patterns]) =>
    patterns.some((pattern) =>
      new RegExp(`^${pattern.replaceAll(/[.{}]/g, '\\$&').replaceAll('*', '.*')}$`).test(name),
    ),
  )

/** Words of the core's sources: the parts of the names of all tensors that it reads. */
function wordsOfCore(): Set<string> {
  const files = readdirSync(join(kRoot, 'core'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((name) => /\.(cpp|hpp|inc)$/.test(name))
  return new Set(sources.flatMap((name) => read('core', name).match(/\w+/g) ?? []))
}

function missingTensors(source: string): string[] {
  const words = wordsOfCore()
  const theirs = matches(bodyOf(source, /^TENSOR_NAMES\b.*$/m), /MODEL_TENSOR\.\w+\s*:\s*"([^"]+)"/g)
  const known = (name: string) =>
    name
      .split('.')
      .filter((part) => !part.includes('{'))
      .every((part) => words.has(part))
  return theirs.filter((name) => !known(name) && !isUnread(name))
}

function missingArchitectures(source: string): string[] {
  const known = knownArchitectures()
  const body = bodyOf(source, /^MODEL_ARCH_NAMES\b.*$/m)
  const theirs = matches(body, /MODEL_ARCH\.\w+\s*:\s*"([^"]+)"/g)
  return theirs.filter((name) => !known.has(name))
}

/** Numbers of an enumeration that no row of types.inc has. */
function missingNumbers(source: string, name: string, row: string): string[] {
  const known = new Set(
    matches(read('core/types/types.inc'), new RegExp(`^${row}\\((\\d+),`, 'gm')).map(Number),
  )
  const theirs = bodyOf(source, new RegExp(`^class ${name}\\(IntEnum\\):$`, 'm')).matchAll(
    /^\s+(\w+)\s*=\s*(\d+)/gm,
  )
  return [...theirs].flatMap(([, label, id]) =>
    known.has(Number(id)) || label === 'GUESSED' ? [] : [`${label!} (${id!})`],
  )
}

function missingProjectors(source: string): string[] {
  const [, list = ''] = /kProjectors =\n([^;]*);/.exec(read('core/gguf/lint/projectors.cpp')) ?? []
  const known = new Set(matches(list, /"([^"]*)"/g).flatMap((line) => line.trim().split(' ')))
  const theirs = matches(bodyOf(source, /^class VisionProjectorType:$/m), /^\s+\w+\s*=\s*"([^"]+)"/gm)
  return theirs.filter((name) => !known.has(name) && name !== kAudioAndVision)
}
/** Becomes one of two other names when a file is read. */
const kAudioAndVision = 'qwen2.5o'

function missingPreTokenizers(folder: string): string[] {
  const known = knownPreTokenizers()
  const theirs = matches(readFileSync(join(folder, 'base.py'), 'utf8'), /^\s+res = "([^"]+)"/gm)
  return [...new Set(theirs)].filter((name) => !known.has(name) && !kWordPiece.has(name))
}
/** Of WordPiece tokenizers, for which llama.cpp does not read tokenizer.ggml.pre. */
const kWordPiece: ReadonlySet<string> = new Set(['bert-bge', 'bert-bge-large', 'jina-v2-en'])

/** What is missing here, by the kind of table. */
export function missingFrom(ggufPy: string, conversion?: string): Record<string, string[]> {
  const source = readFileSync(join(ggufPy, 'constants.py'), 'utf8')
  return {
    keys: missingKeys(source),
    tensors: missingTensors(source),
    architectures: missingArchitectures(source),
    types: missingNumbers(source, 'GGMLQuantizationType', 'GGUFSCOPE_TYPE'),
    'file types': missingNumbers(source, 'LlamaFileType', 'GGUFSCOPE_FILE_TYPE'),
    projectors: missingProjectors(source),
    'pre-tokenizers': conversion === undefined ? [] : missingPreTokenizers(conversion),
  }
}

if (import.meta.main) {
  const [, , ggufPy, conversion] = process.argv
  if (ggufPy === undefined) {
    console.error('node scripts/compare-gguf-py.ts GGUF_PY [CONVERSION]')
    process.exit(2)
  }
  const rows = Object.entries(missingFrom(ggufPy, conversion)).filter(([, names]) => names.length > 0)
  for (const [table, names] of rows) console.log(`${table} that are missing here: ${names.join(', ')}`)
  if (rows.length > 0) process.exitCode = 1
}
