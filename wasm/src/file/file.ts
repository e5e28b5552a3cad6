// The file that open() returns.
import { kEditChecks, kLintChecks, kStatsChecks, kWindowChecks } from './method-checks.js'
import { checkOptions, kProgressChecks, kReadChecks, shown } from '../api/checks.js'
import type { Floats } from '../api/arrays.js'
import type { AssetOptions } from '../api/assets.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { GgufBuilder } from '../api/file.js'
import type { Header, TypeRow } from '../header/header.js'
import { hasVocabulary, HeaderMetadata } from '../header/metadata.js'
import { loadTextModule, textModule } from '../runtime/module.js'
import { chatTemplates, mayNeedKnownFormats } from '../text/chat-template.js'
import { loadedFormats, loadKnownFormats } from '../text/load-known-formats.js'
import { summarize } from '../header/summary.js'
import { FileTokenizer } from '../text/tokenizer.js'
import type { EditOptions } from '../api/edit.js'
import type { Finding, LintOptions } from '../api/findings.js'
import type { Container, LintDataOptions, MemoryOptions, Shard, StatsOptions, Summary } from '../api/file.js'
import type { MemoryEstimate } from '../api/memory.js'
import type { Metadata } from '../api/metadata.js'
import type { ReadOptions } from '../api/source.js'
import type { ReadRowsOptions, ReadWindowOptions, TensorInfo, TensorStats } from '../api/tensors.js'
import type {
  ChatMessage,
  ChatTemplate,
  RenderChatOptions,
  Tokenizer,
  TokenizerComparison,
} from '../api/text.js'
import { addOpened, type OpenedFile, type Part, type RowRange, type ShardPart } from './opened.js'

/** Tensors of types with unknown layout extend to the next tensor, including padding. */
function sizedByGaps(header: Header, shard: number, end: number | undefined): TensorInfo[] {
  const tensors = header.tensors(shard)
  const unknown = ({ typeId, elementCount }: TensorInfo): boolean =>
    elementCount > 0 && !header.type(typeId)?.blockSize
  if (!tensors.some(unknown)) return tensors
  const starts = [...tensors.map(({ offset }) => offset), ...(end === undefined ? [] : [end])].sort(
    (a, b) => a - b,
  )
  return tensors.map((tensor) => {
    if (!unknown(tensor)) return tensor
    const next = starts.find((start) => start > tensor.offset) ?? tensor.offset
    return { ...tensor, byteLength: next - tensor.offset }
  })
}

export class OpenFile implements OpenedFile {
  readonly #shards: readonly ShardPart[]
  readonly #first: Part
  #metadata: HeaderMetadata | undefined
  #tensors: readonly TensorInfo[] | undefined
  #byName: Map<string, TensorInfo> | undefined
  #tokenizer: FileTokenizer | undefined
  #chatTemplates: ReadonlyMap<string, ChatTemplate> | undefined

  /** The address of inspect.wasm; the other modules are next to it. */
  readonly hosting: AssetOptions | undefined

  readonly #findingsOfSet: (shards: readonly ShardPart[]) => Finding[]

  /** findingsOfSet: from shards.ts, which is not loaded for a single file. */
  constructor(
    shards: readonly ShardPart[],
    hosting?: AssetOptions,
    findingsOfSet: (shards: readonly ShardPart[]) => Finding[] = () => [],
  ) {
    this.#shards = shards
    this.#findingsOfSet = findingsOfSet
    this.hosting = hosting
    const first = shards.find(({ part }) => part)?.part
    if (!first) throw new GgufError('missing-shard', 'None of the files is there.')
    this.#first = first
    addOpened(this)
  }

  /** The header of the first part, for other parts of the package. */
  get header(): Header {
    return this.#first.header
  }

  /** All physical files that exist. */
  get parts(): readonly (Part | undefined)[] {
    return this.#shards.map(({ part }) => part)
  }

  /** The same, with the names of missing files. */
  get shardParts(): readonly ShardPart[] {
    return this.#shards
  }

  get container(): Container {
    return this.header.container
  }

  get version(): number {
    return this.header.facts().version
  }

  get endianness(): 'little' | 'big' {
    return this.header.facts().bigEndian ? 'big' : 'little'
  }

  get alignment(): number {
    return this.header.facts().alignment
  }

  get size(): number | undefined {
    return this.#first.source.size
  }

  get dataOffset(): number {
    return this.header.facts().dataOffset
  }

  get bytesRead(): number {
    return this.#shards.reduce((sum, { part }) => sum + (part?.header.length ?? 0), 0)
  }

  get name(): string | undefined {
    return this.#first.source.name
  }

  get complete(): boolean {
    return this.#shards.every(({ part }) => part?.header.gaps === undefined)
  }

  async completeHeader(options: ReadOptions = {}): Promise<void> {
    checkOptions('completeHeader()', options, kReadChecks)
    options.signal?.throwIfAborted()
    await Promise.all(this.#shards.map(async ({ part }) => part?.header.gaps?.load(undefined, options)))
  }

  #mustBeComplete(): void {
    for (const { part } of this.#shards) part?.header.mustHave()
  }

  get metadata(): Metadata {
    return (this.#metadata ??= new HeaderMetadata(this.header, this.hosting))
  }

  get tensors(): readonly TensorInfo[] {
    return (this.#tensors ??= this.#shards.flatMap(({ part }, i) =>
      part ? sizedByGaps(part.header, i, part.source.size) : [],
    ))
  }

  get shards(): readonly Shard[] {
    return this.#shards.map(({ name, part }) => ({
      name: part?.source.name ?? name,
      present: part !== undefined,
      size: part?.source.size,
      dataOffset: part?.header.facts().dataOffset ?? 0,
      tensorCount: part?.header.facts().tensorsSeen ?? 0,
    }))
  }

  tensor(name: string): TensorInfo | undefined {
    if (!this.#byName) {
      this.#byName = new Map()
      for (const tensor of this.tensors)
        if (!this.#byName.has(tensor.name)) this.#byName.set(tensor.name, tensor)
    }
    return this.#byName.get(name)
  }

  /** The geometry of a tensor's type. Throws if the type's layout is unknown. */
  tensorType(tensor: TensorInfo): TypeRow {
    const type = this.header.type(tensor.typeId)
    if (type && type.blockSize > 0) return type
    throw new GgufError(
      'unsupported',
      `Tensor ${tensor.name} is of type ${tensor.type}, whose layout is not known, so its bytes cannot be read.`,
    )
  }

  summary(): Summary {
    return summarize(this.header, this.metadata, this.tensors)
  }

  lint(options: LintOptions = {}): Finding[] {
    checkOptions('lint()', options, kLintChecks)
    this.#mustBeComplete()
    const { strict = false } = options
    const each = this.#shards.flatMap(({ name, part }, shard): Finding[] => {
      if (part)
        return part.header
          .findings(part.source, strict ? 'strict' : 'usual')
          .map((finding) => ({ ...finding, shard }))
      const message = `the file ${name} of this split model is not there`
      return [{ level: 'error', code: 'missing-shard', message, shard }]
    })
    return [...each, ...this.#findingsOfSet(this.#shards)]
  }

  async damage(options: ReadOptions = {}): Promise<Finding[]> {
    checkOptions('damage()', options, kReadChecks)
    const [{ damageOf }, { findBehindData }] = await Promise.all([
      import('./damage.js'),
      import('./behind-data.js'),
      this.completeHeader(options),
    ])
    return [...damageOf(this), ...(await findBehindData(this, options))]
  }

  async lintData(options: LintDataOptions = {}): Promise<Finding[]> {
    checkOptions('lintData()', options, kProgressChecks)
    options.signal?.throwIfAborted()
    const { lintData } = await import('../tensors/lint-data.js')
    return await lintData(this, options)
  }

  async lintTemplates(options: ReadOptions = {}): Promise<Finding[]> {
    checkOptions('lintTemplates()', options, kReadChecks)
    await this.completeHeader(options)
    return await (await import('../text/lint-templates.js')).lintTemplates(this, options)
  }

  async lintKeys(options: ReadOptions = {}): Promise<Finding[]> {
    checkOptions('lintKeys()', options, kReadChecks)
    await this.completeHeader(options)
    return (await import('../edit/mistyped-keys.js')).lintKeys(this.metadata)
  }

  /** Files from before GGUF list tokens without the keys that say how to use them, but for LLaMA's. */
  get #hasOldVocabulary(): boolean {
    return this.container !== 'gguf' && !this.metadata.has('tokenizer.ggml.model')
  }

  tokenizer(): Tokenizer {
    this.#mustBeComplete()
    if (!this.#tokenizer && this.#hasOldVocabulary)
      throw new GgufError(
        'incomplete',
        'The vocabulary of a file from before GGUF must be converted: await loadTokenizer() first.',
      )
    return (this.#tokenizer ??= new FileTokenizer(this.header.allBytes(), textModule(this.hosting)))
  }

  async loadTokenizer(options: ReadOptions = {}): Promise<Tokenizer> {
    checkOptions('loadTokenizer()', options, kReadChecks)
    await Promise.all([loadTextModule(this.hosting), this.completeHeader(options)])
    if (mayNeedKnownFormats(this.metadata)) await loadKnownFormats()
    if (!this.#tokenizer && this.#hasOldVocabulary) {
      const { header } = await (await this.edit()).build(options)
      this.#tokenizer ??= new FileTokenizer(header, textModule(this.hosting))
    }
    return this.tokenizer()
  }

  async compareTokenizers(options: ReadOptions = {}): Promise<TokenizerComparison | undefined> {
    checkOptions('compareTokenizers()', options, kReadChecks)
    const json = this.metadata.get('tokenizer.huggingface.json')
    if (typeof json !== 'string') return undefined
    const [{ compareTokenizer }, tokenizer] = await Promise.all([
      import('../text/huggingface-json.js'),
      this.loadTokenizer(options),
    ])
    return compareTokenizer(json, tokenizer, this.metadata.offset('tokenizer.huggingface.json') ?? 0)
  }

  get chatTemplates(): ReadonlyMap<string, ChatTemplate> {
    this.#mustBeComplete()
    const templates = this.#chatTemplates ?? chatTemplates(this.metadata, () => this.tokenizer())
    // Until the known formats are loaded, their names are not known.
    if (loadedFormats() || !mayNeedKnownFormats(this.metadata)) this.#chatTemplates = templates
    return templates
  }

  async renderChat(messages: readonly ChatMessage[], options: RenderChatOptions = {}): Promise<string> {
    const [{ renderChat }] = await Promise.all([
      import('../text/render-chat.js'),
      this.completeHeader(),
      hasVocabulary(this.metadata) ? loadTextModule(this.hosting) : undefined,
    ])
    if (mayNeedKnownFormats(this.metadata)) await loadKnownFormats()
    return (await renderChat(this, messages, options)).text
  }

  async read(name: string, options: ReadWindowOptions = {}): Promise<Uint8Array> {
    checkOptions('read()', options, kWindowChecks)
    options.signal?.throwIfAborted()
    if (options.columns !== undefined)
      return await (await import('../tensors/window.js')).readWindow(this, name, options)
    const { source, offset, byteLength } = this.rowRange(name, options)
    return await source.read(offset, byteLength, { signal: options.signal })
  }

  async dequantize(name: string, options: ReadWindowOptions = {}): Promise<Floats> {
    checkOptions('dequantize()', options, kWindowChecks)
    options.signal?.throwIfAborted()
    if (options.columns !== undefined)
      return await (await import('../tensors/window.js')).dequantizeWindow(this, name, options)
    const { dequantizeRows } = await import('../tensors/values.js')
    return await dequantizeRows(this, name, options)
  }

  async stats(name: string, options: StatsOptions = {}): Promise<TensorStats> {
    checkOptions('stats()', options, kStatsChecks)
    options.signal?.throwIfAborted()
    const { tensorStats } = await import('../tensors/stats.js')
    return await tensorStats(this, name, options)
  }

  async memory(options: MemoryOptions = {}): Promise<MemoryEstimate> {
    const { estimateMemory } = await import('../memory/estimate.js')
    return estimateMemory(this, options)
  }

  async edit(options: EditOptions = {}): Promise<GgufBuilder> {
    checkOptions('edit()', options, kEditChecks)
    const [{ edit }] = await Promise.all([import('../edit/builder.js'), this.completeHeader()])
    return edit(this, options)
  }

  /** The byte range of whole rows of a tensor. */
  rowRange(which: string | TensorInfo, { rows, superBlock }: ReadRowsOptions): RowRange {
    const tensor = typeof which === 'object' && which !== null ? which : this.tensor(which)
    if (!tensor?.shape)
      throw new GgufError('not-found', `There is no tensor "${String(which)}" in this file.`)
    const { name } = tensor
    const usual = this.tensorType(tensor)
    const part = this.#shards[tensor.shard]?.part
    const small =
      usual.smallBlockBytes > 0 &&
      (superBlock === undefined ? part?.header.facts().smallBlocks === true : superBlock === 64)
    const type = small ? { ...usual, blockSize: 64, blockBytes: usual.smallBlockBytes } : usual
    const rowLength = tensor.shape[0] ?? 1
    const rowCount = rowLength === 0 ? 0 : tensor.elementCount / rowLength
    const [from = -1, to = -1]: readonly number[] =
      rows === undefined ? [0, rowCount] : Array.isArray(rows) ? rows : []
    if (!(Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from <= to && to <= rowCount))
      throw new GgufError(
        'invalid-argument',
        `Tensor ${name} has ${counted(rowCount, 'row')}: rows must be [from, to], not ${shown(rows)}.`,
      )
    if (rowLength % type.blockSize !== 0) {
      throw new GgufError(
        'bad-shape',
        `Rows of ${counted(rowLength, 'element')} are no whole blocks of ${type.blockSize}: tensor ${name} cannot be ${type.name}.` +
          (!small && type.smallBlockBytes > 0 && rowLength % 64 === 0
            ? ' It may be of an early build: { superBlock: 64 }.'
            : ''),
      )
    }
    const rowBytes = (rowLength / type.blockSize) * type.blockBytes
    if (!part) throw new GgufError('missing-shard', `The file that holds tensor ${name} is not there.`)
    void part.header.document // throws when closed
    return {
      tensor,
      type,
      source: part.source,
      offset: tensor.offset + from * rowBytes,
      byteLength: (to - from) * rowBytes,
      rowLength,
      small,
    }
  }

  close(): void {
    for (const { part } of this.#shards) {
      part?.header.close()
      part?.source.close?.()
    }
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
