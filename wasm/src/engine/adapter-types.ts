// The public types of adapters.
import type { Source } from '../api/source.js'

/** A LoRA adapter or a control vector, with its scale. */
export interface AdapterChoice {
  /** A whole GGUF file, in any form that open() takes. It is read once while any sequence of the model uses it. */
  readonly source: Source
  /** What the file must be; another kind is refused. Default: either. */
  readonly kind?: 'lora' | 'control-vector' | undefined
  /** A finite number; 0 switches the adapter off. Default: 1. */
  readonly scale?: number | undefined
  /** For a control vector: the first and the last layer that it changes, counted from 1. Default: all its layers. */
  readonly layers?: readonly [first: number, last: number] | undefined
}

/** Facts of a loaded adapter. */
export interface AdapterInfo {
  readonly kind: 'lora' | 'control-vector'
  /** number of weights or layers that it changes */
  readonly targets: number
  /** names of its tensors without effect: for norms, position tables, convolutions, and layers that the model lacks */
  readonly ignored: readonly string[]
  /** memory of the adapter in bytes */
  readonly bytes: number
}

export interface SetAdaptersOptions {
  signal?: AbortSignal | undefined
}
