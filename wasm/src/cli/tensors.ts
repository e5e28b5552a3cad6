import type { Command } from './command.js'
import { bytesText, grouped, shorten, table, visible } from './format.js'

export const command: Command = {
  async run(context) {
    using file = await context.open()
    const { tensors } = file
    if (context.json) {
      context.printJson(tensors)
      return 0
    }
    const split = file.shards.length > 1
    const head = ['name', 'type', 'shape', 'elements', 'size', 'offset', ...(split ? ['shard'] : [])]
    const rows = tensors.map((tensor) => [
      shorten(visible(tensor.name), 100),
      tensor.type,
      tensor.shape.join(' x '),
      grouped(tensor.elementCount),
      bytesText(tensor.byteLength),
      String(tensor.offset),
      ...(split ? [String(tensor.shard + 1)] : []),
    ])
    const [title, ...lines] = table([head, ...rows], ['<', '<', '<', '>', '>', '>', '>'])
    context.print(context.style.bold(title!))
    lines.forEach(context.print)
    const { tensorBytes, parameters } = file.summary()
    context.print(
      context.style.dim(
        `${grouped(tensors.length)} tensors, ${grouped(parameters)} elements, ${bytesText(tensorBytes)}`,
      ),
    )
    return 0
  },
}
