// The panels that only read a file. The viewer shows them first; the element <gguf-viewer> shows no others.
import { findingCountOf } from './lib/contents/findings.svelte'
import { rest } from './lib/file/rest.svelte'
import { keyCountOf } from './lib/contents/describe'
import { count } from './lib/language/format'
import type { Panel } from './lib/page/panel'

export const readingPanels: readonly Panel[] = [
  { id: 'overview', title: 'Overview', load: () => import('./panels/Overview.svelte') },
  {
    id: 'metadata',
    title: 'Metadata',
    load: () => import('./panels/Metadata.svelte'),
    badge: (file) => count(keyCountOf(file)),
  },
  {
    id: 'tensors',
    title: 'Tensors',
    load: () => import('./panels/Tensors.svelte'),
    badge: (file) => count(file.tensors.length),
  },
  {
    id: 'graph',
    title: 'Graph',
    load: () => import('./panels/Graph.svelte'),
    fits: (file) => file.tensors.length > 0,
  },
  {
    id: 'findings',
    title: 'Findings',
    load: () => import('./panels/Findings.svelte'),
    badge: (file) => (rest.isComplete(file) ? findingCountOf(file) : undefined) ?? '…',
    whole: true,
  },
]
