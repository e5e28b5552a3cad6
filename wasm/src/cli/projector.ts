// The option --mmproj: the projector that lets a model read images and audio.
import type { GgufFile } from '../node.js'
import type { Context, Options } from './command.js'

export const kProjectorOptions: Options = {
  mmproj: {
    value: 'FILE',
    file: 'read',
    help: "the model's projector for images or audio, or the decoder of its speech; default: the projector beside the model",
  },
}

/** Opens the projector that the option names. It stays open. undefined: the option is absent. */
export async function openProjector(context: Context): Promise<GgufFile | undefined> {
  const path = context.values['mmproj'] as string | undefined
  return path === undefined ? undefined : await context.open(undefined, path, [])
}
