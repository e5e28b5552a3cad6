// The public information about a loaded model.
import type { GgufFile } from '../api/file.js'
import { abilitiesOf } from './abilities.js'
import { labelsOf } from './embeddings.js'
import { kSpeaksAlone } from '../api/abilities.js'
import { namesIn } from './file-kinds.js'
import type { PlannedModel, Sizes } from './protocol.js'
import type { DeviceReport, ModelInfo } from './types.js'

/** The public information about a model. */
export function infoOf(
  file: GgufFile,
  opened: PlannedModel,
  { context, precision }: Sizes,
  {
    memory,
    projector,
    ...device
  }: DeviceReport & Pick<ModelInfo, 'memory'> & { projector: GgufFile | undefined },
): ModelInfo {
  const { vocabularySize, embeddingLength, layers, trainedContextLength, threads, encoder } = opened.facts
  const { pooling, pooledLength } = opened.facts
  return {
    architecture: opened.architecture,
    abilities: abilitiesOf(file, opened, projector),
    ...device,
    variant: opened.variant,
    variantReason: opened.reason,
    threads,
    precision,
    contextLength: context,
    trainedContextLength,
    vocabularySize,
    embeddingLength,
    pooledLength,
    pooling,
    labels: labelsOf(file, opened.architecture),
    voices: namesIn(file, `${kSpeaksAlone}.voices`),
    layers,
    encoder,
    memory,
  }
}
