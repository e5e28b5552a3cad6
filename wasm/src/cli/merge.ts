// The command merge: joins the files of a set.
import { basename } from 'node:path'
import { kFiles, type Command } from './command.js'
import { kOutputOptions, outputOf, save } from './save.js'

export const command: Command = {
  arguments: [kFiles],
  options: kOutputOptions,
  help: [
    'Any file of the set, if its name shows the others (NAME-00001-of-00003.gguf, NAME.gguf.part1of2); otherwise all of them.',
  ],
  damage: 'refused',
  async run(context) {
    const { signal, positionals, values } = context
    const [path, ...others] = positionals
    const shards = others.length > 0 ? others : undefined
    using file = await context.open({}, path, shards)
    const output = await outputOf(context)
    // A file that was joined of raw parts has another name.
    if (file.shards.length === 1 && shards === undefined && file.name === basename(path!.split('?')[0]!))
      context.warn(`${path} is no part of a split model: the output is a copy of it`)
    const builder = await file.edit({ allowDamaged: values['force'] === true })
    const built = await builder.removeSplit().build({ signal })
    await save(context, output, built)
    if (context.json) context.printJson({ output, size: built.size, shards: file.shards.length })
    return 0
  },
}
