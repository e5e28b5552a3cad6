// The command split: divides a file into a set.
import { basename, dirname, join } from 'node:path'
import { kFile, UsageError, type Command } from './command.js'
import { kOutputOptions, saveAll } from './save.js'
import { sizeOf } from './sizes.js'

export const command: Command = {
  damage: 'refused',
  arguments: [kFile],
  options: {
    'max-tensors': { value: 'N', help: 'largest number of tensors in a file (128 if no limit is given)' },
    'max-size': { value: 'SIZE', help: 'largest size of the tensor data in a file: 500M, 2G, ...' },
    ...kOutputOptions,
    output: {
      ...kOutputOptions.output,
      value: 'NAME',
      help: 'the prefix of names: NAME-00001-of-00003.gguf; default: the name of the file, in this folder',
    },
  },
  async run(context) {
    const { values, signal } = context
    const count = values['max-tensors']
    if (count !== undefined && !/^[1-9]\d*$/.test(String(count)))
      throw new UsageError('--max-tensors is a number from 1 on')
    const maxTensors = count === undefined ? undefined : Number(count)
    const maxBytes =
      values['max-size'] === undefined ? undefined : sizeOf(String(values['max-size']), 'max-size')
    if (maxBytes === 0) throw new UsageError('--max-size takes a size above 0')
    using file = await context.open()
    const given = values['output']
    if (typeof given === 'string' && /(^|[\\/])(\.{0,2}|\.gguf)$/i.test(given))
      throw new UsageError(
        `--output ${given} has no name: give the prefix of the names, such as folder/model`,
      )
    const name = (typeof given === 'string' ? given : (file.name ?? 'model')).replace(/\.gguf$/i, '')
    const folder = dirname(name)
    const parts = await (
      await file.edit({ allowDamaged: context.values['force'] === true })
    ).split(basename(name), { maxTensors, maxBytes, signal })
    if (parts.length === 1) context.warn('the limits are larger than the model: there is one file')
    const outputs = parts.map((file) => ({ path: join(folder, file.name!), file }))
    await saveAll(context, outputs)
    if (context.json) context.printJson(outputs.map(({ path, file }) => ({ output: path, size: file.size })))
    return 0
  },
}
