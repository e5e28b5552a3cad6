// Fits the names of tensors and blocks into boxes: in lines, or without what they have in common.

/** Lines of up to `length` characters, which end after "_", "." or a space; a longer part of the name has a line of its own. */
export function linesOf(name: string, length: number): string[] {
  const lines: string[] = []
  for (const part of name.split(/(?<=[_. ])/)) {
    const line = lines.at(-1)
    if (line !== undefined && (line + part).trimEnd().length <= length) lines[lines.length - 1] = line + part
    else lines.push(part)
  }
  return lines.map((line) => line.trimEnd())
}

/** What all names begin with, up to a "." before a word: "model.", not "blk.". */
export function commonStart(names: readonly string[]): string {
  if (names.length < 2) return ''
  let start = names[0]!
  for (const name of names) while (!name.startsWith(start)) start = start.slice(0, -1)
  const parts = start.split('.').slice(0, -1)
  if (names.some((name) => /^\d/.test(name.slice(parts.join('.').length + 1)))) parts.pop()
  return parts.map((part) => `${part}.`).join('')
}

/** The end of a name, after "…", so that it has up to `length` characters. A title without parts is kept. */
export function endOf(name: string, length: number): string {
  if (name.length <= length || !name.includes('.')) return name
  const rest = name.slice(name.length - Math.max(1, length - 1))
  const dot = rest.search(/[._]/)
  return `…${dot >= 0 && dot < rest.length / 3 ? rest.slice(dot + 1) : rest}`
}
