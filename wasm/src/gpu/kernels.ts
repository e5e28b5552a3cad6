// The WGSL source of each kernel of a plan: core/gpu/kernels.inc says what it computes.
import { attendCombine, attendRows, attendSplits, weighCells } from './kernels/attention.js'
import { shaderOf } from './kernels/common.js'
import type { Shader, ShaderOptions, Variant } from './kernels/common.js'
import { chooseExperts } from './kernels/experts.js'
import { prepareHeads } from './kernels/heads.js'
import { matMul } from './kernels/mat-mul.js'
import { expertIn, expertOut, headProduct, matVec } from './kernels/products.js'
import { convolve, deltaRule, scan, shift, wkv } from './kernels/recurrent.js'
import { argmax, embed, normRows } from './kernels/rows.js'
import type { KernelName } from './layout.js'

export type { ShaderOptions, Variant } from './kernels/common.js'

const kSources: Readonly<Record<KernelName, (shader: Shader) => string>> = {
  embed,
  norm_rows: normRows,
  mat_vec: matVec,
  mat_mul: matMul,
  choose_experts: chooseExperts,
  expert_in: expertIn,
  expert_out: expertOut,
  attend_splits: attendSplits,
  attend_combine: attendCombine,
  prepare_heads: prepareHeads,
  attend_rows: attendRows,
  weigh_cells: weighCells,
  head_product: headProduct,
  convolve,
  scan,
  delta_rule: deltaRule,
  shift,
  wkv,
  argmax,
}

/** The WGSL source of a variant, with the entry point `main`. */
export function shaderSource(variant: Variant, options: ShaderOptions): string {
  const shader = shaderOf(variant, options)
  return kSources[shader.kernel](shader)
}
