// The engine of the packed package, and the trained sample model.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kRoot, packedFile } from './packed.ts'

export const engine = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

// V8 keeps the code of a module while someone has it: a load then takes two thirds of the time. Nobody reads this.
export const kKeptCode = await WebAssembly.compile(
  readFileSync(packedFile('wasm/dist/engine/engine-relaxed-threads.wasm')),
)

export const kStories = join(kRoot, 'tests/fixtures/stories.gguf')
export const stories = new Uint8Array(readFileSync(kStories))

export async function textOf(pieces: AsyncIterable<Engine.Piece>): Promise<string> {
  let all = ''
  for await (const piece of pieces) all += piece.text
  return all
}
