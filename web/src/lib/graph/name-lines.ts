// Divides the name of a tensor into lines, so that it is shown whole in a narrow box.

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
