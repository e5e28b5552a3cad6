// The glue that Emscripten generates from wasm/bindings_edit.cpp, as far as the package uses it.
import type { Span } from './inspect.js'

/** Reads a container from before GGUF by windows that it asks for. */
export interface LegacyReader {
  /** where the next bytes of the file from position() on go */
  reserve(bytes: number): number
  /** 0: all is read; > 0: so many bytes from position() on are needed; -1: failure() */
  advance(fileSize: number): number
  position(): number
  version(): number
  container(): string
  /** a GGUF header that says the same; its tensors' relative offsets are absolute in the file */
  header(): Span
  failure(): { code: string; message: string; offset: number }
  delete(): void
}

export interface EditModule {
  HEAPU8: Uint8Array<ArrayBuffer>
  LegacyReader: new () => LegacyReader
}

interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

export default function createEdit(options: ModuleOptions): Promise<EditModule>
