// A panel is one row here and one file that is loaded when it is first shown.
import type { GgufFile } from 'ggufscope'
import type { Component } from 'svelte'
import { count } from './lib/format'
import { findingsOf } from './lib/memo'

export interface PanelProps {
  file: GgufFile
  label: string
}

export interface Panel {
  id: string
  title: string
  load: () => Promise<{ default: Component<PanelProps> }>
  /** a short figure beside the title */
  badge?: (file: GgufFile) => string
}

export const panels: readonly Panel[] = [
  { id: 'overview', title: 'Overview', load: () => import('./panels/Overview.svelte') },
  {
    id: 'metadata',
    title: 'Metadata',
    load: () => import('./panels/Metadata.svelte'),
    badge: (file) => count(file.metadata.size),
  },
  {
    id: 'tensors',
    title: 'Tensors',
    load: () => import('./panels/Tensors.svelte'),
    badge: (file) => count(file.tensors.length),
  },
  {
    id: 'findings',
    title: 'Findings',
    load: () => import('./panels/Findings.svelte'),
    badge: (file) => count(findingsOf(file).length),
  },
]
