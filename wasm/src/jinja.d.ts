// The glue that Emscripten generates from wasm/bindings_jinja.cpp, as far as the package uses it.
import type { Span } from './inspect.js'

export interface WasmTemplate {
  /** of the template, then of the last rendering. 0: none; 1: the template's; 2: a bound */
  errorKind(): number
  errorMessage(): string
  /** from 1; 0: no place is to blame */
  errorLine(): number
  errorColumn(): number
  /** month: from 1 */
  setDate(year: number, month: number, day: number): void
  setTime(hour: number, minute: number, second: number, microsecond: number, epochSeconds: number): void
  /** of JSON that lies in the heap; false: errorKind() */
  render(variables: number, bytes: number, marks: boolean, maxBytes: number): boolean
  text(): Span
  /** pairs of 32-bit integers: bytes, and 1 where they are content of messages */
  runs(): Span
  delete(): void
}

export interface JinjaModule {
  HEAPU8: Uint8Array<ArrayBuffer>
  _malloc(bytes: number): number
  _free(pointer: number): void
  /** of a source that lies in the heap */
  ChatTemplate: new (source: number, bytes: number) => WasmTemplate
}

interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

export default function createJinja(options: ModuleOptions): Promise<JinjaModule>
