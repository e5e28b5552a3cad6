// Why the engine refuses a model or its projector, before weights are loaded: it needs the headers alone.
import type { Finding, GgufFile } from 'ggufscope'

/**
 * The engine's finding about the model, or about a projector with a model that it takes; undefined: it takes them, or could not
 * be asked.
 */
export async function refusalOf(model: GgufFile, projector?: GgufFile): Promise<Finding | undefined> {
  try {
    const { lintLoad } = await import('ggufscope/engine')
    const ask = async (options: { projector?: GgufFile }) =>
      (await lintLoad(model, options)).find(({ code }) => code === 'load')
    if (!projector) return await ask({})
    const together = await ask({ projector })
    return together && together.message !== (await ask({}))?.message ? together : undefined
  } catch {
    // The engine says what is wrong when it loads the model.
    return undefined
  }
}
