// Requests to /v1/audio: multipart forms with an audio file, as OpenAI's clients send them.
import {
  createTranscription,
  type SpeechModel,
  type TranscribeOptions,
  type TranscriptionRequest,
} from '../../engine/index.js'
import { RequestError } from './failures.js'

function refuse(message: string): never {
  throw new RequestError(400, 'invalid-argument', message)
}

/** The form's fields except the file. The name of a list ends in []. */
const kFields: Readonly<Record<string, (text: string, name: string) => unknown>> = {
  model: (text) => text,
  language: (text) => text,
  prompt: (text) => text,
  response_format: (text) => text,
  temperature: (text, name) => {
    const value = Number(text)
    return text.trim() !== '' && Number.isFinite(value)
      ? value
      : refuse(`${name} must be a number, not "${text}".`)
  },
}
// Fields that OpenAI ignores for whisper-1.
const kIgnored = new Set(['stream', 'include', 'include[]', 'chunking_strategy'])
const kGranularities = ['timestamp_granularities[]', 'timestamp_granularities']

function requestOf(form: FormData): TranscriptionRequest {
  const file = form.get('file')
  if (!(file instanceof Blob)) refuse('The form needs a file.')
  const request: Record<string, unknown> = {}
  const granularities: string[] = []
  for (const [name, value] of form) {
    if (name === 'file' || kIgnored.has(name)) continue
    if (typeof value !== 'string') refuse(`${name} is a text, not a file.`)
    if (kGranularities.includes(name)) granularities.push(value)
    else if (Object.hasOwn(kFields, name)) request[name] = kFields[name]!(value, name)
    else refuse(`The request has no field "${name}".`)
  }
  for (const one of granularities)
    if (one !== 'word' && one !== 'segment')
      refuse(`timestamp_granularities are word and segment, not "${one}".`)
  return {
    ...request,
    file,
    ...(granularities.length > 0 && { timestamp_granularities: granularities as ('word' | 'segment')[] }),
  }
}

export async function transcriptionAnswer(
  model: Pick<SpeechModel, 'transcribe'>,
  form: FormData,
  options: Pick<TranscribeOptions, 'task' | 'signal'>,
): Promise<{ json: unknown } | { text: string }> {
  const request = requestOf(form)
  const answer: unknown = await createTranscription(
    model,
    request as TranscriptionRequest & { response_format?: 'json' },
    options,
  )
  return typeof answer === 'string' ? { text: answer } : { json: answer }
}
