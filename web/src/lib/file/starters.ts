// Small public models on Hugging Face to begin with.
import type { Plain } from '../../texts/text.ts'

/** A page of any computer can run them. */
export const starters: readonly { address: string; name: string; what: Plain; megabytes: number }[] = [
  {
    address: 'bartowski/SmolLM2-135M-Instruct-GGUF:Q4_K_M',
    name: 'SmolLM2 135M',
    what: 'answers messages',
    megabytes: 105,
  },
  {
    address: 'ggml-org/SmolVLM-256M-Instruct-GGUF:Q8_0',
    name: 'SmolVLM 256M',
    what: 'describes pictures',
    megabytes: 175,
  },
  {
    address: 'nomic-ai/nomic-embed-text-v1.5-GGUF:Q4_K_M',
    name: 'Nomic Embed 1.5',
    what: 'compares texts',
    megabytes: 84,
  },
]
