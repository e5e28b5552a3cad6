// The panels: each is one row here or in reading-panels.ts, and one file that is loaded when the panel is first shown.
import type { GgufFile } from 'ggufscope'
import { summaryOf } from './lib/page/summary'
import { count } from './lib/language/format'
import { pending } from './lib/file/pending.svelte'
import { hears, runsAlone, type Panel } from './lib/page/panel'
import { speaks, speaksAlone } from './lib/speech/speaks'
import { readingPanels } from './reading-panels'

/** Loads a panel that needs the tokenizer. If there is none, the panel shows the reason. */
async function withTokenizer<T>(file: GgufFile, panel: Promise<T>): Promise<T> {
  return (await Promise.all([panel, file.loadTokenizer().catch(() => undefined)]))[0]
}

// Kokoro's tokens are an alphabet of phonemes.
const hasVocabulary = (file: GgufFile) =>
  (file.metadata.has('tokenizer.ggml.tokens') && !speaksAlone(file)) ||
  file.metadata.has('tokenizer.rwkv.world')

export const panels: readonly Panel[] = [
  ...readingPanels,
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
    // A vocabulary in an older format becomes GGUF, too.
    fits: (file) => file.tensors.length > 0 || file.container !== 'gguf',
  },
  {
    id: 'tokenizer',
    title: 'Tokenizer',
    load: (file) => withTokenizer(file, import('./panels/Tokenizer.svelte')),
    whole: true,
    fits: hasVocabulary,
  },
  {
    id: 'template',
    title: 'Template',
    load: (file) => withTokenizer(file, import('./panels/Chat.svelte')),
    whole: true,
    // It says of an empty one what stands in for it.
    fits: (file) => summaryOf(file).hasChatTemplate || file.metadata.has('tokenizer.chat_template'),
    unfit:
      'This file has no chat template: Run continues texts with it, and answers no messages. Edit can add a template.',
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
