// A cache of tiles with their pictures. It keeps the most recently drawn ones.
import { paint } from './colours'
import { keyOf, sidesOf, type Cells, type Place, type Quantity } from './protocol'

export interface Look {
  quantity: Quantity
  theme: 'light' | 'dark'
  /** the magnitude that gets the full colour, by level */
  reachOf: (zx: number, zy: number) => number
}

export interface Tile {
  place: Place
  cells: Cells
  picture: OffscreenCanvas
  /** identifies the look of the picture; empty: not painted yet */
  painted: string
}

const maxKept = 320
// Limit of pictures that are repainted in one frame.
const maxPainted = 16

export class Tiles {
  private readonly all = new Map<string, Tile>()

  clear() {
    this.all.clear()
  }

  has(place: Place): boolean {
    return this.all.has(keyOf(place))
  }

  get(place: Place): Tile | undefined {
    return this.all.get(keyOf(place))
  }

  add(place: Place, cells: Cells) {
    const picture = new OffscreenCanvas(cells.width, cells.height)
    this.all.set(keyOf(place), { place, cells, picture, painted: '' })
    for (const key of this.all.keys()) {
      if (this.all.size <= maxKept) break
      this.all.delete(key)
    }
  }

  /** Marks a tile as used. */
  touch(place: Place) {
    const key = keyOf(place)
    const tile = this.all.get(key)
    if (!tile) return
    this.all.delete(key)
    this.all.set(key, tile)
  }

  /** The tiles of a level among these places. */
  of(places: readonly Place[]): Tile[] {
    return places.flatMap((place) => this.get(place) ?? [])
  }

  /** Tiles that overlap the window of elements, the coarsest first. */
  within(left: number, top: number, right: number, bottom: number): Tile[] {
    return [...this.all.values()]
      .filter(({ place }) => {
        const { x, y } = place
        const [w, h] = sidesOf(place)
        return x * w < right && (x + 1) * w > left && y * h < bottom && (y + 1) * h > top
      })
      .sort((a, b) => b.place.zx + b.place.zy - a.place.zx - a.place.zy)
  }

  /** Repaints tiles whose look has changed. Returns false if some are left for the next frame. */
  paint(tiles: readonly Tile[], { quantity, theme, reachOf }: Look): boolean {
    let left = maxPainted
    for (const tile of tiles) {
      const reach = reachOf(tile.place.zx, tile.place.zy)
      const look = `${quantity}/${theme}/${reach}`
      if (tile.painted === look) continue
      if (left-- === 0) return false
      const { width, height } = tile.cells
      const pixels = paint(tile.cells[quantity], reach, theme)
      const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height)
      tile.picture.getContext('2d')?.putImageData(image, 0, 0)
      tile.painted = look
    }
    return true
  }
}
