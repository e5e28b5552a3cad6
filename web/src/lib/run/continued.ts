// The text that a model continues: what was written, and what the model wrote.

/** The texts in one. What is written after a model's text begins a line, unless one of them has a space there. */
export function continued(texts: readonly { readonly role: string; readonly text: string }[]): string {
  let all = ''
  for (const [i, { role, text }] of texts.entries()) {
    const begins = role === 'user' && texts[i - 1]?.role === 'assistant'
    all += begins && /\S$/.test(all) && /^\S/.test(text) ? `\n${text}` : text
  }
  return all
}

/** The end of an answer, from the beginning of a sentence if there is one. */
export function endOf<T extends { readonly text: string }>(
  tokens: readonly T[],
  length: number,
): { tokens: T[]; text: string } {
  const last = tokens.slice(-length)
  const stop = last.findIndex(({ text }) => /[.!?。！？]\s*$/.test(text))
  const end = last.slice(stop === last.length - 1 ? 0 : stop + 1)
  return { tokens: end, text: end.map(({ text }) => text).join('') }
}
