// A rendered prompt as token ids: control tokens of the template count, those that a message's text spells do not.
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

/** Where messages have their say, in UTF-16 units of the text. */
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

/** Places within control tokens that content spells, the whole of one or a part. */
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
 * The ids of a prompt. Without such texts they are those of the whole; else it is cut within each, so that no control
 * token comes of it.
 */
export function encodePrompt(tokenizer: Tokenizer, rendered: Rendered): number[] {
  const places = [0, ...cuts(rendered, tokenizer), rendered.text.length]
  return places
    .slice(1)
    .flatMap((end, i) => tokenizer.encode(rendered.text.slice(places[i], end), { special: true }))
}
