// Files with the first of their layers only, of which a trial times how long they take.
import type { GgufFile } from '../api/file.js'

/** Of all layers of a stack that are timed. */
const kTimedBytes = 256 << 20
const kMinTimedLayers = 3
/** The layers of an encoder of audio take much longer than the rest of it. */
const kMaxEncoderLayers = 2

/** The layers that one key of the header counts. */
export interface Stack {
  readonly key: string
  readonly layers: number
  /** the layer of a tensor, by its name; NaN: it is in none */
  readonly layerOf: (name: string) => number
  /** from these two numbers of layers, the time of all follows; the second is all layers if they are few */
  readonly depths: readonly [number, number]
}

/** What a file is cut by. */
export interface Cut {
  readonly stacks: readonly Stack[]
  /** keys that name layers which are left out */
  readonly without: readonly string[]
  /** the key that counts the last layers of the first stack, which read the keys of earlier ones */
  readonly sharing?: string
}

/** Tensors with an equal part for each layer, and the axis of their shape that has these (Gemma 4). */
const kParts: Readonly<Record<string, number>> = {
  'per_layer_token_embd.weight': 0,
  'per_layer_model_proj.weight': 1,
}

/** others: layers that the key counts and that are not computed. maxLayers: are timed, however small they are. */
function stackOf(
  { metadata, tensors }: Pick<GgufFile, 'metadata' | 'tensors'>,
  {
    key,
    names,
    others = 0,
    maxLayers = Infinity,
  }: { key: string; names: RegExp; others?: number; maxLayers?: number },
): Stack {
  const layers = Number(metadata.get(key)) - others
  const layerOf = (name: string): number => Number(names.exec(name)?.[1] ?? NaN)
  const bytes = new Array<number>(layers).fill(0)
  for (const { name, byteLength } of tensors) {
    const layer = layerOf(name)
    if (layer < layers) bytes[layer]! += byteLength
  }
  let fits = 0
  for (let sum = 0; fits < layers && sum + bytes[fits]! <= kTimedBytes; fits++) sum += bytes[fits]!
  return { key, layers, layerOf, depths: [1, Math.min(Math.max(fits, kMinTimedLayers), maxLayers, layers)] }
}

export function cutOfText(file: Pick<GgufFile, 'metadata' | 'tensors'>): Cut {
  const prefix = String(file.metadata.get('general.architecture'))
  const heads = `${prefix}.nextn_predict_layers`
  const others = Number(file.metadata.get(heads) ?? 0)
  const of = (count: string, names: RegExp): Stack =>
    stackOf(file, { key: `${prefix}.${count}`, names, others })
  // An encoder with a decoder (T5): a token passes through the layers of the decoder.
  const stacks =
    file.metadata.get(`${prefix}.decoder_block_count`) === undefined
      ? [of('block_count', /^(?:enc\.|dec\.)?blk\.(\d+)\./)]
      : [of('decoder_block_count', /^dec\.blk\.(\d+)\./), of('block_count', /^enc\.blk\.(\d+)\./)]
  return { stacks, without: [heads], sharing: `${prefix}.attention.shared_kv_layers` }
}

export function cutOfWhisper(file: Pick<GgufFile, 'metadata' | 'tensors'>): Cut {
  const encoder = {
    key: 'whisper.encoder.block_count',
    names: /^encoder\.blocks\.(\d+)\./,
    maxLayers: kMaxEncoderLayers,
  }
  const decoder = { key: 'whisper.decoder.block_count', names: /^decoder\.blocks\.(\d+)\./ }
  return {
    stacks: [stackOf(file, encoder), stackOf(file, decoder)],
    without: ['whisper.decoder.alignment_heads'],
  }
}

/** The header of a file that has only the first layers, as many of each stack as is said, and the size of the file. */
export async function cutHeader(
  file: GgufFile,
  { stacks, without, sharing }: Cut,
  depths: readonly number[],
): Promise<{ readonly header: Uint8Array<ArrayBuffer>; readonly size: number }> {
  const builder = (await file.edit()).removeSplit()
  for (const key of without) if (builder.has(key)) builder.remove(key)
  stacks.forEach(({ key, layerOf }, i) => {
    builder.set(key, depths[i]!)
    for (const { name } of builder.tensors) if (layerOf(name) >= depths[i]!) builder.removeTensor(name)
  })
  const [depth, layers] = [depths[0]!, stacks[0]!.layers]
  for (const { name, type, shape, byteLength } of file.tensors) {
    const axis = kParts[name]
    if (axis === undefined) continue
    const size = (byteLength / layers) * depth
    const part = shape.map((n, i) => (i === axis ? (n / layers) * depth : n))
    // Its values are not read.
    const read = (_offset: number, length: number) => Promise.resolve(new Uint8Array(length))
    builder.removeTensor(name).addTensor(name, part, type, { size, read })
  }
  if (sharing !== undefined && builder.has(sharing))
    builder.set(sharing, Math.max(0, Number(file.metadata.get(sharing)) - (layers - depth)))
  return await builder.build()
}
