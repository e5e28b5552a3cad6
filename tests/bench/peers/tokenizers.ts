// Converts a vocabulary to the formats that the other tokenizers of the benchmark load.
import type { GgufFile } from 'ggufscope'
import type { Model } from '../../fixtures/gguf.ts'

/** The words after "! <first id>" of a tiktoken rank file are tokens in base64, in order of id. */
export function ranksOf(text: string): Uint8Array[] {
  const tokens: Uint8Array[] = []
  for (const line of text.split('\n')) {
    const [, first, ...words] = line.split(' ')
    words.forEach((word, i) => (tokens[Number(first) + i] = Buffer.from(word, 'base64')))
  }
  return tokens
}

// GPT-2's printable bytes.
const kPrintable = (() => {
  const printable: string[] = []
  for (let byte = 0, next = 256; byte < 256; byte++) {
    const itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    printable.push(String.fromCharCode(itself ? byte : next++))
  }
  return printable
})()

export const printable = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => kPrintable[byte]!).join('')

/** Every pair of tokens whose concatenation is a token, in the order of the resulting tokens. */
export function mergesOf(tokens: readonly string[]): [string, string][] {
  const known = new Set(tokens)
  return tokens.flatMap((token) => {
    const pairs: [string, string][] = []
    for (let at = 1; at < token.length; at++) {
      const [left, right] = [token.slice(0, at), token.slice(at)]
      if (known.has(left) && known.has(right)) pairs.push([left, right])
    }
    return pairs
  })
}

export function bpeModel(tokens: readonly string[], merges: readonly [string, string][], pre: string): Model {
  return {
    metadata: [
      ['general.architecture', { type: 'string', value: 'llama' }],
      ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
      ['tokenizer.ggml.pre', { type: 'string', value: pre }],
      ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: [...tokens] }],
      ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', value: tokens.map(() => 1) }],
      ['tokenizer.ggml.merges', { type: 'array', of: 'string', value: merges.map((pair) => pair.join(' ')) }],
      ['tokenizer.ggml.bos_token_id', { type: 'u32', value: 0 }],
    ],
  }
}

/** tokenizer.json of @huggingface/tokenizers. */
export function bpeJson(
  tokens: readonly string[],
  merges: readonly [string, string][],
  pattern: string,
): object {
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
      ignore_merges: true,
      byte_fallback: false,
    },
  }
}

/**
 * Converts SentencePiece to BPE with byte fallback like Hugging Face: merges are sorted by the score of their result.
 */
export function spmJson(file: GgufFile): object {
  const tokens = file.tokenizer().tokens.slice()
  const normal = tokens.filter(({ type }) => type === 'normal')
  const scores = new Map(normal.map(({ text, score }) => [text, score]))
  const merges = mergesOf(normal.map(({ text }) => text))
  merges.sort((a, b) => scores.get(b[0] + b[1])! - scores.get(a[0] + a[1])!)
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: '\u2581' },
        { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
      ],
    },
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(tokens.map(({ text, id }) => [text, id])),
      merges,
      unk_token: '<unk>',
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
    },
  }
}

export function wordPieceJson(file: GgufFile): object {
  const vocab = file
    .tokenizer()
    .tokens.slice()
    .map(({ text, id, type }) => {
      if (type === 'control' || type === 'unknown' || type === 'unused' || /^\[.*\]$/.test(text))
        return [text, id]
      return [text.startsWith('\u2581') ? text.slice(1) : `##${text}`, id]
    })
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocab),
    },
  }
}
