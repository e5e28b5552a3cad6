// The adapters of a model's sequences. The engine keeps an adapter while any sequence uses it.
import { GgufError } from '../api/errors.js'
import type { Source } from '../api/source.js'
import type { OpenFile } from '../file/file.js'
import { open, paths, readWhole, sourceOf } from '../file/open.js'
import type { Caller } from './client.js'
import { kindError } from './companions.js'
import type { AdapterFacts, ChosenAdapter, PlanDeviceCall } from './protocol.js'
import type { AdapterChoice, AdapterInfo } from './types.js'

// No adapter is this large. The limit stops a server that sends without end.
const kMaxBytes = 2 ** 31
const kAllLayers = 2 ** 32 - 1

/** The identity of a source: an address's text, otherwise the object itself. */
const keyOf = (source: Source): unknown => (source instanceof URL ? source.href : source)

const infoOf = ({ controlVector, targets, ignored, bytes }: AdapterFacts): AdapterInfo => ({
  kind: controlVector ? 'control-vector' : 'lora',
  targets,
  ignored,
  bytes,
})

function chosen({ scale = 1, layers }: AdapterChoice, id: number): ChosenAdapter {
  const [firstLayer, lastLayer] = layers ?? [0, kAllLayers]
  return { id, scale, firstLayer, lastLayer }
}

function check(choices: readonly AdapterChoice[]): void {
  const fail = (message: string): never => {
    throw new GgufError('invalid-argument', message)
  }
  if (!Array.isArray(choices)) fail(`Adapters are a list of { source, scale }, not ${String(choices)}.`)
  for (const choice of choices as readonly (AdapterChoice | null)[]) {
    if (typeof choice !== 'object' || choice === null || choice.source === undefined)
      return fail(`An adapter is { source, scale }, not ${String(choice)}.`)
    const { scale = 1, layers, kind } = choice
    if (kind !== undefined && kind !== 'lora' && kind !== 'control-vector')
      fail(`An adapter's kind must be 'lora' or 'control-vector', not ${String(kind)}.`)
    if (typeof scale !== 'number' || !Number.isFinite(Math.fround(scale)))
      fail(`An adapter's scale must be a finite number, not ${String(scale)}.`)
    if (layers === undefined) continue
    const isRange = Array.isArray(layers) && layers.length === 2
    if (!isRange || !layers.every((at) => Number.isSafeInteger(at) && at >= 0) || layers[0] > layers[1])
      fail(`An adapter's layers must be [first, last], not ${String(layers)}.`)
  }
}

const readAdapter = async (
  source: Source,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> =>
  (await readWhole(sourceOf(paths.resolve(source), { signal }), kMaxBytes, signal)) as Uint8Array<ArrayBuffer>

/** Says that a file, which the engine refused or which is not of the chosen kind, is of another kind. */
async function mustBeKind({ source, kind }: AdapterChoice, signal: AbortSignal | undefined): Promise<void> {
  const file = (await open(paths.resolve(source), { signal })) as OpenFile
  try {
    const isVector = file.summary().kind === 'control-vector'
    if (isVector && kind === undefined) return
    const error = kindError(file, kind === 'control-vector' ? kind : 'adapter', 'invalid-argument')
    if (error) throw error
  } finally {
    file.close()
  }
}

/** The adapters that a model on a graphics card is loaded with. */
export async function readAdapters(
  choices: readonly AdapterChoice[],
  signal: AbortSignal | undefined,
): Promise<PlanDeviceCall['adapters']> {
  check(choices)
  const read: { bytes: Uint8Array<ArrayBuffer>; scale: number }[] = []
  for (const { source, scale = 1 } of choices) read.push({ bytes: await readAdapter(source, signal), scale })
  return read
}

/**
 * Gives an engine the adapters of one that it replaces, whose sequences all had them. Their ids are the same, because
 * they are opened in the same order.
 */
export async function restoreAdapters(
  client: Caller,
  choices: readonly AdapterChoice[],
  sequences: number,
): Promise<void> {
  const adapters = new Adapters(client)
  for (let sequence = 0; sequence < sequences; sequence++) await adapters.set(sequence, choices, undefined)
}

export class Adapters {
  readonly #client: Caller
  readonly #open = new Map<unknown, AdapterFacts>()
  /** keys by sequence */
  readonly #used = new Map<number, readonly unknown[]>()

  constructor(client: Caller) {
    this.#client = client
  }

  /** The adapters of a sequence. */
  of(sequence: number): readonly AdapterInfo[] {
    return (this.#used.get(sequence) ?? []).flatMap((key) => {
      const facts = this.#open.get(key)
      return facts ? [infoOf(facts)] : []
    })
  }

  /** Opens missing adapters and sets the sequence's adapters. If one fails, nothing changes. */
  async set(
    sequence: number,
    choices: readonly AdapterChoice[],
    signal: AbortSignal | undefined,
  ): Promise<AdapterInfo[]> {
    check(choices)
    signal?.throwIfAborted()
    const before = this.#used.get(sequence) ?? []
    this.#used.set(sequence, [...before, ...choices.map(({ source }) => keyOf(source))])
    let kept = before
    try {
      const facts: AdapterFacts[] = []
      for (const choice of choices) facts.push(await this.#facts(choice, signal))
      const adapters = choices.map((choice, i) => chosen(choice, facts[i]!.id))
      await this.#client.call('setAdapters', { sequence, adapters }, { signal })
      kept = choices.map(({ source }) => keyOf(source))
      return facts.map(infoOf)
    } finally {
      this.#used.set(sequence, kept)
      await this.#closeUnused()
    }
  }

  fork(from: number, to: number): void {
    this.#used.set(to, this.#used.get(from) ?? [])
  }

  drop(sequence: number): void {
    this.#used.delete(sequence)
    this.#closeUnused().catch(() => {}) // the model was closed before
  }

  async #facts(choice: AdapterChoice, signal: AbortSignal | undefined): Promise<AdapterFacts> {
    const { source, kind } = choice
    const key = keyOf(source)
    const facts = this.#open.get(key) ?? (await this.#openAdapter(choice, signal))
    this.#open.set(key, facts)
    if (kind !== undefined && kind !== infoOf(facts).kind) await mustBeKind(choice, signal)
    return facts
  }

  async #openAdapter(choice: AdapterChoice, signal: AbortSignal | undefined): Promise<AdapterFacts> {
    try {
      const bytes = await readAdapter(choice.source, signal)
      return await this.#client.call('openAdapter', bytes, { signal, transfer: [bytes.buffer] })
    } catch (error) {
      if (error instanceof GgufError && !signal?.aborted) await mustBeKind(choice, signal)
      throw error
    }
  }

  async #closeUnused(): Promise<void> {
    const used = new Set([...this.#used.values()].flat())
    const unused = [...this.#open].filter(([key]) => !used.has(key))
    if (unused.length === 0) return
    for (const [key] of unused) this.#open.delete(key)
    await this.#client.call(
      'closeAdapters',
      unused.map(([, { id }]) => id),
    )
  }
}
