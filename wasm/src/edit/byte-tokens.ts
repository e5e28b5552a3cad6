// Finds SentencePiece vocabularies that lack tokens of bytes, which llama.cpp needs for characters without a token.
import type { Finding } from '../api/findings.js'
import type { Metadata } from '../api/metadata.js'

const kTokens = 'tokenizer.ggml.tokens'

/** Bytes of texts in UTF-8. Spaces become another character before a text is cut, and 0 ends a text. */
const kBytes = Array.from({ length: 256 }, (_, byte) => byte).filter(
  (byte) => byte > 0 && byte !== 0x20 && byte < 0xf5 && byte !== 0xc0 && byte !== 0xc1,
)

const nameOf = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`

/** llama.cpp looks for a byte by this name, whatever the token's type is, and then for the byte as a token. */
export function lintByteTokens(metadata: Metadata): Finding[] {
  const tokens = metadata.get(kTokens)
  const kind = metadata.get('general.type')
  const isModel = kind === undefined || kind === 'model' || kind === 'vocab'
  if (metadata.get('tokenizer.ggml.model') !== 'llama' || !isModel || typeof tokens !== 'object') return []
  const known = new Set<unknown>(tokens)
  const lacking = kBytes.filter(
    (byte) => !known.has(nameOf(byte)) && !(byte < 0x80 && known.has(String.fromCharCode(byte))),
  )
  if (lacking.length === 0) return []
  return [
    {
      level: 'error',
      code: 'byte-tokens-missing',
      message: `the vocabulary lacks tokens of bytes (${lacking.length} of ${kBytes.length}), ${nameOf(lacking[0]!)} first: llama.cpp aborts at a text that needs one`,
      offset: metadata.offset(kTokens) ?? 0,
      shard: 0,
    },
  ]
}
