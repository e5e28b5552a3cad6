// Which files have the panel Speak.
import type { GgufFile } from 'ggufscope'

/** Architectures of models that make speech of a text, with their projector. A test compares them with the core's. */
export const kSpeakers: readonly string[] = ['pockettts', 'qwen3tts']

/** OuteTTS is any text model whose vocabulary has codes of sound: its name, or its template's, says so. */
function isOuteTts({ metadata }: GgufFile): boolean {
  const names = ['general.name', 'general.basename', 'tokenizer.chat_template'].map((key) =>
    metadata.get(key),
  )
  return names.some((name) => typeof name === 'string' && /^[\w-]*oute[\s-]?tts/i.test(name))
}

export const speaks = (file: GgufFile) =>
  kSpeakers.includes(file.summary().architecture ?? '') || isOuteTts(file)
