// The first layer of a llama model as a model of its own, for tests whose time grows with the layers.
import { pathToFileURL } from 'node:url'
import type * as Package from 'ggufscope'
import { packedFile } from './packed.ts'

const { open } = (await import(pathToFileURL(packedFile('wasm/dist/index.js')).href)) as typeof Package

export async function firstLayer(model: Uint8Array): Promise<Uint8Array> {
  using file = await open(model)
  const builder = await file.edit()
  builder.set('llama.block_count', 1, 'u32')
  for (const { name } of file.tensors) if (/^blk\.[1-9]/.test(name)) builder.removeTensor(name)
  return await (await builder.build()).bytes()
}
