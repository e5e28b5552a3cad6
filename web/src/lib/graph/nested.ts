// Places nested boxes in a rectangle, as a treemap: frames with a title, and the tensors in them.
import type { Box } from './bytes'
import { squarify, type Rectangle } from './treemap'

export interface PlacedBox extends Rectangle {
  box: Box
  /** 0: beside the outermost ones */
  depth: number
}

export interface Nested {
  /** boxes that contain others, the outer ones first */
  frames: PlacedBox[]
  /** tensors, or boxes that are too small for what they contain */
  areas: PlacedBox[]
}

const titleHeight = 17
const padding = 2
/** Smaller boxes show nothing of what they contain. */
const minInside = 8
const minTitled = { width: 50, height: 44 }

export const isTitled = ({ width, height }: Rectangle): boolean =>
  width >= minTitled.width && height >= minTitled.height

function inside(place: Rectangle): Rectangle {
  const top = isTitled(place) ? titleHeight : padding
  return {
    x: place.x + padding,
    y: place.y + top,
    width: Math.max(0, place.width - 2 * padding),
    height: Math.max(0, place.height - top - padding),
  }
}

/** Rectangles with less than a pixel are left out. */
const isVisible = ({ width, height }: Rectangle) => width * height >= 0.5

export function nest(boxes: readonly Box[], place: Rectangle): Nested {
  const nested: Nested = { frames: [], areas: [] }
  const add = (some: readonly Box[], room: Rectangle, depth: number) => {
    const sizes = some.map(({ bytes }) => bytes)
    for (const [i, rectangle] of squarify(sizes, room).entries()) {
      const box = some[i]!
      if (!isVisible(rectangle)) continue
      const placed = { ...rectangle, box, depth }
      if (box.children.length === 0 || Math.min(rectangle.width, rectangle.height) < minInside) {
        nested.areas.push(placed)
        continue
      }
      nested.frames.push(placed)
      add(box.children, inside(rectangle), depth + 1)
    }
  }
  add(boxes, place, 0)
  return nested
}
