// Names the characters of an edited text that its field cannot show.
import { oneLine, unseen } from '../language/format'

/** The invisible characters of a text as escapes, each once; not line breaks and tabs, which a field shows. */
export function invisibleIn(text: string): string[] {
  const all = (text.match(unseen) ?? []).filter((char) => !/[\n\r\t]/.test(char))
  return [...new Set(all)].map((char) => oneLine(char))
}
