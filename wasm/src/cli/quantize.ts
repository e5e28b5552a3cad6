import type { ImportanceSource } from '../edit/types.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile } from '../api/types.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { readInput } from './inputs.js'
import { kOutputOptions, outputOf, save } from './save.js'

/** "ffn_down=Q6_K": a part of the name; "blk.0.*=F16": all of it, with * for anything. */
function ruleOf(text: string): readonly [RegExp, string] {
  const at = text.lastIndexOf('=')
  if (at <= 0 || at === text.length - 1)
    throw new UsageError(`--tensor-type "${text}" is not of the form NAME=TYPE`)
  const pattern = text.slice(0, at)
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return [new RegExp(pattern.includes('*') ? `^${escaped}$` : escaped), text.slice(at + 1)]
}

/** A GGUF file, or one of the older form, which begins with a count. */
async function importanceIn(path: string, context: Context): Promise<ImportanceSource> {
  try {
    return await context.open({}, path)
  } catch (error) {
    if (!(error instanceof GgufError && error.code === 'bad-magic')) throw error
    const { parseImatrix } = await import('../edit/imatrix.js')
    return parseImatrix(await readInput(path, '--imatrix'))
  }
}

export const command: Command = {
  damage: 'refused',
  arguments: [
    kFile,
    { name: 'type', help: 'is a mixture of llama.cpp: Q4_K_M, Q5_K_S, Q8_0, IQ4_XS, F16, ...' },
  ],
  options: {
    pure: { help: 'the same type for every tensor of weights' },
    imatrix: {
      value: 'FILE',
      file: 'read',
      help: "which columns matter: a file of llama.cpp's imatrix, .gguf or .dat; types of 2 bits and less need one",
    },
    'tensor-type': {
      value: 'NAME=TYPE',
      repeats: true,
      help: 'a type for tensors whose names have NAME in them, or match it where it has a *',
    },
    ...kOutputOptions,
  },
  async run(context) {
    const { positionals, values, signal } = context
    const type = positionals[1]!
    const rules = ((values['tensor-type'] ?? []) as string[]).map(ruleOf)
    using file = await context.open()
    const output = await outputOf(context)
    const imatrix = values['imatrix']
    const importance = typeof imatrix === 'string' ? await importanceIn(imatrix, context) : undefined
    using _ = importance instanceof Map ? undefined : (importance as GgufFile | undefined)
    const builder = await file.edit({ allowDamaged: context.values['force'] === true })
    await builder.quantize(type.toUpperCase(), {
      pure: values['pure'] === true,
      types: ({ name }) => rules.find(([pattern]) => pattern.test(name))?.[1],
      importance,
      signal,
    })
    const built = await builder.build({ signal })
    await save(context, output, built)
    if (context.json) context.printJson({ output, size: built.size, tensors: builder.tensors })
    return 0
  },
}
