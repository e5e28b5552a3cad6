// The types of files that the panel Convert offers.
import type { Plain } from '../../texts/text'

/** llama.cpp's mixtures, from large to small. */
export const mixtures: readonly { title: Plain; names: readonly string[] }[] = [
  { title: 'Usual', names: ['Q8_0', 'Q6_K', 'Q5_K_M', 'Q4_K_M', 'Q4_K_S', 'IQ4_XS', 'Q3_K_M'] },
  { title: 'Floats', names: ['F32', 'F16', 'BF16'] },
  {
    title: 'Other',
    names: ['Q5_K_S', 'Q5_1', 'Q5_0', 'IQ4_NL', 'Q4_1', 'Q4_0', 'Q3_K_L', 'Q3_K_S', 'IQ3_M', 'IQ3_S', 'Q2_K'],
  },
  {
    title: 'With an importance matrix',
    names: ['IQ3_XS', 'IQ3_XXS', 'Q2_K_S', 'IQ2_M', 'IQ2_S', 'IQ2_XS', 'IQ2_XXS', 'IQ1_M', 'IQ1_S'],
  },
  { title: 'For special models', names: ['MXFP4_MOE', 'NVFP4', 'TQ2_0', 'TQ1_0', 'Q2_0', 'Q1_0'] },
]

export const kinds = [
  { id: 'quantize', title: 'Quantize' },
  { id: 'split', title: 'Split into several files' },
  { id: 'gguf', title: 'Write one GGUF file' },
  { id: 'adapter', title: 'Merge a LoRA adapter' },
  { id: 'extract', title: 'Extract tensors' },
] as const satisfies readonly { id: string; title: Plain }[]
export type Kind = (typeof kinds)[number]['id']
