import { kFile, type Command } from './command.js'
import { kOutputOptions, outputOf, save } from './save.js'

export const command: Command = {
  arguments: [kFile],
  options: kOutputOptions,
  async run(context) {
    const { signal } = context
    using file = await context.open()
    const output = await outputOf(context)
    const built = await (await file.edit()).build({ signal })
    await save(context, output, built)
    if (context.json) context.printJson({ output, size: built.size, shards: file.shards.length })
    return 0
  },
}
