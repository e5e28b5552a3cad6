// Cuts texts into passages that a model embeds.
import { t } from '../language/text'

export interface Passage {
  /** name of the file */
  file: string
  /** of its first character, from 1 */
  line: number
  text: string
}

/** names of files that are read as text */
export const textNames =
  /\.(txt|text|md|markdown|rst|adoc|tex|html?|json|jsonl|csv|tsv|xml|ya?ml|toml|log|srt|vtt|[cm]?[jt]sx?|py|[ch]|cc|[ch]pp|rs|go|java|rb|sh|css|svelte|vue)$/i

/** Which dropped files are searched in, and what is said while they are dragged. */
export const textDrop = () => ({ types: /^text\//, names: textNames, hint: t('Drop them to search in them') })

/** in characters: a few sentences */
const longest = 500

/** Where a text is cut into two: between lines, sentences or words near its middle. */
function cutOf(text: string): number {
  const middle = text.length >> 1
  for (const between of ['\n', '. ', ' ']) {
    const at = text.indexOf(between, middle)
    if (at > 0 && at + between.length < text.length) return at + between.length
  }
  // Not within a character of two code units.
  return middle + (/[\udc00-\udfff]/.test(text[middle] ?? '') ? 1 : 0)
}

/** Paragraphs, the short ones together, the long ones in parts. fits: whether the model has room for a text. */
export function passagesOf(file: string, content: string, fits: (text: string) => boolean): Passage[] {
  const passages: Passage[] = []
  let line = 1
  let counted = 0
  const add = (from: number, to: number) => {
    const text = content.slice(from, to).trim()
    if (text.length > longest || (text.length > 2 && !fits(text))) {
      const middle = from + cutOf(content.slice(from, to))
      add(from, middle)
      add(middle, to)
      return
    }
    const start = from + content.slice(from, to).search(/\S|$/)
    for (; counted < start; counted++) if (content[counted] === '\n') line++
    if (text) passages.push({ file, line, text })
  }
  let start = 0
  let end = 0
  for (const paragraph of content.split(/(?<=\n\s*\n)/)) {
    if (end > start && end + paragraph.length - start > longest) {
      add(start, end)
      start = end
    }
    end += paragraph.length
  }
  add(start, end)
  return passages
}
