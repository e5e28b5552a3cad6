// The engine's modules, as Emscripten generates them. Their classes are in classes.d.ts, which is written from
// wasm/bindings_*.cpp.
import type { GlueOptions } from '../runtime/compile.js'
import type {
  WasmDeviceType,
  WasmEngine,
  WasmEngineType,
  WasmSpeakerType,
  WasmSpeech,
  WasmSpeechDeviceType,
  WasmSpeechType,
  WasmTracerType,
} from './classes.js'

/** What both classes have: the functions for loading. */
export type WasmLoader = Pick<WasmEngine, Exclude<keyof WasmEngine & keyof WasmSpeech, 'beginAudio'>>

export interface EngineModule {
  _malloc(bytes: number): number
  _free(pointer: number): void
  /** in shared memory if there are threads */
  readonly HEAPU8: Uint8Array
  readonly Engine: WasmEngineType
  /** absent in 64-bit memory */
  readonly Speech?: WasmSpeechType
  readonly SpeechDevice?: WasmSpeechDeviceType
  readonly Device: WasmDeviceType
  readonly Speaker: WasmSpeakerType
  readonly Tracer: WasmTracerType
  selfTest(seed: number): boolean
  useMemoryStreams(choice: number): void
  useRuns(choice: number): void
  typeName(id: number): string
}

export type CreateEngine = (options: GlueOptions) => Promise<EngineModule>
declare const create: CreateEngine
export default create
