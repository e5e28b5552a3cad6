// Decides questions with the engine: images and audio are encoded first, then each prompt is one pass.
import { callBack } from '../api/callbacks.js'
import type { GgufFile } from '../api/file.js'
import { checkReadsMedia, decideQuestions, type Decided } from '../decision/decide.js'
import type { DecideOptions, DecisionState } from '../decision/types.js'
import type { EngineCalls } from './model-engine.js'
import type { EncodeMediaOptions, MediaPart } from './types.js'

/** The tokens of an image or sound. */
export type EncodeMedium = (part: MediaPart, options: EncodeMediaOptions) => Promise<readonly number[]>

interface DecideHost {
  readonly client: Pick<EngineCalls, 'call'>
  readonly sequence: number
  readonly file: GgufFile
  readonly encode: EncodeMedium
}

export async function decideAbout(
  { client, sequence, file, encode }: DecideHost,
  { state, media = [] }: DecisionState,
  questions: unknown,
  { signal, onDone }: DecideOptions,
): Promise<Decided> {
  signal?.throwIfAborted()
  if (media.length > 0) checkReadsMedia(file)
  const seen: (readonly number[])[] = []
  let imagesBefore = 0
  for (const part of media) {
    seen.push(await encode(part, { signal, imagesBefore }))
    if (part.type === 'image') imagesBefore++
  }
  const ids = (list: readonly number[]): Int32Array => Int32Array.from(list)
  const scorer = {
    scores: (tokens: readonly number[], parts: readonly number[]) =>
      client.call('decide', { sequence, tokens: ids(tokens), parts: ids(parts) }, { signal }),
    rows: (tokens: readonly number[]) =>
      client.call('embed', { sequence, tokens: ids(tokens), pooling: 'none' }, { signal }),
    logits: (tokens: readonly number[]) =>
      client.call('evaluateLast', { sequence, tokens: ids(tokens) }, { signal }),
  }
  const decided = await decideQuestions(file, state, questions, scorer, seen)
  await callBack(onDone, { tokens: decided.tokens })
  return decided
}
