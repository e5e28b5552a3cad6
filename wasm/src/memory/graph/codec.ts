// The graph of WavTokenizer's decoder: convolutions over whole texts, with attention in one of them.
import { floats, kHalf, type Parts } from './layer.js'
import { Graph, type Value } from './graph.js'

/** Whether these are the parts of such a model. */
export const isCodec = (parts: Parts): boolean => parts.has('posnet.0.conv1')

class CodecGraph {
  readonly #graph = new Graph()
  readonly #row: number

  constructor(
    readonly parts: Parts,
    readonly tokens: number,
  ) {
    this.#row = this.#rows(this.#width('posnet.0.conv1'))
  }

  #rows(width: number): number {
    return floats(width * this.tokens)
  }
  /** The channels that a convolution or a matrix makes. */
  #width(name: string): number {
    return this.parts.get(name)?.at(-1) ?? 0
  }

  /** A convolution as a product: its inputs side by side in float16, and the result. */
  #convolve(name: string, from: Value): Value {
    const [taps = 1, channels = 1, out = 1] = this.parts.get(name) ?? []
    // A convolution by channel has as many as the row.
    const depthwise = name.endsWith('.dw')
    const inputs = depthwise ? taps * out : taps * channels
    const graph = this.#graph
    return graph.over(graph.add(this.#rows(out), graph.add(inputs * this.tokens * kHalf, from)))
  }
  #copy(from: Value): Value {
    return this.#graph.add(this.#row, from)
  }
  #norm(from: Value): Value {
    return this.#graph.over(this.#graph.over(this.#copy(from)))
  }
  #activated(from: Value): Value {
    const normed = this.#norm(from)
    return this.#graph.over(this.#copy(normed), normed)
  }
  #attend(name: string, from: Value): Value {
    const normed = this.#norm(from)
    const query = this.#copy(this.#convolve(`${name}attn_q`, normed))
    const key = this.#copy(this.#convolve(`${name}attn_k`, normed))
    const scores = this.#graph.over(this.#graph.add(floats(this.tokens ** 2), key, query))
    const mixed = this.#graph.add(this.#row, scores, this.#convolve(`${name}attn_v`, normed))
    return this.#graph.over(this.#convolve(`${name}attn_output`, mixed), from)
  }

  #posnet(from: Value, i: number): Value {
    const name = `posnet.${i}.`
    if (this.parts.has(`${name}attn_q`)) return this.#attend(name, from)
    if (!this.parts.has(`${name}conv1`)) return this.#norm(from)
    const middle = this.#convolve(`${name}conv1`, this.#activated(from))
    return this.#graph.over(this.#convolve(`${name}conv2`, this.#activated(middle)), from)
  }
  #convnext(from: Value, i: number): Value {
    const name = `convnext.${i}.`
    const normed = this.#norm(this.#copy(this.#convolve(`${name}dw`, from)))
    const wide = this.#graph.over(this.#graph.add(this.#rows(this.#width(`${name}pw1`)), normed))
    const scaled = this.#graph.over(this.#graph.over(this.#graph.add(this.#row, wide)))
    return this.#graph.over(this.#copy(scaled), from)
  }
  /** The features of the tokens; callers may give rows instead, or both. */
  #embedded(): Value {
    const graph = this.#graph
    const row = this.#rows(this.parts.get('token_embd')?.[0] ?? 0)
    const [ids, mixedIds] = [graph.input(floats(this.tokens)), graph.input(floats(this.tokens))]
    graph.keep(graph.input(row))
    const [rows, places] = [graph.input(row), graph.input(2 * floats(this.tokens))]
    const found = graph.add(row, ids)
    const mixed = graph.add(row, mixedIds)
    graph.keep(graph.add(row, rows))
    graph.use(mixed, places)
    return graph.add(row, found)
  }

  bytes(): number {
    const count = (name: string): number =>
      1 +
      Math.max(
        -1,
        ...[...this.parts.keys()].flatMap((part) =>
          part.startsWith(name) ? [Number.parseInt(part.slice(name.length), 10)] : [],
        ),
      )
    let stream = this.#convolve('conv1d', this.#embedded())
    for (let i = 0; i < count('posnet.'); i++) stream = this.#posnet(stream, i)
    stream = this.#copy(this.#norm(this.#copy(stream)))
    for (let i = 0; i < count('convnext.'); i++) stream = this.#convnext(stream, i)
    const normed = this.#norm(this.#copy(stream))
    this.#graph.keep(this.#graph.over(this.#graph.add(this.#rows(this.#width('output')), normed)))
    return this.#graph.size()
  }
}

/** Bytes of the buffer for so many tokens. */
export const codecBytes = (parts: Parts, tokens: number): number => new CodecGraph(parts, tokens).bytes()
