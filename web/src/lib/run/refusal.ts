// Why the engine refuses a model or its projector, before weights are loaded: it needs the headers alone.
import type { GgufFile } from 'ggufscope'

/**
 * The engine's message about the model, or about a projector with a model that it takes; undefined: it takes them, or could not be
 * asked. It is in English.
 */
export async function refusalOf(model: GgufFile, projector?: GgufFile): Promise<string | undefined> {
  try {
    const { lintLoad } = await import('ggufscope/engine')
    const ask = async (options: { projector?: GgufFile }) =>
      (await lintLoad(model, options)).find(({ code }) => code === 'load')?.message
    if (!projector) return await ask({})
    const together = await ask({ projector })
    return together !== undefined && together !== (await ask({})) ? together : undefined
  } catch {
    // The engine says what is wrong when it loads the model.
    return undefined
  }
}
