import type { QuantizeReport } from '../api/edit.js'
import type { ImportanceSource } from '../api/file.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/file.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { counted, bytesText, grouped, shorten, table, visible } from './format.js'
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

function printTable({ print, style }: Context, { tensors }: QuantizeReport): void {
  const rows = tensors.map(({ name, from, to, wanted, fromBytes, toBytes }) => [
    shorten(visible(name), 60),
    from,
    from === to ? 'same' : wanted === to ? to : `${to} (not ${wanted})`,
    grouped(fromBytes),
    grouped(toBytes),
  ])
  const [title, ...lines] = table(
    [['tensor', 'from', 'to', 'bytes', 'bytes then'], ...rows],
    ['<', '<', '<', '>', '>'],
  )
  print(style.bold(title!))
  lines.forEach(print)
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
      help: 'a type for weights whose names contain NAME, or match it if it has a *',
    },
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
    const type = positionals[1]!
    const types = rulesOf((values['tensor-type'] ?? []) as string[])
    const dryRun = values['dry-run'] === true
    using file = await context.open()
    const output = dryRun ? undefined : await outputOf(context)
    const imatrix = values['imatrix']
    const importance = typeof imatrix === 'string' ? await importanceIn(imatrix, context) : undefined
    using _ = importance instanceof Map ? undefined : (importance as GgufFile | undefined)
    const builder = await file.edit({ allowDamaged: context.values['force'] === true })
    await builder.quantize(type.toUpperCase(), {
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
      printTable(context, report)
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
