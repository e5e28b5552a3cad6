// Loads a model: the public function.
import { withCallbacks } from '../api/callbacks.js'
import type { GgufFile } from '../api/file.js'
import type { Source } from '../api/source.js'
import { isOpened } from '../file/opened.js'
import { loadEngine } from './load-engine.js'
import { modelOf } from './model-of.js'
import { checkLoad } from './options.js'
import { loadShared } from './share-load.js'
import type { LoadedModel, LoadOptions, Model } from './types.js'

/**
 * Loads a model into a separate worker. source: as in open() (for a split model any one of its files, or all of
 * them), or a file that open() returned, which stays open when the model is closed. A model that cannot run is
 * refused before its weights are fetched, except for those that directly follow the header. Errors: 'unsupported'
 * (architecture, type), 'surplus-tensor', 'other-model' (of a projector), 'out-of-memory', and those of open().
 *
 * The file decides what is returned: a Whisper model is a SpeechModel, any other file a Model. TypeScript cannot see
 * the file, so the type argument says which one is expected: `load<SpeechModel>(source)` for Whisper, and
 * `load<LoadedModel>(source)` if it may be either, which `'transcribe' in model` tells apart.
 */
export async function load<Loaded extends LoadedModel = Model>(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions = {},
): Promise<Loaded> {
  checkLoad(options)
  const model = await withCallbacks(
    options,
    // onDevice is called by later calls, which await it themselves.
    (all) => loadModel(from, { ...all, onDevice: options?.onDevice }),
    (loaded) => loaded.close(),
  )
  return model as Loaded
}

async function loadModel(
  from: Source | readonly Source[] | GgufFile,
  options: LoadOptions,
): Promise<LoadedModel> {
  if (options.share) return await loadShared(from, options)
  return await loadEngine(from, options, async (loaded) => {
    const model = modelOf(loaded, !isOpened(from))
    if (options.adapters && 'setAdapters' in model)
      await model.setAdapters(options.adapters, { signal: options.signal })
    return model
  })
}
