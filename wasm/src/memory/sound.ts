// What a model takes that speaks by itself (Kokoro). No other loader takes such a file with these keys: the numbers are
// those of this package's engine with the precision exact.
import type { GgufFile } from '../api/file.js'
import type { ModelKeys } from './keys.js'

const kFrames = 1024 // of a part of a text, at most
const kFloat = 4
const kStepProducts = 2 ** 26
const kStepRows = 512

/** Rows of a convolution's inputs that are gathered side by side for one step. */
function gatheredFloats(file: GgufFile): number {
  const floats = file.tensors.map(({ name, shape: [taps = 1, channels = 1, out = 1] }) => {
    if (!/generator.*convs[12]_weight$/.test(name)) return 0
    const row = taps * channels
    return row * Math.min(kStepRows, Math.max(16, Math.floor(kStepProducts / (row * out))))
  })
  return Math.max(0, ...floats)
}

/**
 * Bytes of intermediate results for the longest part of a text. Most are in the stage of the generator with the most
 * floats: the sum of its blocks, their input, a block's result, and two matrices within it.
 */
export function soundBytes(file: GgufFile, keys: ModelKeys): number {
  const generator = 'decoder.generator'
  const side = (name: string, axis: number) => file.tensor(`kokoro.${name}`)?.shape[axis] ?? 0
  const spectrum = (keys.number(`${generator}.n_fft`) ?? 0) + 2
  const stages = keys.number(`${generator}.upsamples`) ?? 0
  let rows = 2 * kFrames
  let kept = rows * side(`${generator}.ups.0.weight`, 2)
  kept += kFrames * 2 * side('text_encoder.lstm.0.weights.0', 1)
  let largest = 0
  for (let i = 0; i < stages; i++) {
    rows = rows * (keys.number(`${generator}.up_convs.${i}.stride`) ?? 1) + Number(i + 1 === stages)
    const sum = rows * side(`${generator}.ups.${i}.weight`, 1)
    largest = Math.max(largest, kept + 5 * sum)
    kept += sum
  }
  return kFloat * (largest + 2 * rows * spectrum + gatheredFloats(file))
}
