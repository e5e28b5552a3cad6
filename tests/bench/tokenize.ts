// Measures the rate of tokenizing, the time until a tokenizer is ready, and its memory: ggufscope against the pure
// JavaScript of @huggingface/tokenizers and gpt-tokenizer and the wasm of tiktoken, on the same vocabularies. English and
// code come from the installed packages, Chinese is generated. Every run has a new text, because some tokenizers cache
// words; the best run counts. The ids of all are compared. The SPM and WordPiece vocabularies are those of ../shared;
// without it they are left out. --save stores the figures for the README.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers'
import { GptEncoding } from 'gpt-tokenizer/GptEncoding'
import { open } from 'ggufscope/node'
import { Tiktoken } from 'tiktoken'
import cl100k from 'tiktoken/encoders/cl100k_base.json' with { type: 'json' }
import { writeHeader } from '../fixtures/gguf.ts'
import { pinnedVersions, saveResults, type ResultRow } from './common/results.ts'
import {
  bpeJson,
  bpeModel,
  mergesOf,
  printable,
  ranksOf,
  spmJson,
  wordPieceJson,
} from './peers/tokenizers.ts'

const kRuns = 6
const kBytes = 250_000 * kRuns
const kCompared = 200_000 // characters whose ids are compared
const kRoot = join(import.meta.dirname, '../..')
const kShared = process.env['GGUFSCOPE_SHARED'] ?? join(kRoot, '../shared')
const kQwen2 =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/** Concatenates the packages' files with that ending. */
function assemble(ending: RegExp): string {
  let text = ''
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (text.length >= kBytes) return
      const path = join(folder, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (ending.test(entry.name) && !entry.name.includes('.min.')) {
        const content = readFileSync(path, 'utf8')
        // Takes files that are mostly ASCII and have lines of usual length.
        if (content.length < 60_000 && content.length / (content.split('\n').length + 1) < 120)
          text += content
      }
    }
  }
  visit(join(kRoot, 'node_modules'))
  return text.slice(0, kBytes)
}

const kChinese =
  '我们 今天 可以 使用 这个 模型 来 处理 文本 数据 中国 人工智能 技术 发展 很快 语言 学习 时间 问题 世界 因为 所以 但是 如果 然后 已经 没有 什么 他们 大家 工作 生活 城市 学校 老师 学生 经济 社会 文化 历史 研究 方法 结果 系统 网络 计算机 程序 的 了 在 是 和 与 对 从 到 很 也 都 就 还 要 会 能 说 看 想 做'.split(
    ' ',
  )
function chinese(): string {
  let text = ''
  for (let i = 1, seed = 7; Buffer.byteLength(text) < kBytes && i < 200_000; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    text += kChinese[(seed >>> 8) % kChinese.length]
    if (i % 11 === 0) text += i % 33 === 0 ? '。\n' : '，'
    if (i % 5000 === 0 && Buffer.byteLength(text) >= kBytes) break
  }
  return text.slice(0, Math.floor(kBytes / 3))
}

type Encode = (text: string) => ArrayLike<number>
interface Contender {
  name: string
  /** Prepares the tokenizer from the file's bytes or its own format. */
  ready: () => Promise<Encode> | Encode
}

const saved: ResultRow[] = []
async function compare(title: string, contenders: Contender[], texts: [string, string][]): Promise<void> {
  console.log(`\n### ${title}\n`)
  const columns = texts.map(([name]) => `${name}, MB/s`)
  console.log(`| tokenizer | ready, ms | memory, MB | ${columns.join(' | ')} | same ids |`)
  console.log(`|---|---:|---:|${columns.map(() => '---:').join('|')}|---|`)
  let reference: ArrayLike<number>[] | undefined
  for (const { name, ready } of contenders) {
    globalThis.gc?.()
    const memory = process.memoryUsage()
    const start = performance.now()
    const encode = await ready()
    encode('Ready?')
    const milliseconds = performance.now() - start
    globalThis.gc?.()
    const now = process.memoryUsage()
    const megabytes = (now.heapUsed + now.external - memory.heapUsed - memory.external) / 1e6
    const speeds = texts.map(([, text]) => {
      let best = 0
      for (let run = 0, length = Math.floor(text.length / kRuns); run < kRuns; run++) {
        const part = text.slice(run * length, (run + 1) * length)
        const begin = performance.now()
        encode(part)
        best = Math.max(best, Buffer.byteLength(part) / 1e3 / (performance.now() - begin))
      }
      return best
    })
    const rates = Object.fromEntries(texts.map(([text], i) => [text, speeds[i]!]))
    saved.push({ case: title, contender: name, ...rates })
    // Runs after the timing, because some tokenizers cache texts.
    const ids = texts.map(([, text]) => encode(text.slice(0, kCompared)))
    reference ??= ids
    const same = ids.map((list, i) => {
      const other = reference![i]!
      let equal = 0
      while (equal < list.length && list[equal] === other[equal]) equal++
      return equal === list.length && list.length === other.length
    })
    const sameText = same.every((all) => all)
      ? 'yes'
      : texts.flatMap(([text], i) => (same[i] ? [] : [`not ${text}`])).join(', ')
    console.log(
      `| ${name} | ${milliseconds.toFixed(0)} | ${megabytes.toFixed(0)} | ${speeds.map((speed) => speed.toFixed(2)).join(' | ')} | ${sameText} |`,
    )
  }
}

/** ggufscope on a file in memory. The time for the header is reported separately. */
async function ours(bytes: Uint8Array): Promise<Contender> {
  const file = await open(bytes)
  return {
    name: 'ggufscope',
    ready: () => {
      const t = file.tokenizer()
      return (text) => t.encode(text)
    },
  }
}

const hf = (json: () => object): Contender => ({
  name: '@huggingface/tokenizers (JavaScript)',
  ready: () => {
    const tokenizer = new HfTokenizer(json(), {})
    return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids
  },
})

const texts: [string, string][] = [
  ['English', assemble(/\.md$/)],
  ['code', assemble(/\.(js|ts|mjs)$/)],
  ['Chinese', chinese()],
]

const ranks = ranksOf(cl100k.bpe_ranks)
const tokens = ranks.map(printable)
const merges = mergesOf(tokens)
const json = new Map([cl100k.pat_str, kQwen2].map((pattern) => [pattern, bpeJson(tokens, merges, pattern)]))
const decoded = ranks.map((token) => {
  const text = Buffer.from(token).toString()
  return Buffer.compare(Buffer.from(text), token) === 0 ? text : Array.from(token)
})
const tiktoken = (pattern: string): Contender => ({
  name: 'tiktoken (wasm)',
  ready: () => {
    const encoding = new Tiktoken(cl100k.bpe_ranks, {}, pattern)
    return (text) => encoding.encode_ordinary(text)
  },
})
// Warms up, because the first wasm module takes longer to start.
await (await ours(writeHeader(bpeModel(tokens.slice(0, 300), [], 'llama-bpe')).header)).ready()

await compare(
  `byte-level BPE like Llama 3 (cl100k, ${tokens.length} tokens, ${merges.length} merges)`,
  [
    await ours(writeHeader(bpeModel(tokens, merges, 'llama-bpe')).header),
    hf(() => json.get(cl100k.pat_str)!),
    {
      name: 'gpt-tokenizer (JavaScript)',
      ready: () => {
        const encoding = GptEncoding.getEncodingApi('cl100k_base', () => decoded)
        return (text) => encoding.encode(text, { disallowedSpecial: new Set() })
      },
    },
    tiktoken(cl100k.pat_str),
  ],
  texts,
)
await compare(
  'byte-level BPE like Qwen 2 (the same tokens, numbers digit by digit)',
  [
    await ours(writeHeader(bpeModel(tokens, merges, 'qwen2')).header),
    hf(() => json.get(kQwen2)!),
    tiktoken(kQwen2),
  ],
  texts,
)
for (const [title, name, convert] of [
  ['SentencePiece BPE (Llama 2, 32,000 tokens)', 'ggml-vocab-llama-spm', spmJson],
  ['WordPiece (BERT, 30,522 tokens)', 'ggml-vocab-bert-bge', wordPieceJson],
] as const) {
  const path = join(kShared, `data/vocab/${name}.gguf`)
  if (!existsSync(path)) {
    console.log(`\n### ${title}: left out, there is no ${path}`)
    continue
  }
  const bytes = readFileSync(path)
  const converted = convert(await open(bytes))
  await compare(title, [await ours(bytes), hf(() => converted)], texts)
}

// 262,144 tokens, as many as a vocabulary of Gemma's has.
const many = [
  ...tokens,
  ...Array.from({ length: 262_144 - tokens.length }, (_, i) => `\u0120word${i.toString(36)}`),
]
const large = writeHeader(bpeModel(many, mergesOf(tokens), 'llama-bpe')).header
const setUps: { wall: number; cpu: number }[] = []
for (let run = 0; run < 2 * kRuns - 1; run++) {
  using file = await open(large)
  const [begin, before] = [performance.now(), process.cpuUsage()]
  const tokenizer = file.tokenizer()
  tokenizer.encode('Ready?')
  const { user, system } = process.cpuUsage(before)
  setUps.push({ wall: performance.now() - begin, cpu: (user + system) / 1000 })
  tokenizer.close()
}
setUps.sort((a, b) => a.cpu - b.cpu)
const { wall, cpu } = setUps[kRuns - 1]!
console.log(
  `\n262,144 tokens and ${merges.length} merges: ready ${wall.toFixed(0)} ms after the header, ${cpu.toFixed(0)} ms of CPU time`,
)
if (process.argv.includes('--save')) {
  saveResults('tokenize', pinnedVersions('@huggingface/tokenizers', 'gpt-tokenizer', 'tiktoken'), saved)
}
