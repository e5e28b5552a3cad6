// The command quantize: writes a file with other types.
import type { QuantizeReport } from '../api/edit.js'
import type { ImportanceSource } from '../api/file.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'
import { kMixtures, mixtureOf } from '../edit/mixtures.js'
import { nearest } from '../api/nearest.js'
import { anyOf } from './any-of.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { bytesText, counted, grouped, printTable, shorten, visible } from './format.js'
import { readInput } from './inputs.js'
import { kOutputOptions, outputOf, save } from './save.js'

/** Parses "ffn_down=Q6_K" (a part of the name) and "blk.0.*=F16" (the whole name, * matches anything). */
function ruleOf(text: string): readonly [string, string] {
  const at = text.lastIndexOf('=')
  if (at <= 0 || at === text.length - 1)
    throw new UsageError(`--tensor-type "${text}" is not of the form NAME=TYPE`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** If a pattern is given twice, the first one counts. */
function rulesOf(texts: readonly string[]): ReadonlyMap<string, string> {
  const rules = new Map<string, string>()
  for (const [name, type] of texts.map(ruleOf)) if (!rules.has(name)) rules.set(name, type)
  return rules
}

/** A mixture's name, also for the number that llama-quantize takes. what: the argument or option. */
export function mixtureName(text: string, what = 'the type'): string {
  const name = text.toUpperCase()
  if (name === 'COPY')
    throw new UsageError(
      'COPY changes no type: "ggufscope merge MODEL --output FILE" copies a model, also a split one',
    )
  const numbered = /^\d+$/.test(text)
    ? Object.keys(kMixtures).find((one) => kMixtures[one]!.fileType === Number(text))
    : undefined
  const found = numbered ?? name
  if (mixtureOf(found)) return found
  const known = Object.keys(kMixtures)
  const close = nearest(found, known)
  const meant = close === undefined ? '' : ` (did you mean ${close}?)`
  throw new UsageError(`${what} is ${anyOf(known)}, not "${text}"${meant}`)
}

const isWeight = ({ name, shape }: TensorInfo) => shape.length > 1 && /(?<!_norm)\.weight$/.test(name)

/** Rules by name. One that fits no name, but does as llama-quantize's regular expression, becomes the names that fit. */
function withExpressions(
  rules: ReadonlyMap<string, string>,
  tensors: readonly TensorInfo[],
): ReadonlyMap<string, string> {
  return new Map(
    [...rules].flatMap(([text, type]): [string, string][] => {
      const escaped = text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
      const own = new RegExp(text.includes('*') ? `^${escaped}$` : escaped, 'i')
      if (tensors.some(({ name }) => own.test(name))) return [[text, type]]
      let expression: RegExp
      try {
        expression = new RegExp(text, 'i')
      } catch {
        return [[text, type]]
      }
      const names = tensors.filter((one) => isWeight(one) && expression.test(one.name))
      return names.length === 0 ? [[text, type]] : names.map(({ name }) => [name, type])
    }),
  )
}

/** Rules of --output-tensor-type and others for one tensor, which come before those of --tensor-type. */
function rulesFor({ values }: Context, file: GgufFile): ReadonlyMap<string, string> {
  const rules = new Map<string, string>()
  const output = file.tensor('output.weight')
  if (values['leave-output-tensor'] === true && output) rules.set(output.name, output.type)
  for (const [option, name] of kTensorOptions) {
    const type = values[option]
    if (typeof type !== 'string') continue
    // A model without output weights uses those of the embedding.
    const used = [name, 'token_embd.weight'].find((one) => file.tensor(one))
    if (used === undefined) throw new UsageError(`--${option}: the model has no ${name}`)
    if (!rules.has(used)) rules.set(used, type)
  }
  const given = withExpressions(rulesOf((values['tensor-type'] ?? []) as string[]), file.tensors)
  for (const [name, type] of given) if (!rules.has(name)) rules.set(name, type)
  return rules
}

const kTensorOptions = [
  ['token-embedding-type', 'token_embd.weight'],
  ['output-tensor-type', 'output.weight'],
] as const

/** Opens an importance matrix: a GGUF file, or the older format, which begins with a count. */
export async function importanceIn(path: string, context: Context): Promise<ImportanceSource> {
  try {
    return await context.open({}, path)
  } catch (error) {
    if (!(error instanceof GgufError && error.code === 'bad-magic')) throw error
    const { parseImatrix } = await import('../edit/imatrix.js')
    return parseImatrix(await readInput(path, '--imatrix'))
  }
}

/** Formats "2 tensors: a, b" with as many names as fit on a line. */
function named(names: readonly string[], what: string): string {
  const shown = names.slice(0, 4).map((name) => shorten(visible(name), 60))
  const more = names.length > shown.length ? `, and ${grouped(names.length - shown.length)} more` : ''
  return `${grouped(names.length)} ${names.length === 1 ? 'tensor' : 'tensors'} ${what}: ${shown.join(', ')}${more}`
}

function printTypes(context: Context, { tensors }: QuantizeReport): void {
  const rows = tensors.map(({ name, from, to, wanted, fromBytes, toBytes }) => [
    shorten(visible(name), 60),
    from,
    from === to ? 'same' : wanted === to ? to : `${to} (not ${wanted})`,
    grouped(fromBytes),
    grouped(toBytes),
  ])
  printTable([['tensor', 'from', 'to', 'bytes', 'bytes then'], ...rows], ['<', '<', '<', '>', '>'], context)
}

/** Prints what was done with the tensors, and warnings. */
function printSummary({ print, values }: Context, report: QuantizeReport): void {
  const { tensors, quantized, fellBack, requantized, needsImportance, importance } = report
  const sum = (of: 'fromBytes' | 'toBytes'): string =>
    bytesText(tensors.reduce((total, tensor) => total + tensor[of], 0))
  if (quantized === 0) print('nothing was quantized: no tensor gets another type')
  else
    print(
      `${grouped(quantized)} of ${counted(tensors.length, 'tensor')} quantized: ${sum('fromBytes')} to ${sum('toBytes')}`,
    )
  if (fellBack.length > 0) {
    const { name, wanted, to } = tensors.find((tensor) => tensor.wanted !== tensor.to)!
    print(`${named(fellBack, 'fell back')} (rows are no whole blocks; ${name}: ${to} for ${wanted})`)
  }
  if (requantized.length > 0) print(named(requantized, 'quantized again: errors add up'))
  if (needsImportance.length > 0 && values['dry-run'] === true)
    print(named(needsImportance, 'would be refused without importance (--imatrix)'))
  if (!importance) return
  const { covered, lacking, unused, entries } = importance
  print(
    `the importance matrix covers ${grouped(covered.length)} of ${counted(covered.length + lacking.length, 'tensor')} (${counted(entries, 'entry', 'entries')})`,
  )
  if (lacking.length > 0) print(named(lacking, 'without an entry'))
  if (unused.length > 0) print(`entries that are not tensors of this model: ${named(unused, 'named')}`)
}

export const command: Command = {
  damage: 'refused',
  arguments: [
    kFile,
    { name: 'type', help: 'is a mixture of llama.cpp: Q4_K_M, Q5_K_S, Q8_0, IQ4_XS, F16, ...' },
  ],
  options: {
    pure: { help: 'the same type for all weight tensors' },
    imatrix: {
      value: 'FILE',
      file: 'read',
      help: "importance matrix: a file of llama.cpp's imatrix, .gguf or .dat; types below 3 bits need one",
    },
    'tensor-type': {
      value: 'NAME=TYPE',
      repeats: true,
      help: 'a type for weights whose names contain NAME, match it if it has a *, or match it as a regular expression',
    },
    'output-tensor-type': { value: 'TYPE', help: 'the type of output.weight' },
    'token-embedding-type': { value: 'TYPE', help: 'the type of token_embd.weight' },
    'leave-output-tensor': { help: 'do not quantize output.weight', excludes: ['output-tensor-type'] },
    'allow-requantize': { help: 'quantize quantized tensors again: they get the errors of both types' },
    'no-fallback': { help: 'refuse rows that are not whole blocks of a type, instead of using another type' },
    'dry-run': {
      help: 'print a table of the types; write nothing',
      excludes: ['output', 'force'],
    },
    ...kOutputOptions,
  },
  async run(context) {
    const { positionals, values, signal } = context
    const type = mixtureName(positionals[1]!)
    const dryRun = values['dry-run'] === true
    using file = await context.open()
    const types = rulesFor(context, file)
    const output = dryRun ? undefined : await outputOf(context)
    const imatrix = values['imatrix']
    const importance = typeof imatrix === 'string' ? await importanceIn(imatrix, context) : undefined
    using _ = importance instanceof Map ? undefined : (importance as GgufFile | undefined)
    const builder = await file.edit({ allowDamaged: context.values['force'] === true })
    await builder.quantize(type, {
      pure: values['pure'] === true,
      types,
      importance,
      importanceFile: typeof imatrix === 'string' ? imatrix : undefined,
      allowRequantize: values['allow-requantize'] === true,
      fallback: values['no-fallback'] !== true,
      dryRun,
      signal,
    })
    const report = builder.quantization!
    if (output === undefined) {
      if (context.json) {
        context.printJson(report)
        return 0
      }
      printTypes(context, report)
      printSummary(context, report)
      return 0
    }
    const built = await builder.build({ signal })
    await save(context, output, built)
    if (context.json) context.printJson({ output, size: built.size, tensors: builder.tensors, report })
    else printSummary(context, report)
    return 0
  },
}
