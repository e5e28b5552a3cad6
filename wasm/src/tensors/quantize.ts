// Quantizes floats.
import type { Bytes } from '../api/arrays.js'
import type { QuantizeOptions } from '../api/tensors.js'

/**
 * Quantizes floats to blocks of a ggml type ("Q4_K"), little-endian. The bytes equal those of ggml's reference
 * quantizer. With importance, the floats must be whole rows of importance.length elements.
 */
export async function quantize(
  type: string,
  floats: Float32Array,
  options: QuantizeOptions = {},
): Promise<Bytes> {
  const { quantizeRows } = await import('./quantize-rows.js')
  return await quantizeRows(type, floats, options)
}
