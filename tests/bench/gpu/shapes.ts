// The shapes that are measured on a card.
import { kShapes, type LlamaShape } from '../../fixtures/synthetic.ts'

/** Those of Llama 3.2 1B and Llama 3.1 8B, and smaller ones. */
export const kCardShapes: readonly LlamaShape[] = [
  ...kShapes,
  { name: '1B', width: 2048, blocks: 16, heads: 32, kvHeads: 8, feedForward: 8192, vocabulary: 128_256 },
  { name: '8B', width: 4096, blocks: 32, heads: 32, kvHeads: 8, feedForward: 14_336, vocabulary: 128_256 },
]
