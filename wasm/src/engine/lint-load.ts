// Finds what keeps a file from being loaded: the engine's own checks, as findings of lint.
import { checkArgument, checkOptions } from '../api/checks.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { Finding } from '../api/findings.js'
import type { OpenFile } from '../file/file.js'
import { adapterProblems } from '../file/adapter-problems.js'
import { openedFile } from '../file/opened.js'
import { findingsOfWhole } from '../file/whole-model.js'
import { isSpeech, speaksAlone, whyNeverRun } from './file-kinds.js'
import { whyNoMemory64 } from './memory64.js'
import { connectWorker, createEngine, partsOf } from './open-model.js'
import { kLintLoadChecks } from './options.js'
import type { LintLoadOptions, Variant } from './types.js'

/** Whether the engine has checks for the file. found: what lint() finds in it */
function isChecked(file: OpenFile, found: readonly Finding[]): boolean {
  const { kind } = file.summary()
  if (file.tensors.length === 0) return false
  return (
    kind === 'projector' ||
    isSpeech(file) ||
    speaksAlone(file) ||
    (kind === 'model' && !found.some(({ code }) => /^architecture-(missing|unknown|keys)$/.test(code)))
  )
}

/** Whether the engine lacks what the file asks for, and the file may be right. found: what lint() finds */
const isLimit = (code: GgufErrorCode, found: readonly Finding[]): boolean =>
  code === 'unsupported' ||
  code === 'out-of-memory' ||
  // llama.cpp may know the tensor.
  (code === 'surplus-tensor' && !found.some((one) => one.code === 'tensor-unknown'))

/** Whether attention.causal makes a model that continues no text, and nothing says what it is for. */
function hidesItsUse(file: OpenFile): boolean {
  const { architecture } = file.summary()
  const key = (name: string) => file.metadata.get(`${architecture}.${name}`)
  return (
    key('attention.causal') === false &&
    ['pooling_type', 'decision.type'].every((name) => key(name) === undefined)
  )
}

/** The refusal of the headers, or of texts to continue, by one variant of the engine; undefined if it takes them. */
async function refusalBy(
  variant: Variant,
  file: OpenFile,
  options: LintLoadOptions,
): Promise<GgufError | undefined> {
  const { signal } = options
  const projector = options.projector as OpenFile | undefined
  const client = connectWorker(options, 'cpu')
  try {
    await createEngine(client, { ...options, threads: 1 }, variant)
    const legacy = file.container !== 'gguf'
    const headers = partsOf(file, projector).map(({ header }) => ({
      bytes: header.bytes(),
      // lint() says whether the file is cut.
      fileSize: undefined,
      speech: isSpeech(file) ? (legacy ? ('legacy' as const) : ('gguf' as const)) : undefined,
    }))
    const withProjector = projector !== undefined || file.summary().kind === 'projector'
    const reason = await client.call(
      'checkHeaders',
      { headers, withProjector },
      { signal, transfer: headers.map(({ bytes }) => bytes.buffer) },
    )
    return reason !== '' && hidesItsUse(file) ? new GgufError('unsupported', reason) : undefined
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof GgufError && !['aborted', 'closed', 'crashed', 'wasm'].includes(error.code))
      return error
    throw error
  } finally {
    client.end()
  }
}

/** The engine's refusal; load() takes 64-bit memory for what 32-bit addresses do not reach. */
async function refusalOf(file: OpenFile, options: LintLoadOptions): Promise<GgufError | undefined> {
  const refused = await refusalBy('simd', file, options)
  const isTooLarge = refused?.code === 'out-of-memory' && !isSpeech(file) && whyNoMemory64() === undefined
  return isTooLarge ? await refusalBy('memory64', file, options) : refused
}

/** What lint finds in the files of a split model together. found: what it finds in each of them, which is left out */
async function findingsOfSet(file: OpenFile, found: readonly Finding[]): Promise<Finding[]> {
  if (file.shardParts.length === 1) return []
  const known = new Set(found.map(({ message }) => message))
  return (await findingsOfWhole(file, 'usual')).filter(({ message }) => !known.has(message))
}

/**
 * Checks what `load()` checks before it reads weights: the values of hyper-parameters, of a projector's keys, and of an
 * adapter's scale and types, the shapes of tensors, and whether a projector belongs to the model. What it refuses is a
 * finding of the code 'load', of level 'error'; what this engine cannot do although the file may be right is a 'note'. The
 * engine is loaded for it, but no weights are read. Of a split model it also has the findings of the rules that need all
 * its files, such as those on missing tensors. It does not repeat what `lint()` says of missing tensors and of a file that
 * is cut. It has no findings for files of other programs, nor for a set with missing files. Errors: 'wasm' if the engine
 * cannot be loaded.
 */
export async function lintLoad(file: GgufFile, options: LintLoadOptions = {}): Promise<Finding[]> {
  checkArgument('lintLoad()', 'file', file, openedFile)
  checkOptions('lintLoad()', options, kLintLoadChecks)
  const { signal, projector } = options
  await file.completeHeader({ signal })
  await projector?.completeHeader({ signal })
  const opened = file as OpenFile
  const alone = file.lint()
  const finding = (error: GgufErrorCode, message: string, offset?: number): Finding => ({
    level: isLimit(error, alone) ? 'note' : 'error',
    code: 'load',
    message,
    ...(offset ? { offset } : {}),
    shard: 0,
    error,
  })
  if (file.summary().kind === 'adapter')
    return adapterProblems(file).map(({ code, message, offset }) => finding(code, message, offset))
  const why = whyNeverRun(opened)
  if (why !== undefined) return [finding('unsupported', why.replace(/\.$/, ''))]
  if (!isChecked(opened, alone) || opened.parts.some((part) => part === undefined)) return []
  const together = await findingsOfSet(opened, alone)
  if (together.some(({ level }) => level === 'error')) return together
  const refused = await refusalOf(opened, options)
  const isKnown = refused?.code === 'not-found' && alone.some(({ code }) => code === 'tensor-missing')
  // It may be one of the projector.
  const offset = projector ? undefined : refused?.offset
  const own = refused && !isKnown ? [finding(refused.code, refused.message.replace(/\.$/, ''), offset)] : []
  return [...together, ...own]
}
