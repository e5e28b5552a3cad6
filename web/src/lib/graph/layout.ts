// Computes the positions of a section's steps and edges with dagre.
import { Graph, layout } from '@dagrejs/dagre'
import { compact, oneLine } from '../language/format'
import { leftToRight } from './flow'
import type { GraphNode, Section } from './model'
import { linesOf } from './name-lines'

export interface PlacedNode extends GraphNode {
  left: number
  top: number
  wide: number
  high: number
  /** the role and the type, as they have room */
  lines: readonly string[]
}

interface PlacedEdge {
  key: string
  /** an SVG path */
  path: string
  label: string
  x: number
  y: number
}

export interface Layout {
  width: number
  height: number
  nodes: PlacedNode[]
  edges: PlacedEdge[]
}

const sizes = {
  wide: {
    tensor: { width: 156, height: 46 },
    operation: { width: 132, height: 28 },
    gap: 18,
    characters: 21,
  },
  // A phone has room for queries, keys and values side by side. The type has a line of its own.
  narrow: { tensor: { width: 92, height: 64 }, operation: { width: 92, height: 28 }, gap: 8, characters: 12 },
  narrowest: {
    tensor: { width: 78, height: 64 },
    operation: { width: 78, height: 28 },
    gap: 6,
    characters: 11,
  },
}
const longTitle = 18
const linePixels = 14
const digitPixels = 7
const margin = 2

interface Point {
  x: number
  y: number
}

/** A curve through the points. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  const at = ({ x, y }: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`
  if (rest.length < 2) return `M${at(first)}${rest.map((point) => `L${at(point)}`).join('')}`
  let path = `M${at(first)}`
  for (const [i, point] of rest.entries()) {
    const next = rest[i + 1]
    if (!next) path += `L${at(point)}`
    else
      path += `Q${at(point)} ${at(i + 2 < rest.length ? { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 } : next)}`
    if (i + 2 === rest.length) break
  }
  return path
}

/** The name of a step in dagre's graph, which is an object there: "constructor" is none of its own. */
const nameOf = (step: string) => `#${step}`

const columnOf = (name: string | undefined): number | undefined => {
  const column = leftToRight.findIndex((steps) => steps.includes(name?.slice(1) ?? ''))
  return column < 0 ? undefined : column
}

/** A node of dagre's own graph: a step, or a point of an edge that passes its rank. */
interface Ranked {
  rank: number
  order: number
  edgeObj?: { v: string; w: string }
}

/** Sorts the steps with a column among the places that dagre gave them, and their edges alike. */
function sortColumns(graph: Graph) {
  const ranks = new Map<number, { node: Ranked; column: number }[]>()
  for (const name of graph.nodes()) {
    const node = graph.node(name) as Ranked
    const column = columnOf(name) ?? columnOf(node.edgeObj?.v) ?? columnOf(node.edgeObj?.w)
    if (column === undefined) continue
    const row = ranks.get(node.rank)
    if (row) row.push({ node, column })
    else ranks.set(node.rank, [{ node, column }])
  }
  for (const row of ranks.values()) {
    const places = row.map(({ node }) => node.order).sort((a, b) => a - b)
    const sorted = row.toSorted((a, b) => a.column - b.column || a.node.order - b.node.order)
    for (const [i, { node }] of sorted.entries()) node.order = places[i]!
  }
}

export function layOut(section: Section, width: keyof typeof sizes = 'wide'): Layout {
  const graph = new Graph()
  const { tensor, operation, gap } = sizes[width]
  const lines = new Map(section.nodes.map((node) => [node.id, linesBelow(node, width)]))
  // The type has its place among the first lines: on the one of the role, or below it.
  const more = (id: string) => Math.max(0, (lines.get(id)?.length ?? 0) - (width === 'wide' ? 1 : 2))
  graph.setGraph({
    rankdir: 'TB',
    nodesep: gap,
    edgesep: gap - 4,
    ranksep: 22,
    marginx: margin,
    marginy: margin,
  })
  const nodes = new Map(section.nodes.map((node) => [node.id, node]))
  for (const node of section.nodes)
    graph.setNode(nameOf(node.id), {
      ...(node.role === '' ? operation : { ...tensor, height: tensor.height + more(node.id) * linePixels }),
      // A long title needs more than most operations.
      ...(node.title.length > longTitle && { width: tensor.width }),
    })
  const labels = new Map<string, string>()
  for (const [from, to] of section.edges) {
    const width = nodes.get(from)?.width ?? 0
    const label = width > 0 ? labelOf(width) : ''
    labels.set(`${from} ${to}`, label)
    graph.setEdge(nameOf(from), nameOf(to), {
      width: label.length * digitPixels,
      height: label ? 15 : 0,
      labelpos: 'c',
    })
  }
  layout(graph, {
    customOrder: (ranked, order) => {
      order(ranked, {})
      sortColumns(ranked)
    },
  })
  return placedIn(graph, section, labels, lines)
}

/** What stands below the title of a step: the role, and the type beside it or on a line of its own. */
function linesBelow({ role, tensors }: GraphNode, width: keyof typeof sizes): string[] {
  const main = mainOf(tensors)
  if (!main) return []
  const { characters } = sizes[width]
  const name = oneLine(role, 60)
  return width === 'wide'
    ? linesOf(`${name} ${main.type}`, characters)
    : [...linesOf(name, characters), main.type]
}

/** The tensor that stands for a step. */
export const mainOf = (tensors: GraphNode['tensors']) =>
  tensors.find(({ name }) => name.endsWith('.weight')) ?? tensors[0]

/** The places that dagre gave the steps and lines. */
function placedIn(
  graph: Graph,
  section: Section,
  labels: ReadonlyMap<string, string>,
  below: ReadonlyMap<string, string[]>,
): Layout {
  const size = graph.graph() as { width?: number; height?: number }
  const placedNodes = section.nodes.map((node) => {
    const { x, y, width, height } = graph.node(nameOf(node.id)) as Point & { width: number; height: number }
    const lines = below.get(node.id) ?? []
    return { ...node, left: x - width / 2, top: y - height / 2, wide: width, high: height, lines }
  })
  const lines = section.edges.map(([from, to]) => {
    const { points, x, y } = graph.edge(nameOf(from), nameOf(to)) as { points: Point[] } & Partial<Point>
    return { key: `${from} ${to}`, points, label: { x, y } }
  })
  // dagre's width leaves out lines that pass beside all steps.
  const across = lines.flatMap(({ points }) => points.map(({ x }) => x))
  const shift = Math.max(0, margin - Math.min(...across))
  const right = Math.max(size.width ?? 0, Math.max(...across) + margin)
  return {
    width: Math.ceil(right + shift),
    height: Math.ceil(size.height ?? 0),
    // From the top down: keys go through the steps in this order.
    nodes: placedNodes
      .map((node) => ({ ...node, left: node.left + shift }))
      .sort((a, b) => a.top - b.top || a.left - b.left),
    edges: lines.map(({ key, points, label }) => {
      const moved = points.map(({ x, y }) => ({ x: x + shift, y }))
      const middle = moved[points.length >> 1]
      return {
        key,
        path: pathOf(moved),
        label: labels.get(key) ?? '',
        x: label.x === undefined ? (middle?.x ?? 0) : label.x + shift,
        y: label.y ?? middle?.y ?? 0,
      }
    }),
  }
}

/** The layout of a phone: with smaller steps if all of it then is in view. */
export function layOutIn(section: Section, room: number): Layout {
  const narrow = layOut(section, 'narrow')
  if (narrow.width <= room) return narrow
  const narrowest = layOut(section, 'narrowest')
  return narrowest.width <= room ? narrowest : narrow
}

const labelOf = (width: number) => (width < 100_000 ? String(width) : compact(width).replace(/\s/, ''))
