// Recognizes drags, taps and pinches of one or two pointers.

interface Point {
  x: number
  y: number
}

interface Gestures {
  pan: (x: number, y: number) => void
  zoom: (factor: number, x: number, y: number) => void
  tap: (x: number, y: number) => void
}

// A smaller movement of the pointer is a tap.
const tapPixels = 5

export class Pointers {
  private readonly points = new Map<number, Point>()
  private moved = 0

  constructor(private readonly gestures: Gestures) {}

  down(id: number, x: number, y: number) {
    if (this.points.size === 0) this.moved = 0
    this.points.set(id, { x, y })
  }

  move(id: number, x: number, y: number) {
    const before = this.points.get(id)
    if (!before) return
    const other = [...this.points].find(([one]) => one !== id)?.[1]
    this.points.set(id, { x, y })
    this.moved += Math.hypot(x - before.x, y - before.y)
    if (this.moved < tapPixels) return
    if (!other) return this.gestures.pan(before.x - x, before.y - y)
    const distance = (a: Point) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y))
    this.gestures.zoom(distance({ x, y }) / distance(before), (x + other.x) / 2, (y + other.y) / 2)
    this.gestures.pan((before.x - x) / 2, (before.y - y) / 2)
  }

  up(id: number) {
    const point = this.points.get(id)
    const isTap = this.points.size === 1 && this.moved < tapPixels
    this.points.delete(id)
    if (point && isTap) this.gestures.tap(point.x, point.y)
  }

  cancel(id: number) {
    this.points.delete(id)
  }
}
