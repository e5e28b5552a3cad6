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
