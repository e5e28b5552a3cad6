// The interface that Embind generates from wasm/bindings_gpu.cpp: a session whose model runs on a GPU. Addresses in the
// heap are valid until the next call.
import type { ArrivedRows, Sizes } from '../engine/protocol.js'
import type { Pointer, Span } from '../runtime/span.js'

/** The plan's tables of numbers; plan.ts names their columns. */
export type PlanTable = 'variants' | 'buffers' | 'constants' | DispatchListName
/** In this order: decode + decodeLogits + choose for a few tokens, prefill + prefillLogits + choose for more. */
export type DispatchListName =
  | 'decode'
  | 'decodeLogits'
  | 'prefill'
  | 'prefillLogits'
  | 'embeddings'
  | 'choose'

/** Buffers are indices; kAbsent: there is none. */
export interface PlanFacts {
  /** for the record of each pass */
  readonly step: number
  readonly parameters: number
  /** floats [batch, vocabulary] */
  readonly logits: number
  /** floats [batch, embedding length] */
  readonly embedded: number
  /** words [batch]: the tokens that the device chose */
  readonly chosen: number
  /** tokens of a pass, at most */
  readonly batch: number
  /** rows of logits, at most */
  readonly outputRows: number
  /** floats in a row of logits */
  readonly logitsLength: number
  /** floats in a row of `embedded` */
  readonly embeddedLength: number
  readonly weightBytes: number
}

/** Bytes to write to a buffer of the device, at an address in the heap. Offset and length are multiples of 4. */
export interface DeviceWrite {
  readonly buffer: number
  readonly offset: number
  readonly at: Pointer
  readonly bytes: number
}

export interface PassFacts {
  /** 0: nothing needs to be computed before the next token is sampled */
  readonly tokens: number
  /** rows of logits to accept; 0: none */
  readonly outputs: number
  /** the plan's lists for few tokens */
  readonly decode: boolean
  /** the plan's list of embeddings instead of that of logits */
  readonly embeds: boolean
}

/** If a call returns false, failure() describes the error. */
export interface WasmDevice {
  failure(): { code: string; message: string; offset: number }
  reserve(bytes: number): Pointer
  /**
   * Lowers the model, before its weights are loaded, and with the sizes of startSession(). From then on the engine
   * computes nothing itself. limits: bytes of the largest buffer and binding.
   */
  plan(sizes: Sizes, limits: { readonly buffer: number; readonly binding: number }): boolean
  facts(): PlanFacts
  /** doubles */
  table(name: PlanTable): Span
  /** words of the buffer of parameters */
  parameters(): Span
  /** floats of a row of the table of constants */
  constant(index: number): Span
  /**
   * Repacks whole rows in the reserved buffer, in multiples of kRepackRows but for a tensor's last ones; write(0) and
   * following are the results.
   */
  repack(rows: ArrivedRows): boolean
  writeCount(): number
  write(index: number): DeviceWrite
  /** Frees what loading needed. */
  endLoad(): void
  /** Places up to so many waiting tokens; pass() and record() describe the pass. accept() or discard() must follow. */
  prepare(tokens: number): boolean
  /** The same for the token that the device will choose in the last pass in flight. */
  prepareChosen(): boolean
  pass(): PassFacts
  /** words, for the buffer `step` */
  record(): Span
  /** The logits of the oldest pass: so many floats in the reserved buffer. */
  accept(floats: number): boolean
  /** whether the device's choice is the answer's next token */
  chooses(): boolean
  acceptChosen(token: number): boolean
  /** Removes all passes in flight. */
  discard(): void
  /**
   * Opens a separate text of so many ids in the reserved buffer, whose outputs evaluate(), evaluateLast() or embed() of
   * the engine then returns. outputs: a number of the core's TextOutputs.
   */
  openText(tokens: number, outputs: number): boolean
  /** Places the next tokens of the text; pass() has none when all are computed. */
  prepareText(): boolean
  /** The rows of the text's pass: so many floats in the reserved buffer. */
  acceptText(floats: number): boolean
  passesInFlight(): number
  delete(): void
}

export interface WasmDeviceType {
  new (session: Pointer): WasmDevice
}
