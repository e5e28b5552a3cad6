// The object that load() returns for an engine.
import type { OpenFile } from '../file/file.js'
import { isSpeech } from './file-kinds.js'
import type { EngineCalls } from './model-engine.js'
import { TextModel, type ModelFacts } from './model.js'
import type { LoadedModel } from './types.js'
import { WhisperModel } from './whisper-model.js'

/** ownsFile: close() also closes the file. */
export function modelOf(
  { file, engine, facts }: { file: OpenFile; engine: EngineCalls; facts: ModelFacts },
  ownsFile: boolean,
): LoadedModel {
  return isSpeech(file)
    ? new WhisperModel(file, engine, ownsFile)
    : TextModel.of(file, engine, facts, ownsFile)
}
