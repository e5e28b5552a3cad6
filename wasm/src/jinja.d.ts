// The parts that the package uses of the glue that Emscripten generates from wasm/bindings_jinja.cpp.
import type { Span } from './inspect.js'
import type { GlueOptions } from './runtime/compile.js'

export interface WasmTemplate {
  /** of the template or of the last rendering. 0: none; 1: an error of the template; 2: a limit was exceeded */
  errorKind(): number
  errorMessage(): string
  /** from 1; 0: no position */
  errorLine(): number
  errorColumn(): number
  /** month: from 1 */
  setDate(year: number, month: number, day: number): void
  setTime(hour: number, minute: number, second: number, microsecond: number, epochSeconds: number): void
  /** renders with JSON in the heap; false: an error, see errorKind() */
  render(variables: number, bytes: number, marks: boolean, maxBytes: number): boolean
  text(): Span
  /** pairs of 32-bit integers: number of bytes, and 1 if they are content of messages */
  runs(): Span
  delete(): void
}

export interface JinjaModule {
  HEAPU8: Uint8Array<ArrayBuffer>
  _malloc(bytes: number): number
  _free(pointer: number): void
  /** from a source in the heap */
  ChatTemplate: new (source: number, bytes: number) => WasmTemplate
}

export default function createJinja(options: GlueOptions): Promise<JinjaModule>
