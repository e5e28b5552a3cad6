import { readFile } from 'node:fs/promises'
import type { ImportanceSource } from '../edit/types.js'
import { GgufError } from '../api/errors.js'
import { open } from '../node.js'
import type { GgufFile } from '../api/types.js'
import { UsageError, type Command } from './command.js'
import { kOutputHelp, kOutputOptions, outputOf, save } from './save.js'

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
async function importanceIn(path: string, signal: AbortSignal): Promise<ImportanceSource> {
  try {
    return await open(path, { signal })
  } catch (error) {
    if (!(error instanceof GgufError && error.code === 'bad-magic')) throw error
    const { parseImatrix } = await import('../edit/imatrix.js')
    return parseImatrix(await readFile(path))
  }
}

export const command: Command = {
  options: {
    ...kOutputOptions,
    pure: { type: 'boolean' },
    imatrix: { type: 'string' },
    'tensor-type': { type: 'string', multiple: true },
  },
  help: [
    'TYPE              a mixture of llama.cpp: Q4_K_M, Q5_K_S, Q8_0, IQ4_XS, F16, ...',
    '--pure            the same type for every tensor of weights',
    "--imatrix FILE    which columns matter: a file of llama.cpp's imatrix, .gguf or .dat; types of 2 bits and less need one",
    '--tensor-type NAME=TYPE  a type for tensors whose names have NAME in them, or match it where it has a * (may be repeated)',
    ...kOutputHelp,
  ],
  async run(context) {
    const { positionals, values, signal } = context
    const type = positionals[1]
    if (type === undefined) throw new UsageError('which type? Q4_K_M, Q8_0, ...')
    const rules = ((values['tensor-type'] ?? []) as string[]).map(ruleOf)
    using file = await context.open()
    const output = await outputOf(context)
    const imatrix = values['imatrix']
    const importance = typeof imatrix === 'string' ? await importanceIn(imatrix, signal) : undefined
    using _ = importance instanceof Map ? undefined : (importance as GgufFile | undefined)
    const builder = await file.edit()
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
