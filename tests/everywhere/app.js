// The program that every environment of the matrix runs: all that the package does, on the sample model.
import { open } from 'ggufscope'
import { load } from 'ggufscope/engine'

async function generate(source, options) {
  const model = await load(source, options)
  try {
    let text = ''
    for await (const piece of model.generate('Once upon a time', { seed: 7, maxTokens: 12 }))
      text += piece.text
    return `${model.info.threads} ${model.info.threads === 1 ? 'thread' : 'threads'}:${text}`
  } finally {
    model.close()
  }
}

/**
 * What each step gives, or "failed: ..." by its name.
 * @param {number} [threads] how many are "all"; default: the engine chooses
 */
export async function everything(source, options = {}, threads) {
  const seen = {}
  let file
  const { workerUrl: _, ...opening } = options
  const steps = {
    async open() {
      file = await open(source, opening)
      return `${file.tensors.length} tensors`
    },
    dequantize: async () => `${(await file.dequantize('token_embd.weight', { rows: [0, 2] })).length} floats`,
    tokenizer: async () => (await file.loadTokenizer()).encode('Once upon a time').join(' '),
    renderChat: () => file.renderChat([{ role: 'user', content: 'Hi' }]),
    'engine, 1 thread': () => generate(source, { ...options, threads: 1 }),
    'engine, all threads': () => generate(source, { ...options, threads }),
  }
  for (const [name, run] of Object.entries(steps)) {
    try {
      seen[name] = await run()
    } catch (error) {
      seen[name] = `failed: ${error?.code ?? ''} ${error?.message ?? error}`
    }
  }
  file?.close()
  return seen
}
