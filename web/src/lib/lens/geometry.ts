// Converts between the elements of a matrix and positions on the screen.
import { sidesOf, type Place } from './protocol'

export interface Size {
  width: number
  height: number
}
export interface Extent {
  columns: number
  rows: number
}
/** The visible part of a matrix. left and top may be fractions; zoom is 0 (everything) to 1 (elements with values). */
export interface View {
  left: number
  top: number
  zoom: number
}
export interface Scale {
  /** pixels for each element */
  x: number
  y: number
}

/** The scale at which an element has room for its value. */
const full: Scale = { x: 64, y: 26 }

/** The scale at which the whole matrix is visible. */
function whole({ columns, rows }: Extent, { width, height }: Size): Scale {
  return { x: Math.min(full.x, width / columns), y: Math.min(full.y, height / rows) }
}

/** The scale at a zoom. x and y reach the full scale at the same zoom. */
export function scaleOf(extent: Extent, size: Size, zoom: number): Scale {
  const fit = whole(extent, size)
  return { x: fit.x ** (1 - zoom) * full.x ** zoom, y: fit.y ** (1 - zoom) * full.y ** zoom }
}

/** The zoom that enlarges by `factor` in the direction that grows faster. */
export function zoomed(extent: Extent, size: Size, zoom: number, factor: number): number {
  const fit = whole(extent, size)
  const span = Math.max(Math.log(full.x / fit.x), Math.log(full.y / fit.y))
  if (span < 1e-9) return 0
  return Math.max(0, Math.min(1, zoom + Math.log(factor) / span))
}

/** The smallest zoom at which an element is at least one pixel and at most `rows` rows are visible. */
export function readableZoom(extent: Extent, size: Size, rows: number): number {
  for (let zoom = 0; zoom < 1; zoom += 0.01) {
    const scale = scaleOf(extent, size, zoom)
    if (scale.x >= 1 && scale.y >= 1 && size.height / scale.y <= rows) return zoom
  }
  return 1
}

export function clamped(extent: Extent, size: Size, view: View): View {
  const scale = scaleOf(extent, size, view.zoom)
  const max = (count: number, seen: number) => Math.max(0, count - seen)
  return {
    zoom: view.zoom,
    left: Math.max(0, Math.min(max(extent.columns, size.width / scale.x), view.left)),
    top: Math.max(0, Math.min(max(extent.rows, size.height / scale.y), view.top)),
  }
}

/** The view at another zoom. The element at (x, y) of the screen stays there. */
export function zoomedAt(extent: Extent, size: Size, view: View, zoom: number, x: number, y: number): View {
  const before = scaleOf(extent, size, view.zoom)
  const after = scaleOf(extent, size, zoom)
  return clamped(extent, size, {
    zoom,
    left: view.left + x / before.x - x / after.x,
    top: view.top + y / before.y - y / after.y,
  })
}

/** log2 of the number of elements in a cell, so that a cell is at least one device pixel. */
export function levelOf(scale: number): number {
  return Math.max(0, Math.ceil(-Math.log2(scale) - 1e-6))
}

/** The visible tiles, those in the middle first. density: device pixels in a CSS pixel. */
export function tilesOf(extent: Extent, size: Size, view: View, density: number): Place[] {
  const scale = scaleOf(extent, size, view.zoom)
  const zx = levelOf(scale.x * density)
  const zy = levelOf(scale.y * density)
  const [w, h] = sidesOf({ zx, zy })
  const right = Math.min(extent.columns, view.left + size.width / scale.x)
  const bottom = Math.min(extent.rows, view.top + size.height / scale.y)
  const places: Place[] = []
  for (let y = Math.floor(view.top / h); y * h < bottom; y++)
    for (let x = Math.floor(view.left / w); x * w < right; x++) places.push({ zx, zy, x, y })
  const far = ({ x, y }: Place) =>
    Math.abs((x + 0.5) * w - (view.left + right) / 2) * scale.x +
    Math.abs((y + 0.5) * h - (view.top + bottom) / 2) * scale.y
  return places.sort((a, b) => far(a) - far(b))
}

/** The element at a point of the screen. */
export function elementAt(extent: Extent, size: Size, view: View, x: number, y: number) {
  const scale = scaleOf(extent, size, view.zoom)
  const column = Math.floor(view.left + x / scale.x)
  const row = Math.floor(view.top + y / scale.y)
  return column >= 0 && row >= 0 && column < extent.columns && row < extent.rows ? { column, row } : undefined
}
