// Divides a rectangle into parts of given areas that are nearly square (Bruls, Huizing, van Wijk: "Squarified
// Treemaps", 2000).

export interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

/** Returns one rectangle for each size, in the given order. The sizes must not be negative. */
export function squarify(sizes: readonly number[], { x, y, width, height }: Rectangle): Rectangle[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const scale = total > 0 ? (width * height) / total : 0
  const out: Rectangle[] = []
  let rest = { x, y, width, height }
  for (let from = 0; from < sizes.length;) {
    const side = Math.min(rest.width, rest.height)
    let to = from + 1
    let row: Row = { largest: sizes[from]!, smallest: sizes[from]!, sum: sizes[from]! * scale }
    // Adds rectangles to the row while its worst aspect ratio improves.
    for (; to < sizes.length; to++) {
      const size = sizes[to]!
      const more = {
        largest: Math.max(row.largest, size),
        smallest: Math.min(row.smallest, size),
        sum: row.sum + size * scale,
      }
      if (worst(more, scale, side) > worst(row, scale, side)) break
      row = more
    }
    const { sum } = row
    const isWide = rest.width >= rest.height
    const thick = side > 0 ? sum / side : 0
    let at = isWide ? rest.y : rest.x
    for (const size of sizes.slice(from, to)) {
      const long = thick > 0 ? (size * scale) / thick : 0
      out.push(
        isWide
          ? { x: rest.x, y: at, width: thick, height: long }
          : { x: at, y: rest.y, width: long, height: thick },
      )
      at += long
    }
    rest = isWide
      ? { ...rest, x: rest.x + thick, width: Math.max(0, rest.width - thick) }
      : { ...rest, y: rest.y + thick, height: Math.max(0, rest.height - thick) }
    from = to
  }
  return out
}

interface Row {
  largest: number
  smallest: number
  /** the area */
  sum: number
}

/** The worst aspect ratio in a row. */
function worst({ largest, smallest, sum }: Row, scale: number, side: number): number {
  const square = side * side
  return Math.max(
    (square * largest * scale) / (sum * sum),
    (sum * sum) / (square * Math.max(smallest * scale, 1e-12)),
  )
}
