// The reference vectors next to the repository, and the comparison of results with them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as Engine from 'ggufscope/engine'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared } from './packed.ts'

export const kVectors = join(kShared, '../vectors')
export const kLora = join(kVectors, 'lora')

/** The largest difference of two elements; NaN if one is. */
export function difference(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length)
  return a.reduce((most, value, i) => {
    const d = Math.abs(value - b[i]!)
    return d > most || Number.isNaN(d) ? d : most
  }, 0)
}

export interface LoraMeta {
  readonly base: string
  readonly tokens: number[]
  readonly runs: Readonly<
    Record<
      string,
      {
        readonly adapters: readonly (readonly [file: string, scale: number])[]
        readonly file?: string
        readonly exact_file?: string
        readonly tolerance: { readonly compare_with: 'file' | 'exact_file'; readonly max_abs: number }
      }
    >
  >
}
export const loraMetaOf = (name: string): LoraMeta =>
  JSON.parse(readFileSync(join(kLora, name, 'meta.json'), 'utf8')) as LoraMeta

/** Between the texts of a prompt for libmtmd. */
export const kMarker = '<__media__>'

export interface MediaInput {
  prompt: string
  tolerance: Record<'embd' | 'logits', { max_abs: number }>
  result: { n_tokens: number; chunks: { type: string; ids?: number[]; n_tokens: number }[] }
}

/** Models with projectors, a folder each, and their results. */
export function mediaVectors(kind: 'vision' | 'audio') {
  const folder = join(kVectors, 'media', kind)
  const bytesOf = (...path: string[]): Uint8Array => new Uint8Array(readFileSync(join(folder, ...path)))
  return {
    folder,
    skip: skipWithout(folder),
    bytesOf,
    floatsOf: (...path: string[]): Float32Array => new Float32Array(bytesOf(...path).buffer),
    inputsOf: (name: string): Record<string, MediaInput> =>
      (
        JSON.parse(readFileSync(join(folder, name, 'meta.json'), 'utf8')) as {
          inputs: Record<string, MediaInput>
        }
      ).inputs,
    load: ({ load }: typeof Engine, name: string, options: Engine.LoadOptions = {}): Promise<Engine.Model> =>
      load(bytesOf(name, 'model.gguf'), {
        projector: bytesOf(name, 'mmproj.gguf'),
        precision: 'exact',
        cacheType: 'f32',
        contextLength: 2048,
        ...options,
      }),
  }
}
