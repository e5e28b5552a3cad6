// Plans which weights of a model a LoRA adapter changes, and finds what does not fit. The rules are those of
// core/model/adapter.cpp, by names and shapes alone.
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'
import { adapterProblems, alphaOf, kMaxRank, type AdapterProblem } from '../file/adapter-problems.js'
import { printable } from '../file/opened.js'

/** A pair for W + s B A: lora_a [n_in, rank, n] and lora_b [rank, n_out, n] for a weight [n_in, n_out, n]. */
export interface AdapterPair {
  readonly weight: string
  readonly a: TensorInfo
  readonly b: TensorInfo
  readonly rank: number
  /** alpha / rank, or 1 if the adapter has no alpha */
  readonly factor: number
  /** The pair is for embeddings, which is stored as lora_a [rank, n_vocab] and lora_b [rank, n_embd]. */
  readonly embeds: boolean
}

interface AdapterPlan {
  readonly pairs: readonly AdapterPair[]
  /** names of the adapter's tensors that change nothing */
  readonly ignored: readonly string[]
  readonly problems: readonly AdapterProblem[]
}

/** The properties of the model that the plan needs. */
interface AdaptedModel {
  readonly architecture: string | undefined
  readonly tensors: readonly AdaptedWeight[]
}

interface AdaptedWeight {
  readonly name: string
  readonly shape: readonly number[]
  readonly type: string
}

// Names of norms, biases, tables and filters. Activations are not multiplied by them as matrices, so a pair has no effect.
const kNoMatrix = new RegExp(
  String.raw`(?<!\.weight|\.lora_[ab])$|norm(_\d)?\.weight$|position_embd|token_types|per_layer_token_embd|conv1d` +
    String.raw`|shortconv\.conv|attn_rel_b|_compressor_ape|time_mix_first|time_mix_lerp`,
)
// These architectures have no output over the vocabulary, so their embeddings are never tied to it.
const kEncoders = /bert|^(gemma-embedding|llama-embed|pockettts|t5encoder)$/
// A matrix of one row, which is stored as a vector.
const kRow = 'ffn_gate_inp_shexp.weight'
const kInvocation = 'adapter.alora.invocation_tokens'

const at = (shape: readonly number[], i: number): number => shape[i] ?? 1
const shapeText = (shape: readonly number[]): string => `[${shape.join(', ')}]`

/** Returns the reason why the file is no adapter for the model. */
function kindProblem(adapter: GgufFile, { architecture }: AdaptedModel): AdapterProblem | undefined {
  const text = (key: string): string => String(adapter.metadata.get(key) ?? '')
  const problem = (code: GgufErrorCode, message: string): AdapterProblem => ({ code, message })
  const own = text('general.architecture')
  if (own === 'controlvector')
    return problem('unsupported', 'The file is a control vector, not a LoRA adapter.')
  if (text('general.type') !== 'adapter')
    return problem(
      'invalid-argument',
      `The file is not an adapter: general.type is ${printable(text('general.type'))}, not 'adapter'.`,
    )
  if (text('adapter.type') !== 'lora')
    return problem('unsupported', `adapter.type is ${printable(text('adapter.type'))}, not 'lora'.`)
  if (own !== architecture)
    return problem(
      'invalid-argument',
      `The adapter is for the architecture ${printable(own)}, the model is of ${printable(architecture ?? '')}.`,
    )
  return undefined
}

/** Returns the problem of the tokens that activate the adapter. */
function invocationProblem(adapter: GgufFile): AdapterProblem | undefined {
  const tokens = adapter.metadata.get(kInvocation)
  if (tokens === undefined) return undefined
  const isList = typeof tokens === 'object' && tokens.type === 'u32'
  if (isList && tokens.length > 0) return undefined
  return isList
    ? { code: 'bad-count', message: `${kInvocation} is empty.` }
    : { code: 'bad-value-type', message: `${kInvocation} must be an array of u32.` }
}

/** True if tokens activate the adapter: it changes nothing before them. */
export const isActivated = (adapter: GgufFile): boolean => adapter.metadata.has(kInvocation)

const isMatrix = ({ name, shape, type }: AdaptedWeight): boolean =>
  !/^I\d/.test(type) && !kNoMatrix.test(name) && (shape.length > 1 || name.endsWith(kRow))

/** Returns the reason why a pair does not fit its weight. */
function shapeProblem(
  { a, b, rank, embeds }: Omit<AdapterPair, 'weight' | 'factor'>,
  shape: readonly number[],
): string | undefined {
  const [inputs, outputs, matrices] = [at(shape, 0), at(shape, 1), at(shape, 2) * at(shape, 3)]
  if (rank < 1 || rank > kMaxRank) return 'an impossible rank'
  if (at(a.shape, embeds ? 0 : 1) !== rank) return 'halves of different ranks'
  const fits = embeds
    ? at(a.shape, 1) === outputs && at(b.shape, 1) === inputs
    : at(a.shape, 0) === inputs && at(b.shape, 1) === outputs
  if (!fits) return 'halves that do not fit'
  const counts = [a, b].every((half) => at(half.shape, 2) === matrices && at(half.shape, 3) === 1)
  return counts ? undefined : 'another number of matrices'
}

interface Halves {
  a?: TensorInfo
  b?: TensorInfo
}

/** Returns the halves of each pair by weight. Adds other tensors to the plan as ignored or as problems. */
function halvesIn(adapter: GgufFile, plan: Growing): Map<string, Halves> {
  const halves = new Map<string, Halves>()
  for (const tensor of adapter.tensors) {
    const { name, offset } = tensor
    const [, weight, half] = /^(.*)\.lora_([ab])$/s.exec(name) ?? []
    const fail = (code: GgufErrorCode, message: string): void =>
      void plan.problems.push({ code, message, offset })
    if (weight === undefined) {
      if (name.endsWith('_norm.weight')) plan.ignored.push(name)
      else fail('unsupported', `Tensor ${printable(name)} is neither a .lora_a nor a .lora_b.`)
      continue
    }
    const pair = halves.get(weight) ?? {}
    if (pair[half as 'a' | 'b']) fail('invalid-argument', `Tensor ${printable(name)} is in the file twice.`)
    halves.set(weight, { ...pair, [half as 'a' | 'b']: tensor })
  }
  return halves
}

type Growing = { [Part in keyof AdapterPlan]: AdapterPlan[Part][number][] }

/** Plans the pairs and reports all problems. */
export function planAdapter(adapter: GgufFile, model: AdaptedModel): AdapterPlan {
  const kind = kindProblem(adapter, model) ?? invocationProblem(adapter) ?? adapterProblems(adapter)[0]
  if (kind) return { pairs: [], ignored: [], problems: [kind] }
  const plan: Growing = { pairs: [], ignored: [], problems: [] }
  const weights = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const tied = !kEncoders.test(model.architecture ?? '') && !weights.has('output.weight')
  const alpha = alphaOf(adapter)
  for (const [weight, { a, b }] of halvesIn(adapter, plan)) {
    const fail = (code: GgufErrorCode, message: string): void =>
      void plan.problems.push({ code, message, offset: (a ?? b)!.offset })
    const changed = weights.get(weight)
    if (!a || !b) fail('not-found', `${printable(weight)} has no .lora_${a ? 'b' : 'a'}.`)
    else if (!changed)
      fail('not-found', `The adapter changes ${printable(weight)}, which the model does not have.`)
    else {
      const { shape } = changed
      const embeds = weight === 'token_embd.weight'
      const rank = at(b.shape, 0)
      const problem = shapeProblem({ a, b, rank, embeds }, shape)
      if (problem) {
        const text = `lora_a ${shapeText(a.shape)}, lora_b ${shapeText(b.shape)}, the weight ${shapeText(shape)}`
        fail('bad-shape', `The adapter's ${printable(weight)} has ${problem}: ${text}.`)
      } else if (!isMatrix(changed)) plan.ignored.push(weight)
      else if (embeds && tied)
        fail('unsupported', "The adapter changes token_embd.weight, which is this model's output, too.")
      else plan.pairs.push({ weight, a, b, rank, factor: alpha === 0 ? 1 : alpha / rank, embeds })
    }
  }
  return plan
}

/** Returns the plan, or throws its first problem. */
export function mustFit(adapter: GgufFile, model: AdaptedModel): AdapterPlan {
  const plan = planAdapter(adapter, model)
  const [problem] = plan.problems
  if (problem) throw new GgufError(problem.code, problem.message, { offset: problem.offset })
  return plan
}
