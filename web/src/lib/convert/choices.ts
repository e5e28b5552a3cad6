// The types of files that the panel Convert offers.
import type { GgufFile } from 'ggufscope'
import type { Plain } from '../../texts/text'
import type { Task } from './protocol'

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

/** What each kind is for; that of "Write one GGUF file" depends on the file. */
export const hints: Readonly<Record<Exclude<Kind, 'gguf'>, Plain>> = {
  quantize: 'Fewer bits for each weight: a smaller and faster model.',
  split: 'Parts that hubs accept, and that programs open as one model.',
  adapter: 'The weights with the changes of a LoRA adapter.',
  extract: 'The values of tensors, for PyTorch, MLX or NumPy.',
}

/** Whether values of this type were rounded to blocks. */
export const isQuantized = (type: string) => !/^(F|BF|I)\d+$/.test(type)

/** Files above this size are often split. */
const splitBytes = 2e9

const dataBytes = (file: GgufFile) => file.tensors.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** The limit of a file to begin with, in GB: one that makes two files of a small model. */
export const firstLimit = (file: GgufFile) =>
  Math.max(0.001, Number((Math.min(splitBytes, dataBytes(file) / 1.9) / 1e9).toPrecision(2)))

/** Whether the task makes one file with what the open file has already, in the same form. */
export function isCopy(file: GgufFile, task: Task | undefined, isEdited: boolean): boolean {
  if (isEdited || file.container !== 'gguf' || file.shards.length > 1) return false
  if (task?.kind !== 'gguf') return task?.kind === 'split'
  return task.version === file.version && task.endianness === file.endianness
}

/** The kind to begin with: one that makes another file than the open one, and needs nothing more. */
export function firstKind(file: GgufFile): Kind {
  if (file.container !== 'gguf' || file.shards.length > 1) return 'gguf'
  if (!file.summary().quantization.some(({ type }) => isQuantized(type))) return 'quantize'
  return dataBytes(file) > splitBytes ? 'split' : 'extract'
}
