// What a model computes inside for a text, for the panel Run.
import type { GgufFile } from 'ggufscope'
import type { LayerPart, Model, Trace } from 'ggufscope/engine'

/** A token's log probability in four steps, from 0 (likely) to 3 (unlikely). */
export const unlikelihood = (logprob = 0) => Math.min(3, Math.floor(-logprob / 1.2))

/** A token of the text, with its probability after those before it. */
interface ReadToken {
  readonly text: string
  /** undefined for the first */
  readonly probability: number | undefined
  /** from 1; undefined for the first */
  readonly rank: number | undefined
}

export interface LikelyToken {
  readonly text: string
  readonly probability: number
}

/** What the layers tend to after one token, the output first. */
interface Tendency {
  readonly layer: number
  readonly best: readonly LikelyToken[]
}

export interface Inside {
  readonly ids: readonly number[]
  readonly tokens: readonly ReadToken[]
  readonly layers: number
  /** heads of each layer; 0: its attention is not computed head by head */
  readonly heads: readonly number[]
  tendencies(at: number): readonly Tendency[]
}

const likelyTokens = 3

/** Heads of each layer, as the keys say. */
function headsOf(file: GgufFile, layers: number): number[] {
  const { architecture = '' } = file.summary()
  const value = file.metadata.get(`${architecture}.attention.head_count`)
  const all = typeof value === 'object' ? Array.from(value as Iterable<number | bigint>, Number) : undefined
  return Array.from({ length: layers }, (_, layer) => all?.[layer] ?? (Number(value) || 0))
}

function insideOf({ tokenizer, info }: Model, file: GgufFile, ids: readonly number[], trace: Trace): Inside {
  const decoder = new TextDecoder()
  const nameOf = (id: number) => decoder.decode(tokenizer.tokens.at(id)?.bytes ?? new Uint8Array())
  return {
    ids,
    tokens: ids.map((id, at) => ({
      text: nameOf(id),
      probability: at === 0 ? undefined : Math.exp(trace.logprobs[at] ?? NaN),
      rank: at === 0 ? undefined : (trace.ranks[at] ?? 0) + 1,
    })),
    layers: info.layers,
    heads: headsOf(file, info.layers),
    tendencies: (at) =>
      trace.layers.toReversed().map(({ layer, tokens, logprobs }) => {
        const best = tokens.length / ids.length
        return {
          layer,
          best: Array.from({ length: best }, (_, i) => ({
            text: nameOf(tokens[at * best + i] ?? 0),
            probability: Math.exp(logprobs[at * best + i] ?? NaN),
          })),
        }
      }),
  }
}

export async function lookInside(
  model: Model,
  file: GgufFile,
  text: string,
  signal: AbortSignal,
): Promise<Inside> {
  const ids = model.tokenizer.encode(text, { special: true, bos: true })
  return insideOf(model, file, ids, await model.trace(ids, { best: likelyTokens, signal }))
}

/** Attention weights grow with the square of the tokens: those of a longer text are shown on demand. */
export const isShort = ({ ids }: Inside) => ids.length <= 256

/** What a trace adds for a choice of the user: a head's weights, and the next tokens without some parts. */
export interface Closer {
  /** [tokens, tokens] */
  readonly weights: Float32Array | undefined
  /** the likeliest next tokens after the whole text, without the parts */
  readonly next: readonly LikelyToken[] | undefined
}

export async function lookCloser(
  model: Model,
  ids: readonly number[],
  head: LayerPart | undefined,
  off: readonly LayerPart[],
  signal: AbortSignal,
): Promise<Closer> {
  const output = [model.info.layers]
  const attention = head?.head === undefined ? [] : [{ layer: head.layer, head: head.head }]
  const seen = attention.length > 0 ? await model.trace(ids, { layers: [], attention, signal }) : undefined
  const without =
    off.length > 0
      ? await model.trace(ids, { layers: output, best: likelyTokens, ablate: off, signal })
      : undefined
  return {
    weights: seen?.attention[0]?.weights,
    next: without && insideOf(model, model.file, ids, without).tendencies(ids.length - 1)[0]?.best,
  }
}
