// Compares a tokenizer.json with a file's vocabulary.
import { GgufError } from '../api/errors.js'
import type { Tokenizer, TokenizerComparison, TokenizerDifference } from '../api/text.js'

const kMaxDifferences = 100

interface AddedToken {
  id?: unknown
  content?: unknown
  special?: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Compares a tokenizer.json with the file's own vocabulary, id by id. Only the texts of tokens are compared:
 * the rules that split and merge texts are written too differently.
 * https://huggingface.co/docs/tokenizers/api/tokenizer
 */
export function compareTokenizer(json: string, tokenizer: Tokenizer, offset: number): TokenizerComparison {
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch (cause) {
    throw new GgufError('json', 'tokenizer.huggingface.json is no JSON.', { offset, cause })
  }
  const model = isObject(parsed) ? parsed['model'] : undefined
  const texts = isObject(model) ? textsOf(model['vocab']) : undefined
  if (!isObject(parsed) || !isObject(model) || !texts)
    throw new GgufError('unsupported', 'tokenizer.huggingface.json has no model.vocab.', { offset })
  const added = Array.isArray(parsed['added_tokens']) ? (parsed['added_tokens'] as AddedToken[]) : []
  for (const token of added)
    if (isObject(token) && Number.isSafeInteger(token.id) && typeof token.content === 'string')
      texts.set(token.id as number, token.content)

  const differences: TokenizerDifference[] = []
  let different = 0
  const differ = (id: number, ours: string | undefined, theirs: string | undefined) => {
    if (different++ < kMaxDifferences) differences.push({ id, ours, theirs })
  }
  for (const [id, theirs] of texts) {
    const ours = tokenizer.tokens.at(id)?.text
    if (ours !== theirs) differ(id, ours, theirs)
  }
  let padding = 0
  for (let id = 0; id < tokenizer.size; id++) {
    if (texts.has(id)) continue
    const { type, text } = tokenizer.tokens.at(id)!
    // Converters pad the vocabulary to the rows of the embeddings.
    if (type === 'unused') padding++
    else differ(id, text, undefined)
  }
  const { type, merges } = model
  return {
    model: typeof type === 'string' ? type : 'unknown',
    size: texts.size,
    addedTokens: added.length,
    merges: Array.isArray(merges) ? merges.length : 0,
    padding,
    different,
    differences,
  }
}

/** model.vocab: text to id (BPE, WordPiece), or a list of [text, score] (Unigram). */
function textsOf(vocab: unknown): Map<number, string> | undefined {
  const texts = new Map<number, string>()
  if (Array.isArray(vocab)) {
    for (const [id, entry] of vocab.entries())
      if (Array.isArray(entry) && typeof entry[0] === 'string') texts.set(id, entry[0])
    return texts
  }
  if (!isObject(vocab)) return undefined
  for (const [text, id] of Object.entries(vocab)) if (Number.isSafeInteger(id)) texts.set(id as number, text)
  return texts
}
