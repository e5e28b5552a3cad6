// Draws the visible part of a matrix.
import { localized } from '../language/format'
import { ends } from './colours'
import type { Extent, Scale, Size, View } from './geometry'
import { sidesOf } from './protocol'
import type { Tile } from './tiles'

export interface Drawn {
  view: View
  size: Size
  scale: Scale
  extent: Extent
  density: number
  cursor: { column: number; row: number }
  tiles: readonly Tile[]
  level: { zx: number; zy: number }
  reach: number
  theme: 'light' | 'dark'
  /** colours of the page's theme */
  colours: { empty: string; ink: string; paper: string; line: string }
  /** elements in a block; lines are drawn between blocks */
  blockSize: number
}

const minOfText: Scale = { x: 44, y: 13 }
const minOfLines = 6

/** The rectangle on the screen that elements occupy. */
const placed = ({ view, scale }: Drawn, column: number, row: number, columns: number, rows: number) =>
  [(column - view.left) * scale.x, (row - view.top) * scale.y, columns * scale.x, rows * scale.y] as const

export function draw(context: CanvasRenderingContext2D, drawn: Drawn) {
  const { size, density, extent, tiles, colours } = drawn
  context.setTransform(density, 0, 0, density, 0, 0)
  context.fillStyle = colours.empty
  context.fillRect(0, 0, size.width, size.height)
  context.imageSmoothingEnabled = false
  context.save()
  context.beginPath()
  context.rect(...placed(drawn, 0, 0, extent.columns, extent.rows))
  context.clip()
  for (const { place, cells, picture } of tiles) {
    const [w, h] = [2 ** place.zx, 2 ** place.zy]
    const [x, y, width, height] = placed(
      drawn,
      place.x * sidesOf(place)[0],
      place.y * sidesOf(place)[1],
      cells.width * w,
      cells.height * h,
    )
    // Tiles are aligned to device pixels, so that there are no seams between them.
    const round = (value: number) => Math.round(value * density) / density
    const [left, top] = [round(x), round(y)]
    context.drawImage(picture, left, top, round(x + width) - left, round(y + height) - top)
  }
  drawBlockLines(context, drawn)
  if (drawn.scale.x >= minOfText.x && drawn.scale.y >= minOfText.y) drawValues(context, drawn)
  context.restore()
  drawCursor(context, drawn)
  drawPlace(context, drawn)
}

function drawBlockLines(
  context: CanvasRenderingContext2D,
  { view, scale, size, blockSize, colours, extent }: Drawn,
) {
  if (blockSize <= 1 || scale.x < minOfLines) return
  context.strokeStyle = colours.line
  context.lineWidth = 1
  context.beginPath()
  const last = Math.min(extent.columns, view.left + size.width / scale.x)
  for (let column = Math.ceil(view.left / blockSize) * blockSize; column <= last; column += blockSize) {
    const x = Math.round((column - view.left) * scale.x) - 0.5
    context.moveTo(x, 0)
    context.lineTo(x, size.height)
  }
  context.stroke()
}

const digits = (value: number) => {
  const text = String(Number(value.toPrecision(3)))
  return localized(text.length <= 8 ? text : value.toExponential(1))
}

function drawValues(context: CanvasRenderingContext2D, drawn: Drawn) {
  const { scale, reach, theme, tiles, view, size } = drawn
  context.font = '11px ui-monospace, Menlo, Consolas, monospace'
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  const { middle, positive } = ends[theme]
  for (const { place, cells } of tiles) {
    if (place.zx > 0 || place.zy > 0) continue
    const [left, top] = [place.x * sidesOf(place)[0], place.y * sidesOf(place)[1]]
    const x0 = Math.max(0, Math.floor(view.left - left))
    const y0 = Math.max(0, Math.floor(view.top - top))
    const x1 = Math.min(cells.width, Math.ceil(view.left + size.width / scale.x - left))
    const y1 = Math.min(cells.height, Math.ceil(view.top + size.height / scale.y - top))
    for (let y = y0; y < y1; y++)
      for (let x = x0; x < x1; x++) {
        const value = cells.mean[y * cells.width + x]!
        const share = Math.min(1, Math.abs(value) / reach) || 0
        const lightness = middle[0] + share * (positive[0] - middle[0])
        context.fillStyle = lightness > 62 || (theme === 'dark' && lightness > 48) ? '#101315' : '#ffffff'
        const [px, py, w, h] = placed(drawn, left + x, top + y, 1, 1)
        context.fillText(digits(value), px + w / 2, py + h / 2 + 0.5)
      }
  }
}

function drawCursor(context: CanvasRenderingContext2D, drawn: Drawn) {
  const { cursor, level, colours } = drawn
  const [w, h] = [2 ** level.zx, 2 ** level.zy]
  const [x, y, width, height] = placed(
    drawn,
    Math.floor(cursor.column / w) * w,
    Math.floor(cursor.row / h) * h,
    w,
    h,
  )
  const grown = 2 + Math.max(0, 8 - Math.min(width, height)) / 2
  for (const [more, colour, thick] of [
    [grown + 1.5, colours.paper, 1.5],
    [grown, colours.ink, 2],
  ] as const) {
    context.strokeStyle = colour
    context.lineWidth = thick
    context.strokeRect(x - more, y - more, width + 2 * more, height + 2 * more)
  }
}

/** Draws bars at two edges that show which part of the matrix is visible. */
function drawPlace(context: CanvasRenderingContext2D, { view, size, scale, extent, colours }: Drawn) {
  const columns = size.width / scale.x / extent.columns
  const rows = size.height / scale.y / extent.rows
  context.fillStyle = colours.ink
  if (columns < 0.999) {
    const length = Math.max(12, columns * size.width)
    const at = (view.left / extent.columns) * (size.width - length + columns * size.width)
    context.fillRect(Math.min(at, size.width - length), size.height - 3, length, 3)
  }
  if (rows < 0.999) {
    const length = Math.max(12, rows * size.height)
    const at = (view.top / extent.rows) * (size.height - length + rows * size.height)
    context.fillRect(size.width - 3, Math.min(at, size.height - length), 3, length)
  }
}
