// Makes the README's table of figures from the stored results of the benchmarks (web/docs/performance/results), so that
// the README says what was measured: node scripts/make-readme-table.ts. A test compares the two.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readResults, type ResultName, type ResultRow } from '../tests/bench/common/results.ts'

const kRoot = join(import.meta.dirname, '..')
const kReadme = join(kRoot, 'README.md')
const kBegin = '<!-- Made by scripts/make-readme-table.ts. -->\n'
const kEnd = '<!-- The end of what it makes. -->\n'

type Cells = readonly [what: string, ours: string, peer: string, ratio: string]

function rowOf(name: ResultName, isCase: (name: string) => boolean, contender: string): ResultRow {
  const row = readResults(name).rows.find((row) => isCase(row.case) && row.contender === contender)
  if (!row) throw new Error(`The results of ${name} have no such row of ${contender}.`)
  return row
}
const figure = (row: ResultRow, name: string): number => {
  const value = row[name]
  if (typeof value !== 'number') throw new Error(`${row.contender}, ${row.case}: no ${name}`)
  return value
}
const times = (ratio: number): string => `${ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0)}x`
const seconds = (ms: number): string => `${ms < 10_000 ? (ms / 1000).toFixed(1) : (ms / 1000).toFixed(0)} s`
const whole = (rate: number): string => (rate < 10 ? rate.toFixed(1) : rate.toFixed(0))
const versionOf = (name: ResultName, contender: string): string => readResults(name).versions[contender] ?? ''

function preview(): Cells[] {
  const large = (contender: string) => rowOf('unseen', (name) => name === '4 MB and more', contender)
  const [ours, peer] = [large('ggufscope, auto'), large('@huggingface/gguf')]
  const hugging = `@huggingface/gguf ${versionOf('unseen', '@huggingface/gguf')}`
  const link = (name: string) => name.startsWith('50 ms, 6.25 MB/s; bpe-128k')
  const [read, theirs] = [
    rowOf('preview', link, 'ggufscope, full'),
    rowOf('preview', link, '@huggingface/gguf'),
  ]
  const megabytes = /([\d.]+) MB$/.exec(read.case)?.[1]
  return [
    [
      `Preview: ${figure(ours, 'headers')} unseen headers of 4 MB and more, 50 ms and 6.25 MB/s away, medians [1]`,
      `${figure(ours, 'ms').toFixed(0)} ms, ${(figure(ours, 'bytes') / 1e6).toFixed(2)} MB`,
      `${figure(peer, 'ms').toFixed(0)} ms (${hugging})`,
      times(figure(peer, 'ms') / figure(ours, 'ms')),
    ],
    [
      `Read a header whole: ${Number(megabytes).toFixed(1)} MB, the same distance`,
      `${figure(read, 'ms').toFixed(0)} ms (the network's floor: ${figure(read, 'floor').toFixed(0)})`,
      `${figure(theirs, 'ms').toFixed(0)} ms (${hugging})`,
      times(figure(theirs, 'ms') / figure(read, 'ms')),
    ],
  ]
}

function tokens(): Cells {
  const bpe = (name: string) => name.startsWith('byte-level BPE like Llama 3')
  const rate = (contender: string) => figure(rowOf('tokenize', bpe, contender), 'English')
  const [ours, peer] = [rate('ggufscope'), rate('gpt-tokenizer (JavaScript)')]
  return [
    'Count tokens: byte-level BPE, unseen English',
    `${ours.toFixed(1)} MB/s`,
    `${peer.toFixed(1)} MB/s (gpt-tokenizer ${versionOf('tokenize', 'gpt-tokenizer')})`,
    times(ours / peer),
  ]
}

/** The rates of prompts and generation of two contenders in one case. */
function rates(
  what: string,
  name: ResultName,
  caseName: string,
  peers: readonly string[],
  note: string,
): Cells {
  const ours = rowOf(name, (one) => one === caseName, 'ggufscope')
  const peer = (kind: string) =>
    Math.max(
      ...peers.map((one) =>
        figure(
          rowOf(name, (other) => other === caseName, one),
          kind,
        ),
      ),
    )
  const ratio = (kind: string) => times(figure(ours, kind) / peer(kind))
  return [
    what,
    `${whole(figure(ours, 'prompt'))} / ${whole(figure(ours, 'generation'))} tokens/s`,
    `${whole(peer('prompt'))} / ${whole(peer('generation'))} (${note})`,
    `${ratio('prompt')} / ${ratio('generation')}`,
  ]
}

/** The cases in which the product of both ratios is largest and smallest. */
function extremes(name: ResultName, peers: readonly string[]): { best: string; least: string } {
  const score = (caseName: string) => {
    const ours = rowOf(name, (one) => one === caseName, 'ggufscope')
    const of = (kind: string) =>
      figure(ours, kind) /
      Math.max(
        ...peers.map((peer) =>
          figure(
            rowOf(name, (one) => one === caseName, peer),
            kind,
          ),
        ),
      )
    return of('prompt') * of('generation')
  }
  const cases = [...new Set(readResults(name).rows.map((row) => row.case))].toSorted(
    (a, b) => score(a) - score(b),
  )
  return { best: cases.at(-1)!, least: cases[0]! }
}

function run(): Cells[] {
  const names = new Set(readResults('engine').rows.map(({ contender }) => contender))
  const wllama = [...names].filter((name) => name.startsWith('wllama'))
  const native = ['llama.cpp']
  const short = (name: string) => name.replace(/, 128 tokens$/, '')
  const row = (where: string, name: ResultName, peers: readonly string[], note: string): Cells[] => {
    const { best, least } = extremes(name, peers)
    return [
      rates(`Run ${where}: ${short(best)}, prompt / generation`, name, best, peers, note),
      rates(`The least favourable case measured: ${short(least)}`, name, least, peers, 'the same'),
    ]
  }
  return [
    ...row('in Chromium', 'engine', wllama, `the faster of ${wllama.join(' and ')}, on the CPU`),
    ...row('in Node', 'native', native, `native llama.cpp, ${versionOf('native', 'llama.cpp')}`),
  ]
}

function media(): Cells[] {
  const two = (name: string) => name === 'Q8_0, 2 threads'
  const speech = (contender: string) => figure(rowOf('speech', two, contender), 'window')
  const image = (contender: string) => figure(rowOf('image', two, contender), 'firstToken')
  const web = `@remotion/whisper-web ${versionOf('speech', '@remotion/whisper-web')}: whisper.cpp as wasm`
  return [
    [
      'Transcribe: Whisper base, Q8_0, 30 s of audio, 2 threads, in Chromium',
      seconds(speech('ggufscope')),
      `${seconds(speech('@remotion/whisper-web'))} (${web})`,
      times(speech('@remotion/whisper-web') / speech('ggufscope')),
    ],
    [
      'Describe an image: SmolVLM-256M, Q8_0, 5 tiles to the first token, 2 threads [2]',
      seconds(image('ggufscope')),
      `${seconds(image('wllama 3.13.0'))} (wllama 3.13.0, on the CPU, without SIMD kernels)`,
      times(image('wllama 3.13.0') / image('ggufscope')),
    ],
  ]
}

function agreement(): Cells[] {
  const of = (name: string) => rowOf('agreement', (one) => one === name, 'ggufscope')
  const [logits, text] = [of('logits'), of('text')]
  const types = readdirSync(join(kRoot, 'tests/fixtures/golden/quant'))
  const exact = types.filter((name) => name.endsWith('.expected.f32')).length
  const quantizers = types.filter((name) => name.endsWith('.quantized.bin')).length
  const budget = /kBudget = ([\d_]+)/
    .exec(readFileSync(join(kRoot, 'scripts/check-package.ts'), 'utf8'))![1]!
    .replace('_', '')
  const counted = (row: ResultRow) => `${figure(row, 'agree')} of ${figure(row, 'models')}`
  return [
    ['Inspect tensors: every ggml type as floats', `${exact} types bit-identical to ggml`, '', ''],
    ["Quantize: ggml's quantizers", `${quantizers} byte-identical`, '', ''],
    [
      'Agree with llama.cpp: reference models',
      `logits ${counted(logits)}, the same text ${counted(text)}`,
      '',
      '',
    ],
    ['Load: what `open()` needs', `at most ${Number(budget) / 1000} KB gzipped`, '', ''],
  ]
}

/** The table, in Markdown. */
export function readmeTable(): string {
  const rows = [...preview(), tokens(), ...run(), ...media(), ...agreement()]
  return [
    '| | ggufscope | peer | |',
    '| --- | --: | --: | --: |',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ]
    .join('\n')
    .replaceAll('|  |', '| |')
    .replaceAll('|  |', '| |')
}

/** What the README has in the place of the table. */
export function tableInReadme(readme = readFileSync(kReadme, 'utf8')): string {
  const [, table] = readme.split(kBegin)
  if (table === undefined || !table.includes(kEnd))
    throw new Error(`The README lacks the line ${kBegin}or ${kEnd}`)
  return table.split(kEnd)[0]!.trim() + '\n'
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const readme = readFileSync(kReadme, 'utf8')
  writeFileSync(
    kReadme,
    readme.replace(tableInReadme(readme), () => readmeTable()),
  )
}
