// The panels: each is one row here, and one file that is loaded when the panel is first shown.
import type { GgufFile } from 'ggufscope'
import type { Component } from 'svelte'
import { count } from './lib/language/format'
import { findingCountOf } from './lib/contents/findings.svelte'
import { pending } from './lib/file/pending.svelte'
import { rest } from './lib/file/rest.svelte'
import { runsAlone, type PanelProps } from './lib/page/panel'
import { speaks } from './lib/speech/speaks'
import type { Plain } from './texts/text'

export interface Panel {
  id: string
  title: Plain
  load: (file: GgufFile) => Promise<{ default: Component<PanelProps> }>
  /** a short figure beside the title; an empty text keeps the place for one */
  badge?: (file: GgufFile) => string | undefined
  /** whether it needs the complete header, including what a preview leaves out */
  whole?: boolean
  /** whether the file contains what the panel shows; absent: always true */
  fits?: (file: GgufFile) => boolean
}

/** Loads a panel that needs the tokenizer. If there is none, the panel shows the reason. */
async function withTokenizer<T>(file: GgufFile, panel: Promise<T>): Promise<T> {
  await file.loadTokenizer().catch(() => undefined)
  return await panel
}

const hasVocabulary = ({ metadata }: GgufFile) =>
  metadata.has('tokenizer.ggml.tokens') || metadata.has('tokenizer.rwkv.world')

/** Whether the file is a Whisper model. */
const hears = (file: GgufFile) => file.summary().architecture === 'whisper'

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
  {
    id: 'edit',
    title: 'Edit',
    load: () => import('./panels/Edit.svelte'),
    badge: () => (pending.count > 0 ? count(pending.count) : undefined),
    whole: true,
    fits: (file) => file.container === 'gguf',
  },
  {
    id: 'convert',
    title: 'Convert',
    load: () => import('./panels/Convert.svelte'),
    whole: true,
    fits: (file) => file.tensors.length > 0,
  },
  {
    id: 'tokenizer',
    title: 'Tokenizer',
    load: (file) => withTokenizer(file, import('./panels/Tokenizer.svelte')),
    whole: true,
    fits: hasVocabulary,
  },
  {
    id: 'chat',
    title: 'Template',
    load: (file) => withTokenizer(file, import('./panels/Chat.svelte')),
    whole: true,
    fits: (file) => file.summary().hasChatTemplate,
  },
  {
    id: 'compare',
    title: 'Compare',
    load: () => import('./panels/Compare.svelte'),
  },
  {
    id: 'memory',
    title: 'Memory',
    load: () => import('./panels/Memory.svelte'),
    fits: runsAlone,
  },
  {
    id: 'run',
    title: 'Run',
    load: () => import('./panels/Run.svelte'),
    fits: (file) => file.tensors.length > 0 && hasVocabulary(file) && !hears(file) && !speaks(file),
  },
  {
    id: 'transcribe',
    title: 'Transcribe',
    load: () => import('./panels/Transcribe.svelte'),
    fits: (file) => file.tensors.length > 0 && hears(file),
  },
  {
    id: 'speak',
    title: 'Speak',
    load: () => import('./panels/Speak.svelte'),
    whole: true,
    fits: (file) => file.tensors.length > 0 && speaks(file),
  },
]
