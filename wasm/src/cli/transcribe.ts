// The command transcribe: writes down speech.
import { speechModelOf } from '../engine/model-kinds.js'
import type { TranscribeOptions, Transcription } from '../engine/index.js'
import { checkOptions } from '../api/checks.js'
import { kTranscribeChecks } from '../audio/records.js'
import { toSrt, toText, toVtt } from '../engine/index.js'
import { UsageError, type Command, type Context } from './command.js'
import { givenNumber, kLoadOptions, loadOptionsOf } from './engine-options.js'
import { readInput } from './inputs.js'

const kWriters: Readonly<Record<string, (heard: Transcription) => string>> = {
  txt: toText,
  srt: toSrt,
  vtt: toVtt,
}

/** Options of load() that change nothing for Whisper. */
const kNotWhisper: readonly string[] = [
  'context',
  'sparse-attention',
  'draft',
  'lora',
  'control-vector',
  'control-vector-layers',
]

function optionsOf({ values, signal, progress }: Context): TranscribeOptions {
  const numberOf = (name: string): number | undefined => givenNumber(values, name)
  const options: TranscribeOptions = {
    language: values['language'] as string | undefined,
    task: values['translate'] === true ? 'translate' : 'transcribe',
    timestamps: values['no-timestamps'] !== true,
    words: values['words'] === true,
    prompt: values['prompt'] as string | undefined,
    temperature: numberOf('temperature'),
    beamSize: numberOf('beam-size'),
    offset: numberOf('offset'),
    duration: numberOf('duration'),
    silenceThreshold: numberOf('silence-threshold'),
    onProgress: (done) => progress.show(() => `transcribing: ${Math.floor(100 * done)} %`),
    signal,
  }
  checkOptions('transcribe()', options, kTranscribeChecks) // before files are read
  return options
}

export const command: Command = {
  arguments: [
    {
      name: 'sound',
      file: 'read',
      help: 'is a WAV file: PCM of 8 to 32 bits, floats, A-law or mu-law; "-": standard input. With the package audio-decode, MP3, Ogg, FLAC and others.',
    },
  ],
  options: {
    model: {
      value: 'FILE',
      short: 'm',
      file: 'read',
      help: 'a Whisper model: GGUF, or a file of whisper.cpp',
    },
    format: {
      value: 'NAME',
      choices: ['txt', 'srt', 'vtt', 'json'],
      help: 'format of the transcript; default: txt',
    },
    language: {
      value: 'NAME',
      help: 'code or English name of the spoken language, as en, en-US or English; default: detected',
    },
    translate: { help: 'translate into English' },
    'no-timestamps': { help: 'no timestamps: one segment for each window of 30 s' },
    words: { help: 'add times of words, in JSON' },
    prompt: { value: 'TEXT', help: 'text that precedes the transcript: names, spelling, style' },
    temperature: { value: 'T', help: 'temperature of the first attempt; default: 0, the likeliest tokens' },
    'beam-size': { value: 'N', help: 'number of beams at temperature 0, from 2 to 8; default: greedy' },
    offset: { value: 'S', help: 'start in seconds' },
    duration: { value: 'S', help: 'seconds to transcribe' },
    'silence-threshold': {
      value: 'X',
      help: 'root mean square of the samples below which audio is skipped; 0: decode all; default: 0.0003',
    },
    ...Object.fromEntries(Object.entries(kLoadOptions).filter(([name]) => !kNotWhisper.includes(name))),
  },
  async run(context) {
    const { positionals, values, progress } = context
    const path = values['model']
    if (typeof path !== 'string') throw new UsageError('transcribe needs a Whisper model: --model FILE')
    const options = optionsOf(context)
    const loading = loadOptionsOf(values)
    const sound = await readInput(positionals[0]!, 'the sound')
    if (new TextDecoder().decode(sound.subarray(0, 4)) === 'GGUF')
      throw new UsageError(
        `${positionals[0]} is a model, not a sound: ggufscope transcribe <sound> --model <Whisper model>`,
      )
    using model = speechModelOf(await context.load(loading, path))
    const heard = await model.transcribe(sound, options)
    progress.clear()
    for (const warning of heard.warnings) context.warn(warning)
    const format = context.json ? 'json' : ((values['format'] as string | undefined) ?? 'txt')
    if (format === 'json') context.printJson(heard)
    else process.stdout.write(kWriters[format]!(heard))
    return 0
  },
}
