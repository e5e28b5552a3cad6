// What tests/everywhere/app.js gives where everything works, and the sample that it is run on.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Seen = Readonly<Record<string, string>>

export const kSteps = [
  'open',
  'dequantize',
  'tokenizer',
  'renderChat',
  'engine, 1 thread',
  'engine, all threads',
] as const

export const kModel = join(import.meta.dirname, '../fixtures/stories.gguf')
export const modelBytes = (): Uint8Array<ArrayBuffer> => Uint8Array.from(readFileSync(kModel))

/** What is wrong with what was seen; empty: nothing. threads: how many "all" are there. */
export function faultsOf(seen: Seen, expected: Seen, threads: number): string[] {
  return kSteps.flatMap((step) => {
    const many = expected[step]?.replace(/^\d+ threads?/, threads === 1 ? '1 thread' : `${threads} threads`)
    const wanted = step === 'engine, all threads' ? many : expected[step]
    return seen[step] === wanted ? [] : [`${step}: ${seen[step]} (expected ${wanted})`]
  })
}
