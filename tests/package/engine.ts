// The engine of the packed package, and the trained sample model.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kRoot, packedFile } from './packed.ts'

export const engine = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

export const kStories = join(kRoot, 'tests/fixtures/stories.gguf')
export const stories = new Uint8Array(readFileSync(kStories))

export async function textOf(pieces: AsyncIterable<Engine.Piece>): Promise<string> {
  let all = ''
  for await (const piece of pieces) all += piece.text
  return all
}
