// Refuses files that no loader takes: an estimate would be sure of what cannot run.
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import { lintAdapter } from '../edit/lint-adapter.js'
import { kArchitectures } from './rules.js'
import type { ModelShape } from './shape.js'

const kShown = 3

function refuse(what: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  const more = problems.length > kShown ? ` (and ${problems.length - kShown} more)` : ''
  throw new GgufError(
    'unsupported',
    `Nothing is estimated, because no loader takes ${what}: ${problems.slice(0, kShown).join('; ')}${more}.`,
    { problems },
  )
}

// The data may still be missing, and a chat template matters only later.
const kWithoutEffect = /^(data-size|data-truncated|template)/

/** The errors that lint finds. A preview, which lint does not take, has none. */
const errorsOf = (file: GgufFile) =>
  file.complete && file.container === 'gguf'
    ? file
        .lint()
        .flatMap(({ level, code, message }) =>
          level === 'error' && !kWithoutEffect.test(code) ? [message.replace(/\.$/, '')] : [],
        )
    : []

/** What the header alone shows, of a preview, too. */
function missingParts({ architecture, layers, embedding, executed }: ModelShape): string[] {
  const missing: string[] = []
  if (layers.length === 0 || executed === 0)
    missing.push(`${architecture}.block_count is missing or 0, so the number of layers is unknown`)
  if (embedding === 0) missing.push(`${architecture}.embedding_length is missing or 0`)
  // Some architectures have no layers of the usual names.
  const empty = layers.findIndex(({ tensors, computes = tensors }) => computes.length === 0)
  if (empty > 0) missing.push(`layer ${empty} has no tensors`)
  const caches = layers.flatMap((layer) => layer.caches)
  if (caches.length > 0 && caches.every(({ k, v }) => k + v === 0))
    missing.push(
      `${architecture}.attention.head_count is missing or 0, so the size of keys and values is unknown`,
    )
  return missing
}

/** Error: 'unsupported', with what is wrong. `what`: "the file", "the draft model". */
export function mustLoad(file: GgufFile, shape: ModelShape, what: string): void {
  if (shape.sound !== undefined) return refuse(what, errorsOf(file))
  if (!kArchitectures.has(shape.architecture))
    throw new GgufError(
      'unsupported',
      `What the architecture ${JSON.stringify(shape.architecture.slice(0, 64))} of ${what} stores is not known.`,
    )
  refuse(what, missingParts(shape))
  refuse(what, errorsOf(file))
}

/** For a model that speaks by itself as one of the two. */
export function mustDraft(model: ModelShape, draft: ModelShape): void {
  if (model.sound !== undefined || draft.sound !== undefined)
    refuse('the draft model with this model', ['a model that speaks by itself drafts nothing'])
}

/** The widths that a projector's last matrices can have as their result. */
function projectedWidths({ tensors }: GgufFile): ReadonlySet<number> {
  const last = tensors.filter(({ name }) => /^(mm\b|mm_|resampler\.|adapter\.|model\.)/.test(name))
  const outside = last.length > 0 ? last : tensors.filter(({ name }) => !name.includes('.blk.'))
  return new Set(
    outside.flatMap(({ name, shape }) =>
      // Gemma's matrix is stored the other way round.
      name.includes('input_projection') ? shape : [shape.at(shape.length > 1 ? 1 : 0) ?? 0],
    ),
  )
}

export function mustBeProjector(file: GgufFile, { embedding }: ModelShape): void {
  const { kind } = file.summary()
  if (kind !== 'projector') refuse('it as a projector', [`the file for mmproj is of the kind ${kind}`])
  refuse('the projector', errorsOf(file))
  const widths = projectedWidths(file)
  if (!widths.has(embedding))
    refuse('the projector with this model', [
      `none of its matrices gives rows of ${embedding}, the model's width: they give ${[...widths].slice(0, 4).join(', ')}`,
    ])
}

export function mustBeAdapter(file: GgufFile, base: GgufFile): void {
  const { kind } = file.summary()
  if (kind !== 'adapter') refuse('it as an adapter', [`the file for lora is of the kind ${kind}`])
  refuse('the adapter', errorsOf(file))
  const problems = lintAdapter(file, base).filter(({ level }) => level === 'error')
  refuse(
    'the adapter with this model',
    problems.map(({ message }) => message.replace(/\.$/, '')),
  )
}
