// Encodes a rendered prompt to token ids. Control tokens in the template's text become tokens; those in a message's
// text do not.
import type { Tokenizer } from '../api/text.js'
import type { Rendered } from './render-template.js'

const known = new WeakMap<Tokenizer, readonly string[]>()

/** Texts of the control tokens. */
function controlTexts(tokenizer: Tokenizer): readonly string[] {
  let texts = known.get(tokenizer)
  if (!texts) {
    const ids = tokenizer.search({ types: ['control', 'unknown'], limit: tokenizer.size })
    texts = ids.map((id) => tokenizer.tokens.at(id)!.text).filter((text) => text.length > 1)
    known.set(tokenizer, texts)
  }
  return texts
}

/** The ranges of the messages' content, in UTF-16 units of the text. */
function contentRanges({ text, runs }: Rendered): [begin: number, end: number][] {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const ranges: [number, number][] = []
  let byte = 0
  let unit = 0
  for (const run of runs) {
    const { length } = decoder.decode(bytes.subarray(byte, byte + run.bytes))
    if (run.content) ranges.push([unit, unit + length])
    byte += run.bytes
    unit += length
  }
  return ranges
}

/** Cuts inside texts of control tokens that lie, at least in part, in the messages' content. */
function cuts(rendered: Rendered, tokenizer: Tokenizer): number[] {
  const ranges = contentRanges(rendered)
  const places = new Set<number>()
  for (const control of controlTexts(tokenizer)) {
    let at = rendered.text.indexOf(control)
    for (; at >= 0; at = rendered.text.indexOf(control, at + 1)) {
      const end = at + control.length
      if (!ranges.some(([from, to]) => from < end && at < to)) continue
      places.add(at + String.fromCodePoint(control.codePointAt(0)!).length)
    }
  }
  return [...places].sort((a, b) => a - b)
}

/**
 * The token ids of a prompt. The text is cut inside each control token that content spells, so that it does not become
 * one. Without such texts, the whole prompt is encoded at once.
 */
export function encodePrompt(tokenizer: Tokenizer, rendered: Rendered): number[] {
  const places = [0, ...cuts(rendered, tokenizer), rendered.text.length]
  return places
    .slice(1)
    .flatMap((end, i) => tokenizer.encode(rendered.text.slice(places[i], end), { special: true }))
}
