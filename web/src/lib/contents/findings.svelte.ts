// The findings of lint for each open file, computed once: in a worker if the file is long.
import type { Finding, GgufFile, LintDataOptions, TensorInfo } from 'ggufscope'
import { count } from '../language/format'
import { nextTask } from '../page/later'
import { isLong, lintInWorker } from './lint'

// Incremented when findings were updated, so that dependent values are recomputed.
let version = $state(0)
const known = new WeakMap<GgufFile, readonly Finding[]>()
const started = new WeakSet<GgufFile>()
const withLater = new WeakSet<GgufFile>()
const templatesChecked = new WeakSet<GgufFile>()
const laterFailures = new WeakMap<GgufFile, unknown>()

/**
 * The findings of a file, computed once; undefined until they are known. Trailing data is described more exactly
 * when its first bytes were read.
 */
export function findingsOf(file: GgufFile): readonly Finding[] | undefined {
  const findings = version >= 0 ? known.get(file) : undefined
  if (findings || started.has(file)) return findings && [...findings, ...(flaws.get(file) ?? [])]
  started.add(file)
  void lint(file)
  return undefined
}

async function lint(file: GgufFile): Promise<void> {
  try {
    const found = isLong(file) ? await lintInWorker(file).catch(() => undefined) : undefined
    if (!found) await nextTask()
    const findings = found ?? file.lint()
    known.set(file, findings)
    version++
    if (findings.some(isBehind)) void lookBehind(file)
  } catch {
    // The file was closed meanwhile.
  }
}

/**
 * findingsOf with those of the chat templates and of mistyped keys, for what lists findings. These checks load code that other
 * pages do not need.
 */
export function allFindingsOf(file: GgufFile): readonly Finding[] | undefined {
  const findings = findingsOf(file)
  if (findings && !withLater.has(file)) {
    withLater.add(file)
    void lintLater(file)
  }
  return findings
}

async function lintLater(file: GgufFile): Promise<void> {
  try {
    const lists = await Promise.all([file.lintTemplates(), file.lintKeys()])
    known.set(file, [...(known.get(file) ?? []), ...lists.flat()])
    templatesChecked.add(file)
  } catch (error) {
    laterFailures.set(file, error)
  }
  version++
}

/** Why these checks could not be made, e.g. without a network; undefined: they are, or are being made. */
export const checkFailureOf = (file: GgufFile): unknown =>
  version >= 0 ? laterFailures.get(file) : undefined

/** Makes them again when the findings are read. */
export function checkAgain(file: GgufFile): void {
  laterFailures.delete(file)
  withLater.delete(file)
  version++
}

/** Whether all checks are done, those of the chat templates and of mistyped keys too. */
export const isChecked = (file: GgufFile): boolean => version >= 0 && templatesChecked.has(file)

/** The number of findings; "3+" while the chat templates are not checked, empty while none is found yet. */
export function findingCountOf(file: GgufFile): string | undefined {
  const findings = findingsOf(file)
  if (!findings) return undefined
  const isWhole =
    templatesChecked.has(file) ||
    ![...file.metadata.keys()].some((key) => key.startsWith('tokenizer.chat_template'))
  if (!isWhole && findings.length === 0) return ''
  return `${count(findings.length)}${isWhole ? '' : '+'}`
}

const loadChecks = new WeakMap<GgufFile, 'running' | 'done'>()

/** How far the check of what load() refuses is; undefined: not asked for. */
export const loadCheckOf = (file: GgufFile) => (version >= 0 ? loadChecks.get(file) : undefined)

/** Adds what load() refuses to the findings. It loads the engine, and no weights. Errors: those of lintLoad(). */
export async function checkLoad(file: GgufFile): Promise<void> {
  if (loadChecks.has(file)) return
  const setState = (state?: 'running' | 'done') => {
    if (state) loadChecks.set(file, state)
    else loadChecks.delete(file)
    version++
  }
  setState('running')
  try {
    const { lintLoad } = await import('ggufscope/engine')
    const findings = await lintLoad(file)
    known.set(file, [...(known.get(file) ?? []), ...findings])
    setState('done')
  } catch (error) {
    setState()
    throw error
  }
}

/** Tensors whose values are NaN or infinite, as far as values were read. */
const flaws = new WeakMap<GgufFile, readonly Finding[]>()
const dataChecked = new WeakSet<GgufFile>()

/** Whether the values of all tensors were checked. */
export const isDataChecked = (file: GgufFile): boolean => version >= 0 && dataChecked.has(file)

/** Whether values of a tensor that were read are NaN or infinite. */
export const isDamaged = (file: GgufFile, { offset, byteLength, shard }: TensorInfo): boolean =>
  version >= 0 &&
  (flaws.get(file) ?? []).some(
    (flaw) =>
      flaw.shard === shard && (flaw.offset ?? 0) >= offset && (flaw.offset ?? 0) < offset + byteLength,
  )

/** Adds a finding of a tensor that was read, with so many values that are NaN or infinite. */
export function addFlaw(file: GgufFile, tensor: TensorInfo, amount: number): void {
  const { name, type, elementCount, offset, shard } = tensor
  const short = name.length > 60 ? `${name.slice(0, 60)}...` : name
  const message = `tensor '${short}' of ${type} is damaged in ${amount} of ${elementCount} element${elementCount === 1 ? '' : 's'}`
  const before = flaws.get(file) ?? []
  // The check of all values names the place.
  if (dataChecked.has(file) || before.some((one) => one.message === message)) return
  flaws.set(file, [...before, { level: 'error', code: 'tensor-data-invalid', message, offset, shard }])
  version++
}

/** Reads the values of all tensors, and adds those that are NaN or infinite to the findings. Errors: those of lintData(). */
export async function checkData(file: GgufFile, options: LintDataOptions): Promise<void> {
  flaws.set(file, await file.lintData(options))
  dataChecked.add(file)
  version++
}

const isBehind = ({ code }: Finding): boolean => code === 'trailing-data'

async function lookBehind(file: GgufFile): Promise<void> {
  // If the file was closed meanwhile or its server is unreachable, the finding stays as it is.
  const behind = (await file.damage().catch(() => [])).filter(isBehind)
  if (behind.length === 0) return
  known.set(
    file,
    (known.get(file) ?? []).map(
      (one) => (isBehind(one) && behind.find(({ shard }) => shard === one.shard)) || one,
    ),
  )
  version++
}
