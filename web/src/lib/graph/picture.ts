// Draws the graph and the treemap on a canvas, in the page's colours, and encodes them as PNG.
import { oneLine } from '../language/format'
import { t } from '../language/text'
import { mainOf, type Layout, type PlacedNode } from './layout'
import type { Rectangle } from './treemap'

/** A section with its layout. */
interface PlacedSection extends Layout {
  title: string
}

/** A labelled area of the treemap. */
interface Area extends Rectangle {
  name: string
  size: string
  color: string | undefined
}

/** The title and the legend of a picture. */
interface Caption {
  title: string
  /** colours by type */
  colors: ReadonlyMap<string, string>
}

// Browsers refuse larger canvases. The smallest limit is Safari's on phones.
const maxPixels = 16_000_000
const maxSide = 16_000
const maxScale = 2

const margin = 20
const captionHeight = 44
const titleHeight = 34
const gap = 24
/** width divided by height */
const aspect = 1.4

const variables = ['paper', 'surface', 'raised', 'wash', 'ink', 'ink-2', 'ink-3', 'line', 'line-2'] as const
type Palette = Record<(typeof variables)[number] | 'sans' | 'mono', string>

/** The values of the style sheet's variables in the current theme, as they are for an element of the page. */
function palette(at: Element): Palette {
  const probe = document.createElement('span')
  probe.style.setProperty('forced-color-adjust', 'none')
  at.append(probe)
  const colors = variables.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color] as const
  })
  probe.remove()
  const style = getComputedStyle(at)
  const fonts = (['sans', 'mono'] as const).map(
    (name) => [name, style.getPropertyValue(`--${name}`)] as const,
  )
  return Object.fromEntries([...colors, ...fonts]) as Palette
}

type Context = OffscreenCanvasRenderingContext2D

/** A canvas for a picture of this size in CSS pixels, with its caption. */
function begin(width: number, height: number, { title, colors }: Caption, style: Palette) {
  const scale = Math.min(maxScale, maxSide / width, maxSide / height, Math.sqrt(maxPixels / (width * height)))
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale))
  const context = canvas.getContext('2d')
  if (!context) throw new Error(t('This browser could not draw the picture.'))
  context.scale(scale, scale)
  context.fillStyle = style.paper
  context.fillRect(0, 0, width, height)
  context.textBaseline = 'middle'
  let x = width - margin
  context.font = `12px ${style.mono}`
  for (const [type, color] of [...colors].reverse()) {
    x -= context.measureText(type).width
    if (x - 16 < width / 2) break
    text(context, type, x, margin + 8, style['ink-2'])
    context.fillStyle = color
    context.fillRect(x - 15, margin + 3, 10, 10)
    x -= 31
  }
  context.font = `600 15px ${style.sans}`
  text(context, fitted(context, title, Math.max(width / 3, x - margin)), margin, margin + 8, style.ink)
  return { canvas, context }
}

function text(context: Context, words: string, x: number, y: number, color: string) {
  context.fillStyle = color
  context.fillText(words, x, y)
}

/** The beginning of the text that fits into this width. */
function fitted(context: Context, given: string, width: number): string {
  const words = oneLine(given)
  if (context.measureText(words).width <= width) return words
  let length = words.length
  while (length > 0 && context.measureText(`${words.slice(0, length)}…`).width > width) length--
  return length > 0 ? `${words.slice(0, length)}…` : ''
}

/** Stacks the sections in columns, so that the picture is not much higher than wide. */
function columnsOf(sections: readonly PlacedSection[]) {
  const heightOf = (one: PlacedSection) => titleHeight + one.height + gap
  const area = sections.reduce((sum, one) => sum + (one.width + gap) * heightOf(one), 0)
  const max = Math.max(Math.sqrt(area / aspect), ...sections.map(heightOf))
  const placed: { section: PlacedSection; x: number; y: number; width: number }[] = []
  let x = margin
  let y = 0
  let column: typeof placed = []
  let height = 0
  const close = () => {
    const width = Math.max(...column.map(({ section }) => section.width), 160) + gap
    for (const one of column) one.width = width
    x += width + gap
    y = 0
    column = []
  }
  for (const section of sections) {
    if (column.length > 0 && y + heightOf(section) > max) close()
    const one = { section, x, y: y + margin + captionHeight, width: 0 }
    placed.push(one)
    column.push(one)
    y += heightOf(section) + gap
    height = Math.max(height, y)
  }
  close()
  return { placed, width: x - gap + margin, height: height + margin * 2 + captionHeight - gap }
}

function drawNode(context: Context, node: PlacedNode, colors: Caption['colors'], style: Palette) {
  const { left, top, wide, high } = node
  const main = mainOf(node.tensors)
  context.fillStyle = main ? style.raised : style.wash
  context.strokeStyle = style['line-2']
  context.beginPath()
  context.roundRect(left + 0.5, top + 0.5, wide - 1, high - 1, main ? 4 : 14)
  context.fill()
  context.stroke()
  context.font = `12.5px ${style.sans}`
  if (!main) {
    const words = fitted(context, node.title, wide - 12)
    text(context, words, left + (wide - context.measureText(words).width) / 2, top + high / 2, style.ink)
    return
  }
  context.fillStyle = colors.get(main.type) ?? style['line-2']
  context.fillRect(left, top + 2, 5, high - 4)
  text(context, fitted(context, node.title, wide - 20), left + 12, top + 15, style.ink)
  context.font = `10.5px ${style.mono}`
  for (const [i, line] of node.lines.entries())
    text(context, fitted(context, line, wide - 20), left + 12, top + 32 + 14 * i, style['ink-2'])
}

/** A triangle at the end of a path, in the direction of its last part. */
function drawArrow(context: Context, path: string) {
  const [x0 = 0, y0 = 0, x = 0, y = 0] = (path.match(/-?[\d.]+/g) ?? []).slice(-4).map(Number)
  const angle = Math.atan2(y - y0, x - x0)
  const corner = (turn: number) => [x - 8 * Math.cos(angle + turn), y - 8 * Math.sin(angle + turn)] as const
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(...corner(0.45))
  context.lineTo(...corner(-0.45))
  context.fill()
}

function drawSection(context: Context, section: PlacedSection, colors: Caption['colors'], style: Palette) {
  context.strokeStyle = style['ink-3']
  context.lineWidth = 1.2
  for (const { path } of section.edges) {
    context.stroke(new Path2D(path))
    context.fillStyle = style['ink-3']
    drawArrow(context, path)
  }
  context.lineWidth = 1
  context.font = `10.5px ${style.mono}`
  for (const { label, x, y } of section.edges) {
    const width = context.measureText(label).width
    if (width === 0) continue
    context.fillStyle = style.surface
    context.fillRect(x - width / 2 - 3, y - 7, width + 6, 14)
    text(context, label, x - width / 2, y, style['ink-3'])
  }
  for (const node of section.nodes) drawNode(context, node, colors, style)
}

/** All sections of the graph as a PNG file. */
export async function graphPicture(
  sections: readonly PlacedSection[],
  caption: Caption,
  at: Element,
): Promise<Blob> {
  const style = palette(at)
  const { placed, width, height } = columnsOf(sections)
  const { canvas, context } = begin(width, height, caption, style)
  for (const one of placed) {
    const { section, x, y } = one
    context.fillStyle = style.surface
    context.strokeStyle = style.line
    context.lineWidth = 1
    context.beginPath()
    context.roundRect(x, y, one.width, titleHeight + section.height + gap / 2, 4)
    context.fill()
    context.stroke()
    context.font = `600 13px ${style.sans}`
    text(context, fitted(context, section.title, one.width - 24), x + 12, y + titleHeight / 2, style.ink)
    context.save()
    context.translate(x + (one.width - section.width) / 2, y + titleHeight)
    drawSection(context, section, caption.colors, style)
    context.restore()
  }
  return await canvas.convertToBlob()
}

/** Size of the treemap's picture in CSS pixels. */
export const mapSize = { width: 1200, height: 720 }

/** A box around areas. */
export interface Frame extends Rectangle {
  /** empty: it has no room for a title */
  name: string
}

/** The treemap as a PNG file. The areas and frames are placed in a rectangle of `mapSize`. */
export async function mapPicture(
  areas: readonly Area[],
  frames: readonly Frame[],
  caption: Caption,
  at: Element,
): Promise<Blob> {
  const style = palette(at)
  const { width, height } = mapSize
  const { canvas, context } = begin(width + 2 * margin, height + 2 * margin + captionHeight, caption, style)
  context.translate(margin, margin + captionHeight)
  context.font = `11.5px ${style.mono}`
  context.strokeStyle = style['line-2']
  for (const frame of frames) {
    context.fillStyle = style.raised
    context.fillRect(frame.x, frame.y, frame.width, frame.height)
    context.strokeRect(frame.x, frame.y, frame.width, frame.height)
    text(context, fitted(context, frame.name, frame.width - 10), frame.x + 5, frame.y + 9, style.ink)
  }
  for (const area of areas) {
    context.fillStyle = area.color ?? style['line-2']
    context.fillRect(area.x, area.y, area.width, area.height)
    if (area.width < 54 || area.height < 32) continue
    context.font = `11.5px ${style.mono}`
    // The colours of types are light enough for black text in both themes.
    text(context, fitted(context, area.name, area.width - 10), area.x + 5, area.y + 11, '#000000')
    text(context, fitted(context, area.size, area.width - 10), area.x + 5, area.y + 26, '#000000')
  }
  return await canvas.convertToBlob()
}
