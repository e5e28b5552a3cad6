import { stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GgufError } from '../api/errors.js'
import { UsageError, type Command } from './command.js'
import { kOutputOptions, save } from './save.js'
import { sizeOf } from './sizes.js'

export const command: Command = {
  options: { ...kOutputOptions, 'max-tensors': { type: 'string' }, 'max-size': { type: 'string' } },
  help: [
    '--max-tensors N   the most tensors in a file (128 where no limit is given)',
    '--max-size SIZE   the most tensor data in a file: 500M, 2G, ...',
    '-o, --output NAME names begin so: NAME-00001-of-00003.gguf; default: the name of the file, in this folder',
    '--force           replace files that are there',
  ],
  async run(context) {
    const { values, signal } = context
    const count = values['max-tensors']
    if (count !== undefined && !/^[1-9]\d*$/.test(String(count)))
      throw new UsageError('--max-tensors is a number from 1 on')
    const maxTensors = count === undefined ? undefined : Number(count)
    const maxBytes = values['max-size'] === undefined ? undefined : sizeOf(String(values['max-size']))
    using file = await context.open()
    const given = values['output']
    const name = (typeof given === 'string' ? given : (file.name ?? 'model')).replace(/\.gguf$/i, '')
    const folder = dirname(name)
    const parts = await (await file.edit()).split(basename(name), { maxTensors, maxBytes, signal })
    const paths = parts.map((part) => join(folder, part.name!))
    for (const path of paths) {
      if (values['force'] !== true && (await stat(path).catch(() => undefined)))
        throw new GgufError('file-exists', `${path} is there already.`)
    }
    const written: string[] = []
    try {
      for (const [i, part] of parts.entries()) {
        await save(context, paths[i]!, part)
        written.push(paths[i]!)
      }
    } catch (error) {
      // Half a set is of no use.
      await Promise.all(written.map((path) => unlink(path).catch(() => {})))
      throw error
    }
    if (context.json) context.printJson(parts.map(({ size }, i) => ({ output: paths[i], size })))
    return 0
  },
}
