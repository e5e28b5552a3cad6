// The memory that running a model takes.

/** The types in which llama.cpp can store keys and values. */
export type KvType = 'f32' | 'f16' | 'bf16' | 'q8_0' | 'q5_1' | 'q5_0' | 'q4_1' | 'q4_0' | 'iq4_nl'

/** A graphics card or other accelerator, or the computer itself. */
export interface MemoryDevice {
  readonly name?: string | undefined
  /** bytes that may be used */
  readonly memory: number
  /** memory bandwidth in bytes per second, for the estimate of the speed */
  readonly bandwidth?: number | undefined
}

/** Bytes by purpose. */
export interface MemoryParts {
  /** tensors, including those of adapters, the projector and the draft model */
  readonly weights: number
  /** keys and values */
  readonly cache: number
  /** states of recurrent layers */
  readonly state: number
  /** intermediate results of one batch: llama.cpp's compute buffer, within 10 % on its CPU backend */
  readonly compute: number
  readonly total: number
}

export interface DeviceMemory extends MemoryParts {
  /** 'CPU', or the device's name */
  readonly name: string
  /** bytes that may be used; undefined if not given */
  readonly memory: number | undefined
  /** undefined if `memory` is undefined */
  readonly fits: boolean | undefined
}

export interface LayerMemory {
  readonly index: number
  /** index in `devices` of the result; 0 is the CPU */
  readonly device: number
  readonly weights: number
  readonly cache: number
  readonly state: number
  /** number of cache cells: fewer than the context for a sliding window; 0 without a cache */
  readonly cells: number
}

export interface MemoryEstimate extends MemoryParts {
  readonly context: number
  readonly kvType: { readonly k: KvType; readonly v: KvType }
  readonly batch: number
  /** the given number, or as many as fit */
  readonly gpuLayers: number
  /** number of layers of the model plus one for the output: the maximum of gpuLayers */
  readonly layerCount: number
  /** the part of `weights` that belongs to the projector, the draft model and the adapters */
  readonly extras: { readonly mmproj: number; readonly draft: number; readonly lora: number }
  /** the CPU, then the devices in the given order */
  readonly devices: readonly DeviceMemory[]
  readonly layers: readonly LayerMemory[]
  /** undefined if no memory was given */
  readonly fits: boolean | undefined
  /**
   * The largest context that fits, in steps of 256 up to the training context; 0 if none fits; undefined if no memory
   * was given.
   */
  readonly largestContext: number | undefined
  /** The model's training context, if the file states it. */
  readonly trainedContext: number | undefined
  /**
   * Upper limit for the speed: the weights that one token reads, plus the cache at the full context, divided by the
   * bandwidths. undefined if the bandwidth of a device in use is not given.
   */
  readonly tokensPerSecond: number | undefined
}
