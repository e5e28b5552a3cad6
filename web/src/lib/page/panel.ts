// What every panel receives, and which files have the panels that need weights.
import type { GgufFile } from 'ggufscope'

export interface PanelProps {
  file: GgufFile
  label: string
}

/** Whether the file is a model with weights, whose memory can be estimated. */
export const runsAlone = (file: GgufFile) => file.tensors.length > 0 && file.summary().kind === 'model'
