// The inputs and results of rerankers.
import type { GgufFile } from '../api/file.js'
import type { RankedDocument } from './types.js'

/**
 * The input of a reranker: rendered with the file's template, or both texts joined with the tokens that it was
 * trained with.
 */
export function pairTokens(file: GgufFile, query: string, document: string): number[] {
  const tokenizer = file.tokenizer()
  const template = file.metadata.get('tokenizer.chat_template.rerank')
  if (typeof template === 'string') {
    const texts: Record<string, string> = { query, document }
    const prompt = template.replace(/\{(query|document)\}/g, (_, name: string) => texts[name]!)
    return tokenizer.encode(prompt, { special: true })
  }
  const { bos, eos, sep } = tokenizer.special
  const pieces = tokenizer.kind === 'wordpiece'
  const some = (adds: boolean, id: number | undefined): number[] => (adds && id !== undefined ? [id] : [])
  return [
    ...some(tokenizer.addsBos || pieces, bos),
    ...tokenizer.encode(query),
    ...some(tokenizer.addsEos, eos ?? sep),
    ...some(tokenizer.addsSep || pieces, sep),
    ...tokenizer.encode(document),
    ...(pieces ? some(true, sep) : some(tokenizer.addsEos, eos ?? sep)),
  ]
}

/** The documents by their scores, best first. */
export function rankedDocuments(scores: readonly Float32Array[], topN: number | undefined): RankedDocument[] {
  const ranked = scores.map(([score], index) => ({ index, score: score! }))
  return ranked.sort((a, b) => b.score - a.score).slice(0, topN)
}
