// The command run: continues a text, or answers in a conversation.
import { textModelOf } from '../engine/model-kinds.js'
import { text as readAll } from 'node:stream/consumers'
import { messageOf } from '../api/errors.js'
import type {
  ChatPiece,
  ChatResult,
  GenerateOptions,
  GenerateResult,
  JsonSchema,
  MediaPart,
  Model,
  ModelInfo,
  Piece,
} from '../engine/index.js'
import { kFile, UsageError, type Command, type Context } from './command.js'
import { biasesOf, generateOptionsOf, kEngineOptions, loadOptionsOf } from './engine-options.js'
import { counted } from './format.js'
import { profileLines } from './profile.js'
import { readInput } from './inputs.js'
import { kProjectorOptions, openProjector } from './projector.js'
import { readText } from './text.js'

function parsed(schema: string): JsonSchema {
  try {
    return JSON.parse(schema) as JsonSchema
  } catch (error) {
    throw new UsageError(`--schema is no JSON: ${messageOf(error)}`)
  }
}

async function optionsOf({ values, signal }: Context): Promise<GenerateOptions> {
  const contents = async (name: string): Promise<string | undefined> => {
    const path = values[name]
    if (typeof path !== 'string') return undefined
    return await readText(path, `--${name}`)
  }
  const schema = await contents('schema')
  return {
    ...generateOptionsOf(values),
    grammar: await contents('grammar'),
    schema: schema === undefined ? undefined : parsed(schema),
    stop: (values['stop'] ?? []) as readonly string[],
    logitBias: biasesOf((values['logit-bias'] ?? []) as readonly string[]),
    signal,
  }
}

interface Answer {
  readonly text: string
  /** present with the option logprobs */
  readonly pieces: readonly Piece[]
}

/** What is shown of a piece: of a chat the content, after the dimmed reasoning. */
function shownText({ style }: Context): (piece: Piece | ChatPiece) => string {
  let reasoned = false
  return (piece) => {
    if (!('deltas' in piece)) return piece.text
    let out = ''
    for (const { content, reasoning_content } of piece.deltas) {
      if (reasoning_content !== undefined) out += style.dim(reasoning_content)
      if (content !== undefined) out += reasoned ? `\n\n${content}` : content
      reasoned = reasoning_content !== undefined || (reasoned && content === undefined)
    }
    return out
  }
}

/** Writes the text as it arrives, unless --json is given. */
async function answerOf(context: Context, pieces: AsyncIterable<Piece | ChatPiece>): Promise<Answer> {
  const { json, progress, signal } = context
  const shown = shownText(context)
  let text = ''
  const all: Piece[] = []
  // There is no output while the prompt is computed.
  const begun = performance.now()
  const tell = (): void =>
    progress.show(() => `computing the prompt: ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  const timer = setInterval(tell, 250)
  try {
    for await (const piece of pieces) {
      if (!json) clearInterval(timer)
      progress.clear()
      text += piece.text
      if (piece.logprob !== undefined) all.push(piece)
      if (!json) process.stdout.write(shown(piece))
    }
  } finally {
    clearInterval(timer)
    progress.clear()
  }
  signal.throwIfAborted()
  return { text, pieces: all }
}

/** Where the model runs. */
const engineName = ({ device, adapter, variant }: ModelInfo): string =>
  device === 'cpu' ? variant : ['GPU', adapter?.vendor, adapter?.architecture].filter(Boolean).join(' ')

function printEnd({ print, style }: Context, model: Model, result: GenerateResult | undefined): void {
  print('')
  const { tokens = 0, generateMs = 0, promptTokens = 0, promptMs = 0 } = result ?? {}
  const rate = (count: number, ms: number) => (ms > 0 ? ((count / ms) * 1000).toFixed(0) : '-')
  print(
    style.dim(
      `${counted(promptTokens, 'token')} of prompt at ${rate(promptTokens, promptMs)}/s, ${tokens} generated at ${rate(tokens, generateMs)}/s, ${engineName(model.info)}`,
    ),
  )
}

/** The images and sounds of a message. They precede its text. */
async function mediaOf({ values }: Context): Promise<MediaPart[]> {
  const given = (name: string) => (values[name] ?? []) as readonly string[]
  const images = given('image').map(async (path): Promise<MediaPart> => ({
    type: 'image',
    image: await readInput(path, '--image'),
  }))
  const sounds = given('audio').map(async (path): Promise<MediaPart> => ({
    type: 'audio',
    audio: await readInput(path, '--audio'),
  }))
  return await Promise.all([...images, ...sounds])
}

/** Why a known format stands for the file's template, if one does. */
function templateWarning({ file }: Model, template: string | undefined): string | undefined {
  const templates = file.chatTemplates
  return (template === undefined ? [...templates.values()][0] : templates.get(template))?.warning
}

function contentOf(media: readonly MediaPart[], text: string): unknown {
  return media.length > 0 ? [...media, { type: 'text', text }] : text
}

export const command: Command = {
  arguments: [
    kFile,
    {
      name: 'text',
      optional: true,
      repeats: true,
      help: 'is read from standard input by default, without its last newline.',
    },
  ],
  options: {
    chat: { help: 'use the text as a message, with the chat template' },
    ...kProjectorOptions,
    image: {
      value: 'FILE',
      file: 'read',
      repeats: true,
      help: 'a PNG or BMP image for the message (with the package sharp: also JPEG, WebP and others), which uses the chat template',
    },
    audio: {
      value: 'FILE',
      file: 'read',
      repeats: true,
      help: 'a WAV file for the message (with the package audio-decode: also MP3, Ogg and others), which uses the chat template',
    },
    template: { value: 'NAME', needs: 'chat', help: "one of the file's chat templates" },
    grammar: {
      value: 'FILE',
      file: 'read',
      excludes: ['schema'],
      help: 'constrain the answer by this grammar (GBNF)',
    },
    schema: {
      value: 'FILE',
      file: 'read',
      help: 'constrain the answer to JSON that this JSON schema accepts',
    },
    stop: { value: 'TEXT', repeats: true, help: 'end before this text' },
    'logit-bias': {
      value: 'ID=NUMBER',
      repeats: true,
      help: "add a number to a token's logit; -inf forbids the token",
    },
    profile: { help: "print the time of each operation, and the machine's limits" },
    ...kEngineOptions,
  },
  async run(context) {
    const { positionals, values, print, progress, style, columns } = context
    let result: GenerateResult | undefined
    const options = { ...(await optionsOf(context)), onDone: (done: GenerateResult) => (result = done) }
    const loading = loadOptionsOf(values)
    // Programs that print a text end it with a newline, which is not part of it.
    const input =
      positionals.length > 1
        ? positionals.slice(1).join(' ')
        : (await readAll(process.stdin)).replace(/\r?\n$/, '')
    const media = await mediaOf(context)
    using projector = await openProjector(context)
    const beside = media.length > 0 ? 'auto' : undefined
    using model = textModelOf(await context.load({ ...loading, projector: projector ?? beside }))
    const profiled = values['profile'] === true
    if (profiled) await model.profile() // starts the profile
    const template = values['template'] as string | undefined
    const chats = values['chat'] === true || media.length > 0
    const ofTemplate = chats ? templateWarning(model, template) : undefined
    if (ofTemplate !== undefined) context.warn(ofTemplate)
    const { text, pieces } = await answerOf(
      context,
      chats
        ? model.chat([{ role: 'user', content: contentOf(media, input) }], { ...options, template })
        : model.generate(input, options),
    )
    const { warnings = [] } = { ...(result as Partial<ChatResult> | undefined) }
    for (const warning of warnings) if (warning !== ofTemplate) context.warn(warning)
    if (profiled) progress.show(() => 'measuring the machine')
    const profile = profiled ? { operations: await model.profile(), peaks: await model.peaks() } : undefined
    if (context.json) {
      context.printJson({ text, ...result, ...(pieces.length > 0 && { pieces }), profile })
      return 0
    }
    printEnd(context, model, result)
    if (profile)
      profileLines(profile.operations, profile.peaks, model.info.variant, style, columns).forEach(print)
    return 0
  },
}
