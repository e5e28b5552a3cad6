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
  | 'engine-memory64.wasm'

/** A WebAssembly module: its address, a Response with it, its bytes, or a compiled module. */
export type WasmSource = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module

/** Files by name. A file that is not listed is found as if the option were absent. */
export type AssetTable = {
  readonly [Name in WasmName]?: WasmSource | PromiseLike<WasmSource> | undefined
} & {
  /** The script of the engine's worker. */
  readonly 'engine-worker.js'?: string | URL | undefined
  /** The script of the engine's worker for graphics cards. */
  readonly 'engine-gpu-worker.js'?: string | URL | undefined
}

/**
 * The addresses of the package's files, if they are not next to its code. A page has only one instance of each module:
 * the first call that needs the module decides where it is loaded from.
 */
export interface AssetOptions {
  /**
   * Only inspect.wasm: an address, a Response, bytes or a WebAssembly.Module. The other modules are looked for next to
   * an address.
   */
  wasmUrl?: WasmSource | PromiseLike<WasmSource> | undefined
  /**
   * All files: the address of their folder, or each file by its name. It takes precedence over wasmUrl.
   * Relative addresses are relative to the page.
   */
  assets?: string | URL | AssetTable | undefined
}
