import type { Source } from '../api/source.js'

/** A LoRA adapter or a control vector, and how much of it. */
export interface AdapterChoice {
  /** A GGUF file, whole: what open() takes. It is read once while any sequence of the model has it. */
  readonly source: Source
  /** Any finite number; 0 is the same as leaving it out. Default: 1. */
  readonly scale?: number | undefined
  /** Of a control vector: the first and the last layer that it changes, from 1. Default: all that it has. */
  readonly layers?: readonly [first: number, last: number] | undefined
}

/** What was found in an adapter. */
export interface AdapterInfo {
  readonly kind: 'lora' | 'control-vector'
  /** weights or layers that it changes */
  readonly targets: number
  /** names of its tensors that change nothing: of norms, tables of positions, convolutions, layers that the model lacks */
  readonly ignored: readonly string[]
  /** that it takes beside the model */
  readonly bytes: number
}

export interface SetAdaptersOptions {
  signal?: AbortSignal | undefined
}
