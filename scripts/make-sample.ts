// node scripts/make-sample.ts OUT.gguf: the viewer's built-in sample. Small and real-looking: a byte-level tokenizer
// learned from the text below, a chat template, tensors of many quantization types. Random weights, always the same bytes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { kTypes, tensorBytes, writeGguf } from '../tests/fixtures/gguf.ts'
import type { Tensor } from '../tests/fixtures/gguf.ts'
import { array, f32, kChatTemplate, text, u32 } from '../tests/fixtures/models.ts'
import { randomNumbers } from '../tests/server/faults.ts'

const kText = `Once upon a time there was a little lighthouse at the end of the world. Every evening the keeper climbed the
stairs, lit the lamp and watched the ships go by. The ships carried grain and letters and songs, and the people on the
ships waved to the keeper, and the keeper waved back. One night a great storm came. The wind was strong, the waves were
high and the lamp went out. "What shall I do?" said the keeper. "The ships cannot see the rocks!" Then a small bird came
through the window. "I will fly to the sun and bring you a little light," said the bird. The keeper smiled. The bird was
small, but the bird was brave. It flew over the sea and over the mountains, and before the morning came it was back, and
the lamp was bright again. All the ships came home. From that day on the keeper and the bird were friends, and every
evening they watched the ships together. The model reads a file, the file has a header, the header has a list of keys and
a list of tensors, and each tensor has a name, a shape, a type and an offset. There are 10 types with 4 bits, 7 with 2.\n`

const kWidth = 256
const kFeedForward = 256
const kBlocks = 2
const kMerges = 400
const random = randomNumbers(20260101)

/** About normal, variance 1. */
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

// The printable stand-ins that byte-level tokenizers use for the 256 bytes.
const kByteLetters = (() => {
  const printable = (b: number) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174
  let next = 256
  return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(printable(b) ? b : next++))
})()

function learnMerges(source: string, count: number): [string, string][] {
  const words = (source.match(/ ?[a-z]+| ?\d+| ?[^\sa-z\d]+|\s+/gi) ?? []).map((word) =>
    [...new TextEncoder().encode(word)].map((b) => kByteLetters[b]!),
  )
  const merges: [string, string][] = []
  while (merges.length < count) {
    const counts = new Map<string, number>()
    for (const word of words) {
      for (let i = 1; i < word.length; i++) {
        const pair = `${word[i - 1]} ${word[i]}`
        counts.set(pair, (counts.get(pair) ?? 0) + 1)
      }
    }
    const best = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]
    if (!best) break
    const [left, right] = best[0].split(' ') as [string, string]
    merges.push([left, right])
    for (const word of words) {
      for (let i = 1; i < word.length; i++) {
        if (word[i - 1] === left && word[i] === right) word.splice(i - 1, 2, left + right)
      }
    }
  }
  return merges
}

/** A power of two as float16. */
const half = (exponent: number) => (exponent + 15) << 10

/** A rounded normal number of so many bits, around the middle. */
const level = (bits: number) => {
  const middle = 2 ** (bits - 1)
  return Math.max(0, Math.min(2 * middle - 1, Math.round(middle + 0.31 * middle * normal())))
}
const nibbles = () => level(4) | (level(4) << 4)
const fill = (block: DataView, from: number, to: number, next: () => number) => {
  for (let i = from; i < to; i++) block.setUint8(i, next())
}

// Per type: one block whose values have a standard deviation of about 2^-5.
const fills: Record<string, (block: DataView) => void> = {
  F32: (b) => b.setFloat32(0, 1 + normal() / 32, true),
  F16: (b) =>
    b.setUint16(
      0,
      (random() < 0.5 ? 0x8000 : 0) | half(-5 - Math.floor(3 * random())) | (random() * 1024),
      true,
    ),
  BF16: (b) => {
    const f32Bytes = new DataView(new ArrayBuffer(4))
    f32Bytes.setFloat32(0, normal() / 32)
    b.setUint16(0, f32Bytes.getUint16(0), true)
  },
  Q8_0: (b) => {
    b.setUint16(0, half(-10), true)
    fill(b, 2, 34, () => (level(8) - 128) & 255)
  },
  Q4_0: (b) => {
    b.setUint16(0, half(-6), true)
    fill(b, 2, 18, nibbles)
  },
  IQ4_NL: (b) => {
    b.setUint16(0, half(-10), true)
    fill(b, 2, 18, nibbles)
  },
  MXFP4: (b) => {
    b.setUint8(0, 127 - 6)
    fill(b, 1, 17, () => random() * 256)
  },
  Q2_K: (b) => {
    // d * (8 q - 12), q in 0..3
    fill(b, 0, 16, () => 0xc8)
    fill(b, 16, 80, () => random() * 256)
    b.setUint16(80, half(-8), true)
    b.setUint16(82, half(-8), true)
  },
  Q4_K: (b) => {
    // d * 32 * (q - 8): six-bit scales and minima of 32, packed in 12 bytes
    b.setUint16(0, half(-11), true)
    b.setUint16(2, half(-8), true)
    fill(b, 4, 12, () => 0xa0)
    fill(b, 16, 144, nibbles)
  },
  Q5_K: (b) => {
    b.setUint16(0, half(-12), true)
    b.setUint16(2, half(-8), true)
    fill(b, 4, 12, () => 0xa0)
    for (let i = 0; i < 256; i++) {
      const q = level(5)
      const [group, l] = [i >> 5, i & 31]
      const low = 48 + 32 * (group >> 1) + l
      b.setUint8(16 + l, b.getUint8(16 + l) | ((q >> 4) << group))
      b.setUint8(low, b.getUint8(low) | ((q & 15) << (4 * (group & 1))))
    }
  },
  Q6_K: (b) => {
    // d * 8 * (q - 32)
    for (let i = 0; i < 256; i++) {
      const q = level(6)
      const [part, quarter, l] = [i >> 7, (i >> 5) & 3, i & 31]
      const low = 64 * part + 32 * (quarter & 1) + l
      const high = 128 + 32 * part + l
      b.setUint8(low, b.getUint8(low) | ((q & 15) << (4 * (quarter >> 1))))
      b.setUint8(high, b.getUint8(high) | ((q >> 4) << (2 * quarter)))
    }
    fill(b, 192, 208, () => 8)
    b.setUint16(208, half(-11), true)
  },
  IQ4_XS: (b) => {
    b.setUint16(0, half(-14), true)
    b.setUint16(2, 0xffff, true)
    fill(b, 8, 136, nibbles)
  },
  TQ2_0: (b) => {
    fill(b, 0, 64, () => [0, 1, 2].reduce((bits, _, i) => bits | (Math.floor(3 * random()) << (2 * i)), 0))
    b.setUint16(64, half(-5), true)
  },
}

function tensor(name: string, shape: number[], type: string): Tensor {
  const blockBytes = kTypes[type]![2]
  const data = new Uint8Array(tensorBytes({ name, shape, type }))
  for (let at = 0; at < data.length; at += blockBytes) fills[type]!(new DataView(data.buffer, at, blockBytes))
  return { name, shape, type, data }
}

const merges = learnMerges(kText, kMerges)
const special = ['<|begin|>', '<|end|>', '<|user|>', '<|assistant|>', '<|system|>']
const tokens = [...kByteLetters, ...merges.map(([left, right]) => left + right), ...special]
const blockTypes = ['Q4_K Q8_0 Q8_0 Q5_K Q4_K Q4_0 Q6_K', 'Q2_K IQ4_NL F16 MXFP4 IQ4_XS TQ2_0 BF16'].map(
  (s) => s.split(' '),
)
const bytes = writeGguf({
  metadata: [
    ['general.architecture', text('llama')],
    ['general.type', text('model')],
    ['general.name', text('Lighthouse sample')],
    [
      'general.description',
      text('A file to look at: a real tokenizer, random weights, many quantization types.'),
    ],
    ['general.license', text('mit')],
    ['general.tags', array('string', ['sample', 'random-weights', 'text-generation'])],
    ['general.languages', array('string', ['en'])],
    ['general.file_type', u32(15)],
    ['general.quantization_version', u32(2)],
    ['llama.block_count', u32(kBlocks)],
    ['llama.context_length', u32(512)],
    ['llama.embedding_length', u32(kWidth)],
    ['llama.feed_forward_length', u32(kFeedForward)],
    ['llama.attention.head_count', u32(4)],
    ['llama.attention.head_count_kv', u32(2)],
    ['llama.attention.layer_norm_rms_epsilon', f32(1e-5)],
    ['llama.rope.dimension_count', u32(64)],
    ['llama.rope.freq_base', f32(10_000)],
    ['llama.vocab_size', u32(tokens.length)],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text('gpt-2')],
    ['tokenizer.ggml.tokens', array('string', tokens)],
    [
      'tokenizer.ggml.token_type',
      array(
        'i32',
        tokens.map((token) => (special.includes(token) ? 3 : 1)),
      ),
    ],
    [
      'tokenizer.ggml.merges',
      array(
        'string',
        merges.map((pair) => pair.join(' ')),
      ),
    ],
    ['tokenizer.ggml.bos_token_id', u32(tokens.indexOf('<|begin|>'))],
    ['tokenizer.ggml.eos_token_id', u32(tokens.indexOf('<|end|>'))],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.chat_template', text(kChatTemplate)],
  ],
  tensors: [
    tensor('token_embd.weight', [kWidth, tokens.length], 'Q8_0'),
    tensor('output_norm.weight', [kWidth], 'F32'),
    tensor('output.weight', [kWidth, tokens.length], 'Q6_K'),
    ...blockTypes.flatMap((types, block) => [
      tensor(`blk.${block}.attn_norm.weight`, [kWidth], 'F32'),
      ...['q', 'k', 'v', 'output'].map((kind, i) =>
        tensor(
          `blk.${block}.attn_${kind}.weight`,
          [kWidth, kind === 'k' || kind === 'v' ? kWidth / 2 : kWidth],
          types[i]!,
        ),
      ),
      tensor(`blk.${block}.ffn_norm.weight`, [kWidth], 'F32'),
      tensor(`blk.${block}.ffn_gate.weight`, [kWidth, kFeedForward], types[4]!),
      tensor(`blk.${block}.ffn_up.weight`, [kWidth, kFeedForward], types[5]!),
      tensor(`blk.${block}.ffn_down.weight`, [kFeedForward, kWidth], types[6]!),
    ]),
  ],
})
const out = process.argv[2]
if (!out) throw new Error('usage: node scripts/make-sample.ts OUT.gguf')
mkdirSync(dirname(out), { recursive: true })
writeFileSync(out, bytes)
