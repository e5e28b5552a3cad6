// Which files have the panel Speak.
import type { GgufFile, LazyArray } from 'ggufscope'
import { summaryOf } from '../page/summary.ts'

/** Architectures of models that make speech of a text, with their projector. A test compares them with the core's. */
export const kSpeakers: readonly string[] = ['pockettts', 'qwen3tts']

/** OuteTTS is any text model whose vocabulary has codes of sound: its name, or its template's, says so. */
function isOuteTts({ metadata }: GgufFile): boolean {
  const names = ['general.name', 'general.basename', 'tokenizer.chat_template'].map((key) =>
    metadata.get(key),
  )
  return names.some((name) => typeof name === 'string' && /^[\w-]*oute[\s-]?tts/i.test(name))
}

/** Kokoro needs no projector, has voices by name, and reads phonemes. */
export const speaksAlone = (file: GgufFile) => summaryOf(file).architecture === 'kokoro'

export const speaks = (file: GgufFile) =>
  kSpeakers.includes(summaryOf(file).architecture ?? '') || isOuteTts(file) || speaksAlone(file)

/** Names of the voices of a file that speaks alone. */
export async function voicesOf({ metadata }: GgufFile, signal: AbortSignal): Promise<string[]> {
  const names = metadata.get('kokoro.voices') as LazyArray<string> | undefined
  if (!names) return []
  await names.load({ signal })
  return [...names]
}
