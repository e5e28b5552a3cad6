// The state of the tensor lens: the visible part, the tiles that have arrived, and the bytes that are still missing.
import type { GgufFile, TensorInfo } from 'ggufscope'
import { rowsShownFirst, smallBytes, tileRows } from './chunks'
import { LensClient } from './client'
import { draw, type Drawn } from './draw'
import {
  clamped,
  elementAt,
  levelOf,
  readableZoom,
  scaleOf,
  tilesOf,
  zoomed,
  zoomedAt,
  type Scale,
  type Size,
  type View,
} from './geometry'
import { tileColumns, type Cells, type Place, type Quantity } from './protocol'
import { Tiles } from './tiles'

/** If a view needs more bytes than this, the user has to agree first. */
const freeBytes = { remote: smallBytes, local: 512_000_000 }
/** Tensors up to this size in bytes are shown completely at first. */
const wholeBytes = { remote: smallBytes, local: 256_000_000 }

export interface Element {
  column: number
  row: number
}

/** The cell under a point: its ranges of columns and rows, and their values. */
export interface Reading {
  columns: readonly [from: number, to: number]
  rows: readonly [from: number, to: number]
  /** the element's value if the cell is one element */
  value: number | undefined
  mean: number
  rms: number
  extreme: number
}

export class Lens {
  readonly client: LensClient
  readonly extent: { columns: number; rows: number }
  view = $state.raw<View>({ left: 0, top: 0, zoom: 0 })
  size = $state.raw<Size>({ width: 0, height: 0 })
  cursor = $state.raw<Element>({ column: 0, row: 0 })
  quantity = $state<Quantity>('extreme')
  reachKind = $state<'most' | 'max'>('most')
  theme = $state<'light' | 'dark'>('light')
  /** bytes that this view needs and that were not requested yet */
  missing = $state(0)
  isDone = $state(false)
  loaded = $state(0)
  total = $state(0)
  failure = $state('')
  /** increases with each change of the picture */
  changes = $state(0)

  private readonly place: 'remote' | 'local'
  private readonly tiles = new Tiles()
  private places: Place[] = []
  private reaches = $state.raw(new Map<string, number>())
  private density = 1

  constructor(file: GgufFile, tensor: TensorInfo, place: 'remote' | 'local') {
    this.place = place
    this.client = new LensClient(file, tensor)
    const { columns, rows } = this.client.matrix
    this.extent = { columns, rows }
    this.client.watcher = {
      ontile: (where, cells) => this.receive(where, cells),
      onview: (missing, isDone) => this.progress(missing, isDone),
      onloaded: (loaded, total) => {
        this.loaded = loaded
        this.total = total
      },
      onfailure: (message) => (this.failure = message),
    }
  }

  close() {
    this.client.close()
    this.tiles.clear()
  }

  get scale(): Scale {
    return scaleOf(this.extent, this.size, this.view.zoom)
  }

  get level(): { zx: number; zy: number } {
    return { zx: levelOf(this.scale.x * this.density), zy: levelOf(this.scale.y * this.density) }
  }

  /** whether each cell is one element */
  get isElements(): boolean {
    const { zx, zy } = this.level
    return zx === 0 && zy === 0
  }

  /** the visible columns and rows: first and last */
  get window() {
    const { left, top } = this.view
    const { x, y } = this.scale
    const last = (from: number, length: number, scale: number, count: number) =>
      Math.min(count, Math.ceil(from + length / scale - 1e-6)) - 1
    return {
      columns: [Math.floor(left), last(left, this.size.width, x, this.extent.columns)] as const,
      rows: [Math.floor(top), last(top, this.size.height, y, this.extent.rows)] as const,
    }
  }

  /** the magnitude that gets the full colour at the visible level */
  get reach(): number {
    return this.reachOf(this.level.zx, this.level.zy)
  }

  private reachKey = (zx: number, zy: number) => `${this.quantity}/${this.reachKind}/${zx}/${zy}`

  private reachOf = (zx: number, zy: number): number => this.reaches.get(this.reachKey(zx, zy)) ?? 1

  /** Called with the canvas's first size, and with each new one. */
  resize(size: Size, density: number) {
    const isFirst = this.size.width === 0
    this.size = size
    this.density = density
    const isWhole = this.client.matrix.byteLength <= wholeBytes[this.place]
    const first = () => readableZoom(this.extent, size, rowsShownFirst(this.client.matrix))
    const zoom = isFirst && !isWhole ? first() : this.view.zoom
    this.look({ ...this.view, zoom })
  }

  look(view: View) {
    this.view = clamped(this.extent, this.size, view)
    this.request()
  }

  /** Requests the tiles that the view lacks. all: even if they need more bytes than freeBytes. */
  request(all = false) {
    if (this.size.width === 0 || this.size.height === 0) return
    this.places = tilesOf(this.extent, this.size, this.view, this.density)
    this.failure = ''
    const lacking = this.places.filter((place) => !this.tiles.has(place))
    this.missing = 0
    this.isDone = lacking.length === 0
    this.loaded = 0
    this.total = 0
    this.client.view(lacking, all ? Number.MAX_SAFE_INTEGER : freeBytes[this.place])
    if (this.isDone) this.settle()
    this.changes++
  }

  private receive(place: Place, cells: Cells) {
    this.tiles.add(place, cells)
    const key = this.reachKey(place.zx, place.zy)
    if (!this.reaches.has(key)) this.fit(place)
    this.changes++
  }

  private progress(missing: number, isDone: boolean) {
    this.missing = missing
    this.isDone = isDone
    if (isDone) this.settle()
  }

  /** levels whose colour scale was fitted to a complete view */
  private readonly settled = new Set<string>()
  private settle() {
    const key = this.reachKey(this.level.zx, this.level.zy)
    if (this.settled.has(key) || this.missing > 0) return
    this.settled.add(key)
    this.fit()
  }

  /** Fits the colour scale of a level to the visible values. */
  fit({ zx, zy }: { zx: number; zy: number } = this.level) {
    const tiles = this.tiles.of(this.places).filter(({ place }) => place.zx === zx && place.zy === zy)
    const reach = tiles.reduce((most, { cells }) => {
      const { most: high, max } = cells.reach[this.quantity]
      return Math.max(most, (this.reachKind === 'most' && high) || max)
    }, 0)
    this.reaches = new Map(this.reaches).set(this.reachKey(zx, zy), reach || 1)
    this.changes++
  }

  zoomBy(factor: number, x = this.size.width / 2, y = this.size.height / 2) {
    const zoom = zoomed(this.extent, this.size, this.view.zoom, factor)
    this.view = zoomedAt(this.extent, this.size, this.view, zoom, x, y)
    this.request()
  }

  /** Zooms around the cursor if it is visible, otherwise around the middle. */
  zoomAtCursor(factor: number) {
    const x = (this.cursor.column + 0.5 - this.view.left) * this.scale.x
    const y = (this.cursor.row + 0.5 - this.view.top) * this.scale.y
    const isSeen = x >= 0 && y >= 0 && x <= this.size.width && y <= this.size.height
    this.zoomBy(factor, ...(isSeen ? ([x, y] as const) : []))
  }

  setLook({
    quantity = this.quantity,
    reachKind = this.reachKind,
  }: Partial<Pick<Lens, 'quantity' | 'reachKind'>>) {
    this.quantity = quantity
    this.reachKind = reachKind
    if (!this.reaches.has(this.reachKey(this.level.zx, this.level.zy))) this.fit()
  }

  panBy(x: number, y: number) {
    this.look({
      ...this.view,
      left: this.view.left + x / this.scale.x,
      top: this.view.top + y / this.scale.y,
    })
  }

  whole() {
    this.look({ left: 0, top: 0, zoom: 0 })
  }

  /** Moves the cursor, and scrolls the view just enough to show it. */
  moveTo({ column, row }: Element, zoom = this.view.zoom) {
    const { columns, rows } = this.extent
    const limit = (value: number, count: number) => Math.max(0, Math.min(count - 1, Math.trunc(value)))
    this.cursor = { column: limit(column, columns), row: limit(row, rows) }
    const scale = scaleOf(this.extent, this.size, zoom)
    const seen = { columns: this.size.width / scale.x, rows: this.size.height / scale.y }
    const into = (from: number, length: number, at: number) =>
      zoom !== this.view.zoom
        ? at + 0.5 - length / 2
        : at < from
          ? at
          : at + 1 > from + length
            ? at + 1 - length
            : from
    this.look({
      zoom,
      left: into(this.view.left, seen.columns, this.cursor.column),
      top: into(this.view.top, seen.rows, this.cursor.row),
    })
  }

  /** The step of an arrow key: one element, or several if elements are small on the screen. */
  step(): Element {
    const near = (scale: number) => Math.max(1, 2 ** Math.ceil(Math.log2(8 / scale)))
    return { column: near(this.scale.x), row: near(this.scale.y) }
  }

  elementAt(x: number, y: number): Element | undefined {
    return elementAt(this.extent, this.size, this.view, x, y)
  }

  /** The cell of an element at the visible level; undefined if its tile has not arrived. */
  readingOf({ column, row }: Element): Reading | undefined {
    const { zx, zy } = this.level
    const [x, y] = [Math.floor(column / 2 ** zx), Math.floor(row / 2 ** zy)]
    const place = { zx, zy, x: Math.floor(x / tileColumns), y: Math.floor(y / tileRows) }
    const cells = this.tiles.get(place)?.cells
    if (!cells) return undefined
    const at = (y % tileRows) * cells.width + (x % tileColumns)
    const part = (cell: number, z: number, count: number) =>
      [cell * 2 ** z, Math.min(count, (cell + 1) * 2 ** z) - 1] as const
    return {
      columns: part(x, zx, this.extent.columns),
      rows: part(y, zy, this.extent.rows),
      value: this.isElements ? cells.mean[at] : undefined,
      mean: cells.mean[at] ?? NaN,
      rms: cells.rms[at] ?? NaN,
      extreme: cells.extreme[at] ?? NaN,
    }
  }

  /** Returns false if a part is left for the next frame. */
  draw(context: CanvasRenderingContext2D, colours: Drawn['colours'], blockSize: number): boolean {
    const { quantity, theme, reachOf } = this
    const { view, size, scale, extent, density, cursor } = this
    const right = view.left + size.width / scale.x
    const bottom = view.top + size.height / scale.y
    // Tiles of other levels replace those that have not arrived yet.
    const exact = this.tiles.of(this.places)
    const isAll = exact.length === this.places.length
    const inSight = isAll ? exact : this.tiles.within(view.left, view.top, right, bottom)
    const isPainted = this.tiles.paint(inSight.toReversed(), { quantity, theme, reachOf })
    for (const place of this.places) this.tiles.touch(place)
    draw(context, {
      view,
      size,
      scale,
      extent,
      density,
      cursor,
      tiles: inSight.filter(({ painted }) => painted !== ''),
      level: this.level,
      reach: this.reach,
      theme,
      colours,
      blockSize,
    })
    return isPainted
  }
}
