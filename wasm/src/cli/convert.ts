// The command convert: writes a file in another format.
import type { BuildOptions } from '../api/edit.js'
import type { WrittenFile } from '../api/edit.js'
import type { GgufFile } from '../api/file.js'
import { kFile, UsageError, type Command, type Context, type Values } from './command.js'
import { kOutputOptions, outputOf, save } from './save.js'

/** Whether the output is the file again. */
const changesNothing = (file: GgufFile, format: string, { version, endian }: Values): boolean =>
  format === 'gguf' &&
  file.container === 'gguf' &&
  file.shards.length < 2 &&
  (version === undefined ? file.version > 1 : Number(version) === file.version) &&
  (endian === undefined || endian === file.endianness)

/** One row for each format, with the function that converts the file. */
const kFormats: Readonly<Record<string, (file: GgufFile, context: Context) => Promise<WrittenFile>>> = {
  async gguf(file, { positionals, values, signal }) {
    if (positionals.length > 1) throw new UsageError('tensors can be chosen only for .npy and .safetensors')
    const { version, endian } = values
    const wanted: BuildOptions = {
      endianness: endian as BuildOptions['endianness'],
      version: version === undefined ? undefined : (Number(version) as 2 | 3),
      signal,
    }
    return await (await file.edit({ allowDamaged: values['force'] === true })).build(wanted)
  },
  async npy(file, { positionals, signal }) {
    const [, name, another] = positionals
    if (name === undefined || another !== undefined)
      throw new UsageError('a .npy file holds one tensor: name it')
    const { toNpy } = await import('../edit/extract.js')
    return await toNpy(file, name, { signal })
  },
  async safetensors(file, { positionals, signal }) {
    const [, ...tensors] = positionals
    const { toSafetensors } = await import('../edit/extract.js')
    return await toSafetensors(file, { tensors: tensors.length > 0 ? tensors : undefined, signal })
  },
}

export const command: Command = {
  damage: 'refused',
  arguments: [
    kFile,
    {
      name: 'tensor',
      optional: true,
      repeats: true,
      help: 'is written: one for .npy, any number for .safetensors.',
    },
  ],
  options: {
    format: { value: 'FORMAT', choices: Object.keys(kFormats), help: 'default: by the name of the output' },
    endian: { value: 'ORDER', choices: ['little', 'big'], help: 'byte order, for gguf' },
    version: { value: 'N', choices: ['2', '3'], help: 'version of the format, for gguf' },
    ...kOutputOptions,
  },
  async run(context) {
    using file = await context.open()
    const output = await outputOf(context)
    const format = String(context.values['format'] ?? /\.(\w+)$/.exec(output)?.[1] ?? 'gguf').toLowerCase()
    const make = Object.hasOwn(kFormats, format) ? kFormats[format] : undefined
    if (!make) throw new UsageError(`there is no format "${format}": ${Object.keys(kFormats).join(', ')}`)
    for (const name of ['endian', 'version'])
      if (format !== 'gguf' && context.values[name] !== undefined)
        throw new UsageError(`--${name} is for gguf, not for ${format}`)
    if (changesNothing(file, format, context.values))
      context.warn('the file is GGUF already, and no option changes it: the output is a copy')
    const built = await make(file, context)
    await save(context, output, built)
    if (context.json) context.printJson({ output, size: built.size, format })
    return 0
  },
}
