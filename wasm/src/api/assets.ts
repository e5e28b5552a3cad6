// Where the package's own files are: its WebAssembly modules and the script of its worker.

export type WasmName =
  | 'inspect.wasm'
  | 'text.wasm'
  | 'quant.wasm'
  | 'edit.wasm'
  | 'jinja.wasm'
  | 'engine-simd.wasm'
  | 'engine-relaxed.wasm'
  | 'engine-simd-threads.wasm'
  | 'engine-relaxed-threads.wasm'

/** A WebAssembly module: its address, a Response with it, its bytes, or a compiled module. */
export type WasmSource = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module

/** By name. Files that are not named are found as without the option. */
export type AssetTable = {
  readonly [Name in WasmName]?: WasmSource | PromiseLike<WasmSource> | undefined
} & {
  /** The script of the engine's worker. */
  readonly 'engine-worker.js'?: string | URL | undefined
}

/**
 * Where the package's files are, when they are not beside its code. One instance of each module serves a whole page: the
 * first call that needs it decides.
 */
export interface AssetOptions {
  /** inspect.wasm alone: an address, a Response, bytes or a WebAssembly.Module. Beside an address the other modules are looked for. */
  wasmUrl?: WasmSource | PromiseLike<WasmSource> | undefined
  /**
   * All files: the address of their folder, or each file by its name. It takes precedence over wasmUrl.
   * Relative addresses are relative to the page.
   */
  assets?: string | URL | AssetTable | undefined
}
