// The command tensors: lists tensors.
import type { GgufFile } from '../api/file.js'
import { kFiles, type Command, type Context } from './command.js'
import { bytesText, counted, grouped, printTable, shortenNames, visible } from './format.js'
import { eachFile, kSeveralHelp } from './several.js'

function printTensors(file: GgufFile, context: Context): void {
  const { tensors } = file
  const split = file.shards.length > 1
  const head = ['name', 'type', 'shape', 'elements', 'size', 'offset', ...(split ? ['shard'] : [])]
  const names = shortenNames(
    tensors.map(({ name }) => visible(name)),
    100,
  )
  const rows = tensors.map((tensor, i) => [
    names[i]!,
    tensor.type,
    tensor.shape.join(' x '),
    grouped(tensor.elementCount),
    bytesText(tensor.byteLength),
    String(tensor.offset),
    ...(split ? [String(tensor.shard + 1)] : []),
  ])
  printTable([head, ...rows], ['<', '<', '<', '>', '>', '>', '>'], context)
  const { tensorBytes, parameters } = file.summary()
  const all = [counted(tensors.length, 'tensor'), counted(parameters, 'element'), bytesText(tensorBytes)]
  context.print(context.style.dim(all.join(', ')))
}

export const command: Command = {
  arguments: [kFiles],
  help: [kSeveralHelp],
  standardInput: true,
  run: (context) =>
    eachFile(context, async (file) => ({
      status: 0,
      json: file.tensors,
      print: () => printTensors(file, context),
    })),
}
