// How much memory a model takes when it runs.

/** What llama.cpp stores keys and values as. */
export type KvType = 'f32' | 'f16' | 'bf16' | 'q8_0' | 'q5_1' | 'q5_0' | 'q4_1' | 'q4_0' | 'iq4_nl'

/** A graphics card or other accelerator, or the computer itself. */
export interface MemoryDevice {
  readonly name?: string | undefined
  /** bytes that may be used */
  readonly memory: number
  /** bytes a second that it reads of its memory; for the estimate of the speed */
  readonly bandwidth?: number | undefined
}

/** Bytes by what they are for. */
export interface MemoryParts {
  /** tensors, those of adapters, the projector and the draft model included */
  readonly weights: number
  /** keys and values */
  readonly cache: number
  /** states of recurrent layers */
  readonly state: number
  /** intermediate results: an estimate, unlike the other parts */
  readonly compute: number
  readonly total: number
}

export interface DeviceMemory extends MemoryParts {
  /** 'CPU', or the device's name */
  readonly name: string
  /** bytes that may be used; undefined where nobody said */
  readonly memory: number | undefined
  /** undefined where `memory` is */
  readonly fits: boolean | undefined
}

export interface LayerMemory {
  readonly index: number
  /** place in `devices` of the result: 0 is the CPU */
  readonly device: number
  readonly weights: number
  readonly cache: number
  readonly state: number
  /** cells of its cache: fewer than the context where the layer has a sliding window; 0 without cache */
  readonly cells: number
}

export interface MemoryEstimate extends MemoryParts {
  readonly context: number
  readonly kvType: { readonly k: KvType; readonly v: KvType }
  readonly batch: number
  /** as given, or as many as fit */
  readonly gpuLayers: number
  /** layers of the model and one for the output: the most that gpuLayers can be */
  readonly layerCount: number
  /** of `weights`, that of what was given beside the model */
  readonly extras: { readonly mmproj: number; readonly draft: number; readonly lora: number }
  /** the CPU, then the devices as they were given */
  readonly devices: readonly DeviceMemory[]
  readonly layers: readonly LayerMemory[]
  /** undefined where no memory was given */
  readonly fits: boolean | undefined
  /** The longest context that fits, in steps of 256 up to the model's own; 0 where none does, undefined where no memory was given. */
  readonly largestContext: number | undefined
  /** The context that the model was trained for, where the file says. */
  readonly trainedContext: number | undefined
  /**
   * At most: the weights that one token reads and the cache at the full context, over the bandwidths. undefined where a
   * device that holds some of it has no bandwidth.
   */
  readonly tokensPerSecond: number | undefined
}
