// What an estimate of a model's memory depends on: its context, and which program the figures are for.
import type { GgufFile } from 'ggufscope'
import { kDefaultContext } from '../../../../wasm/src/memory/rules'
import { hears } from '../page/panel'
import { summaryOf } from '../page/summary'
import { speaksAlone } from '../speech/speaks'

const kLongest = 2 ** 24

/** In tokens; that of a model for speech is its decoder's. undefined: the file has none. */
export function trainedContext(file: GgufFile): number | undefined {
  const { architecture, contextLength } = summaryOf(file)
  const decoder = file.metadata.get(`${architecture}.decoder.context_length`)
  return contextLength ?? (typeof decoder === 'number' ? decoder : undefined)
}

/** The longest context that is offered, in tokens. */
export const longestContext = (file: GgufFile): number =>
  Math.max(1, Math.min(trainedContext(file) ?? kDefaultContext, kLongest))

/** Whether the file is a model of speech alone, which llama.cpp does not run. */
export const isOfSpeech = (file: GgufFile): boolean => hears(file) || speaksAlone(file)

/** Whether llama.cpp opens such files. It has no loader for the containers from before GGUF. */
export const isForLlamaCpp = (file: GgufFile): boolean => file.container === 'gguf' && !isOfSpeech(file)
