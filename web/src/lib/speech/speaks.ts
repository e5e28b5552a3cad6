// Which files have the panel Speak.
import type { GgufFile } from 'ggufscope'

/** Architectures of models that make speech of a text, with their projector. A test compares them with the core's. */
export const kSpeakers: readonly string[] = ['pockettts', 'qwen3tts']

export const speaks = (file: GgufFile) => kSpeakers.includes(file.summary().architecture ?? '')
