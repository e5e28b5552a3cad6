// The command serve: starts the server of OpenAI's requests, or of MCP.
import { randomBytes } from 'node:crypto'
import { GgufError, quoted } from '../api/errors.js'
import type { Ability, LoadedModel } from '../engine/index.js'
import { kSpeaksAlone } from '../api/abilities.js'
import type { GgufFile } from '../node.js'
import { kFile, UsageError, type Command, type Context, type Values } from './command.js'
import { kLoadOptions, loadOptionsOf } from './engine-options.js'
import { kPhonemizerOptions, phonemizerOf } from './phonemizer.js'
import { kProjectorOptions, openProjector } from './projector.js'
import { isLoopback } from './serve/origins.js'
import { kRoutes } from './serve/routes.js'
import { ModelServer } from './serve/server.js'
import { CachedModel } from './serve/slots.js'
import { TextThread } from './serve/text-thread.js'
import { sizeOf } from './sizes.js'

const kPort = 8080
const kHost = '127.0.0.1'
const kSlots = 2
const kQueue = 100
const kMaxBody = '10M'
const kMaxFiles = '25M'
// Abilities whose requests hold files.
const kWithFiles = new Set<Ability>(['image', 'audio', 'transcribe'])
// Context length of each slot, unless the call or the model has a smaller one.
const kContext = 4096
// Milliseconds that running requests have to finish when the server shuts down.
const kPatience = 10_000

function whole(values: Values, name: string, fallback: number, min: number, max: number): number {
  const given = values[name]
  if (given === undefined) return fallback
  const value = Number(given)
  if (Number.isInteger(value) && value >= min && value <= max && String(given).trim() !== '') return value
  throw new UsageError(`--${name} takes a whole number from ${min} to ${max}, not "${String(given)}"`)
}

/** Whether the model continues texts. Embedding and speech models do not. */
function isForText(file: GgufFile): boolean {
  const { architecture } = file.summary()
  const pooling = file.metadata.get(`${architecture}.pooling_type`)
  return !['whisper', kSpeaksAlone].includes(architecture ?? '') && (pooling === undefined || pooling === 0)
}

async function load(context: Context): Promise<{ cached: CachedModel; texts: TextThread; id: string }> {
  const { values } = context
  const options = loadOptionsOf(values)
  const wanted = whole(values, 'slots', kSlots, 1, 64)
  const file = await context.open()
  const text = isForText(file)
  const slots = text ? wanted : 1 // others have no prompt cache
  const { contextLength = kContext, name } = file.summary()
  const id = (values['alias'] as string | undefined) ?? file.name ?? name ?? 'model'
  file.close()
  const each = options.contextLength ?? Math.min(contextLength, kContext)
  const sizes = { contextLength: each * slots, maxForks: slots - 1 }
  const loadModel = async (): Promise<LoadedModel> => {
    using named = await openProjector(context)
    const projector = named ?? (text && values['no-mmproj'] !== true ? 'auto' : undefined)
    return await context.load({ ...options, ...sizes, projector })
  }
  const model = await loadModel()
  const texts = new TextThread(model.file)
  return { texts, cached: new CachedModel(model, slots, texts, loadModel), id }
}

/** Resolves when a signal ends the program. */
function asked(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The origins of --cors. */
function originsOf(values: Values): readonly string[] {
  const origins = (values['cors'] ?? []) as readonly string[]
  for (const origin of origins)
    if (!/^(\*|null|[a-z][a-z\d+.-]*:\/\/[^\s/?#]+)$/i.test(origin))
      throw new UsageError(`--cors takes an origin, such as https://example.com, or *, not "${origin}"`)
  return origins
}

async function serve(context: Context): Promise<number> {
  const { values, signal, style, print, printJson, json } = context
  const port = whole(values, 'port', kPort, 0, 65535)
  const maxQueue = whole(values, 'queue', kQueue, 0, 100_000)
  const host = (values['host'] as string | undefined) ?? kHost
  const cors = originsOf(values)
  const apiKey = (values['api-key'] as string | undefined) ?? process.env['GGUFSCOPE_API_KEY']
  if (apiKey === '') throw new UsageError('--api-key takes a key that is not empty')
  const max = values['max-body'] as string | undefined
  if (max !== undefined && sizeOf(max, 'max-body') === 0)
    throw new UsageError('--max-body takes a size above 0')
  const log = values['log'] === true
  const phonemize = phonemizerOf(values)
  const { cached, texts, id } = await load(context)
  const model = cached.completionModel
  const readsFiles = model.info.abilities.some((ability) => kWithFiles.has(ability))
  const maxBody = sizeOf(max ?? (readsFiles ? kMaxFiles : kMaxBody), 'max-body')
  const served = {
    model,
    speech: cached.speech,
    speaker: cached.speaker(phonemize),
    texts,
    id,
    since: Math.floor(Date.now() / 1000),
  }
  let server: ModelServer
  try {
    server = await ModelServer.start(served, {
      port,
      host,
      apiKey,
      cors,
      maxBody,
      maxQueue,
      onRequest: ({ method, path, status, ms }) => {
        if (log) console.error(`${method} ${path} ${status} ${ms.toFixed(0)} ms`)
      },
    })
  } catch (error) {
    cached.close()
    throw new GgufError('network', `Port ${port} of ${host} cannot be opened: ${quoted(error)}.`)
  }
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`
  if (json) printJson({ url, model: id })
  else print(`${id} at ${style.bold(`${url}/v1`)}`)
  if (!isLoopback(host) && apiKey === undefined) {
    const key = randomBytes(24).toString('base64url')
    context.warn(
      `everybody who can reach ${host} may use the model: protect it, for example with --api-key ${key}`,
    )
  }
  for (const { warning } of model.file.chatTemplates.values())
    if (warning !== undefined) context.warn(warning)
  await asked(signal)
  await server.stop(kPatience)
  texts.close()
  cached.close()
  return 0
}

export const command: Command = {
  arguments: [{ ...kFile, optional: true }],
  options: {
    port: { value: 'N', help: `default: ${kPort}; 0: any free port` },
    host: { value: 'HOST', help: `the address to listen at; default: ${kHost}, only this machine` },
    'api-key': {
      value: 'KEY',
      help: 'the key that requests need; default: the environment variable GGUFSCOPE_API_KEY, or none',
    },
    alias: { value: 'NAME', help: "the model's name in the API; default: the file's name" },
    slots: {
      value: 'N',
      help: `number of conversations in the prompt cache, each with room for --context tokens; default: ${kSlots}`,
    },
    queue: {
      value: 'N',
      help: `largest number of waiting requests; more get status 503; default: ${kQueue}`,
    },
    cors: {
      value: 'ORIGIN',
      repeats: true,
      help: 'an origin whose pages may send requests, besides pages of this machine; *: all',
    },
    'max-body': {
      value: 'SIZE',
      help: `largest body of a request in bytes; default: ${kMaxBody}, and ${kMaxFiles} for a model that takes images or audio`,
    },
    ...kProjectorOptions,
    ...kPhonemizerOptions,
    'no-mmproj': { excludes: ['mmproj'], help: 'do not load the projector beside the model' },
    log: { help: 'print a line for each request on stderr' },
    mcp: {
      excludes: [
        'port',
        'host',
        'api-key',
        'alias',
        'slots',
        'queue',
        'cors',
        'max-body',
        'log',
        'mmproj',
        'no-mmproj',
        'phonemizer',
      ],
      help: 'serve the Model Context Protocol on standard input and output, for any file, instead of HTTP',
    },
    ...kLoadOptions,
  },
  help: [
    `Answers ${kRoutes.map(({ paths }) => paths[0]!.replace('*', 'NAME')).join(', ')}.`,
    'SIGINT and SIGTERM end it when running requests have finished, after at most 10 seconds.',
  ],
  async run(context) {
    if (context.values['mcp'] === true) {
      const { serveMcp } = await import('./serve/mcp.js')
      return await serveMcp(context)
    }
    if (context.positionals.length === 0)
      throw new UsageError('which file? ggufscope serve <file-or-url> [options]')
    return await serve(context)
  },
}
