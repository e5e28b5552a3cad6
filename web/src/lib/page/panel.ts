// What every panel receives, what its row says, and which files have the panels that need weights.
import type { GgufFile } from 'ggufscope'
import type { Component } from 'svelte'
import { summaryOf } from './summary'
import type { Plain } from '../../texts/text'

export interface PanelProps {
  file: GgufFile
  label: string
}

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
  /** why it may not fit, and what there is instead */
  unfit?: Plain
}

/** Whether the file is a model with weights, whose memory can be estimated. */
export const runsAlone = (file: GgufFile) => file.tensors.length > 0 && summaryOf(file).kind === 'model'

/** Whether the file is a Whisper model. */
export const hears = (file: GgufFile): boolean => summaryOf(file).architecture === 'whisper'
