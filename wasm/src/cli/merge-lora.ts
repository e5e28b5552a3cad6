// The command merge-lora: merges adapters into a model's weights.
import type { MergeReport } from '../api/edit.js'
import type { GgufFile } from '../api/file.js'
import { kFile, UsageError, type Command } from './command.js'
import { scaledOf } from './engine-options.js'
import { counted, shorten, visible } from './format.js'
import { importanceIn, mixtureName } from './quantize.js'
import { kOutputOptions, outputOf, save } from './save.js'

const few = (names: readonly string[]): string =>
  names
    .slice(0, 4)
    .map((name) => shorten(visible(name), 60))
    .join(', ') + (names.length > 4 ? `, and ${names.length - 4} more` : '')

export const command: Command = {
  damage: 'refused',
  arguments: [
    kFile,
    {
      name: 'adapter[=scale]',
      repeats: true,
      file: 'read',
      help: 'are LoRA adapters of the model, merged in this order; the default scale is 1',
    },
  ],
  options: {
    type: {
      value: 'TYPE',
      help: 'quantize the result: Q4_K_M, Q8_0, F16, ... Default: every tensor keeps its type',
    },
    imatrix: {
      value: 'FILE',
      file: 'read',
      help: "importance matrix: a file of llama.cpp's imatrix, .gguf or .dat",
    },
    'allow-requantize': {
      needs: 'type',
      help: 'quantize quantized tensors again: they get the errors of both types',
    },
    ...kOutputOptions,
  },
  async run(context) {
    const { positionals, values, signal, print, json } = context
    const chosen = positionals.slice(1).map(scaledOf)
    if (chosen.length === 0) throw new UsageError('merge-lora takes a model and an adapter')
    const given = values['type'] as string | undefined
    const type = given === undefined ? undefined : mixtureName(given, '--type')
    const imatrix = values['imatrix'] as string | undefined
    using file = await context.open()
    const output = await outputOf(context)
    const importance = imatrix === undefined ? undefined : await importanceIn(imatrix, context)
    using _ = importance instanceof Map ? undefined : (importance as GgufFile | undefined)
    const builder = await file.edit({ allowDamaged: values['force'] === true })
    const adapters: (MergeReport & { file: string; scale: number })[] = []
    const opened: GgufFile[] = []
    try {
      for (const { path, scale = 1 } of chosen) {
        const adapter = await context.open({}, path, [])
        opened.push(adapter)
        const kept = type === undefined ? importance : undefined
        const report = await builder.mergeAdapter(adapter, { scale, importance: kept, signal })
        adapters.push({ file: path, scale, ...report })
      }
      if (type !== undefined)
        await builder.quantize(type, {
          importance,
          importanceFile: imatrix,
          allowRequantize: values['allow-requantize'] === true,
          signal,
        })
      const built = await builder.build({ signal })
      await save(context, output, built)
      if (json) context.printJson({ output, size: built.size, adapters })
      else
        for (const { file: path, scale, merged, ignored } of adapters) {
          const left = ignored.length > 0 ? `; ${few(ignored)}: no effect` : ''
          print(`${visible(path)} times ${scale}: ${counted(merged.length, 'tensor')} changed${left}`)
        }
      return 0
    } finally {
      opened.forEach((adapter) => adapter.close())
    }
  },
}
