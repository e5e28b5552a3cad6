// The command speak: writes a text as speech.
import { profileOfFile } from '../audio/voice-profile.js'
import type { ModelInfo, SpeakOptions } from '../engine/index.js'
import { textModelOf } from '../engine/model-kinds.js'
import { checkSpeak } from '../engine/options.js'
import { speechFile } from '../openai/speech.js'
import { kFile, type Command } from './command.js'
import { givenNumber, kLoadOptions, loadOptionsOf } from './engine-options.js'
import { readInput } from './inputs.js'
import { kPhonemizerOptions, phonemizerOf } from './phonemizer.js'
import { kProjectorOptions, openProjector } from './projector.js'
import { bytesFile, kOutputOptions, outputOf, save } from './save.js'
import { readText } from './text.js'

/** A name, for models that have names of voices; otherwise what a file holds. */
async function voiceOf({ voices }: ModelInfo, given: string | undefined): Promise<SpeakOptions['voice']> {
  if (given === undefined || voices.length > 0) return given
  const bytes = await readInput(given, 'the voice')
  return profileOfFile(bytes) ?? bytes
}

export const command: Command = {
  arguments: [kFile, { name: 'text', optional: true, help: 'is what is spoken; default: standard input' }],
  options: {
    ...kOutputOptions,
    ...kProjectorOptions,
    voice: {
      value: 'FILE',
      file: 'read',
      help: 'a WAV file: speak with the voice of this recording; for OuteTTS a profile in JSON; for Kokoro a name',
    },
    language: { value: 'NAME', help: 'code or English name of the language, for models that speak several' },
    speed: { value: 'X', help: 'for Kokoro: how fast, from 0.25 to 4; default: 1' },
    ...kPhonemizerOptions,
    ipa: { excludes: ['phonemizer'], help: 'for Kokoro: the text is phonemes already' },
    temperature: { value: 'T', help: "the temperature of sampling, from 0; default: the model's" },
    seed: { value: 'S', help: 'seed of random numbers; default: a new one every time' },
    ...kLoadOptions,
  },
  async run(context) {
    const { positionals, values, progress, signal } = context
    const [temperature, seed] = [givenNumber(values, 'temperature'), givenNumber(values, 'seed')]
    const [speed, phonemize] = [givenNumber(values, 'speed'), phonemizerOf(values)]
    checkSpeak('', { speed, temperature, seed })
    const own = loadOptionsOf(values)
    const output = await outputOf(context)
    const text = positionals[1] ?? (await readText('-', 'the text'))
    using projector = await openProjector(context)
    const loading = { ...own, projector: projector ?? ('auto' as const) }
    using model = textModelOf(await context.load(loading, positionals[0]))
    const voice = await voiceOf(model.info, values['voice'] as string | undefined)
    await outputOf(context) // now the files that are read are known
    const language = values['language'] as string | undefined
    const ipa = values['ipa'] === true || undefined
    const options = { voice, language, speed, phonemize, ipa, temperature, seed, signal }
    let warnings: readonly string[] = []
    const file = await speechFile(model.speak(text, options), 'wav', {
      onProgress: (done) => progress.show(() => `speaking: ${Math.floor(100 * done)} %`),
      onDone: (result) => (warnings = result.warnings),
    })
    progress.clear()
    for (const warning of warnings) context.warn(warning)
    await save(context, output, bytesFile(file))
    return 0
  },
}
