// Repositories of model hubs on the command line: finds the server, the token, and the files of a name.
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findVariant, listRepository, parseHubAddress, pickVariant, searchModels } from '../hub/index.js'
import type { HubAddress, HubOptions, HubVariant, Repository } from '../hub/index.js'
import type { Command, Context, Values } from './command.js'
import { bytesText, counted, countText, printTable, visible } from './format.js'

const kVariables = [
  'Environment variables: HF_TOKEN is the access token for Hugging Face, HF_ENDPOINT the address of another such server.',
]

/** HF_ENDPOINT and HF_TOKEN are what Hugging Face's own tools read. */
function optionsFor(address: HubAddress | undefined, signal: AbortSignal): HubOptions {
  const { env } = process
  const isHuggingFace = address === undefined || address.hub === 'huggingface'
  return {
    signal,
    server: isHuggingFace ? (address?.server ?? (env['HF_ENDPOINT'] || undefined)) : undefined,
    token: isHuggingFace ? env['HF_TOKEN'] || undefined : undefined,
  }
}

async function addressOf(word: string): Promise<HubAddress | undefined> {
  const address = parseHubAddress(word)
  if (address === undefined) return undefined
  // "folder/name" is a path if the folder exists, even if the file does not: no request is sent.
  const places = word.includes(':') ? [word] : [word, dirname(word)]
  const there = await Promise.all(places.map((place) => stat(place).catch(() => undefined)))
  return there.some((one) => one !== undefined) ? undefined : address
}

interface FileOnHub {
  readonly url: string
  readonly headers: readonly string[]
}

const found = (url: string, { token }: HubOptions): FileOnHub => ({
  url,
  headers: token === undefined ? [] : [`Authorization: Bearer ${token}`],
})

/** A file of Hugging Face that a word names by its path: hf:owner/name/file.gguf, or its page. */
async function namedFile(word: string, signal: AbortSignal): Promise<FileOnHub | undefined> {
  if (!/^(?:hf:|(?:https?:\/\/)?(?:www\.)?(?:huggingface|hf)\.co\/)/i.test(word)) return undefined
  const options = optionsFor(undefined, signal)
  const { hubFileOf, urlOf } = await import('../edit/commit.js')
  const file = hubFileOf(word, options.server === undefined ? undefined : String(options.server))
  return file && found(urlOf(file, file.branch), options)
}

/**
 * Finds the first file of the model that a word names, and its access token; undefined if the word names nothing on a
 * hub.
 */
async function fileOnHub(word: string, signal: AbortSignal): Promise<FileOnHub | undefined> {
  const address = await addressOf(word)
  if (address === undefined) return await namedFile(word, signal)
  const options = optionsFor(address, signal)
  const variant = await findVariant(address, options)
  // The other files of a split model are found by their names.
  return found(variant.files[0]!.url, options)
}

/** Replaces the repositories among a call's words and options by files. */
export async function withHubFiles<Call extends { positionals: readonly string[]; values: Values }>(
  call: Call,
  { arguments: words }: Command,
  signal: AbortSignal,
): Promise<Call> {
  const given = (call.values['header'] ?? []) as readonly string[]
  const headers = [...given]
  const positionals = await Promise.all(
    call.positionals.map(async (word, i) => {
      if ((words[i] ?? words.at(-1))?.file !== 'read') return word
      const file = await fileOnHub(word, signal)
      if (file && given.length === 0 && headers.length === 0) headers.push(...file.headers)
      return file?.url ?? word
    }),
  )
  return { ...call, positionals, values: { ...call.values, header: headers } }
}

async function list(context: Context): Promise<number> {
  const word = context.positionals[0]!
  const repository = await listRepository(word, optionsFor(parseHubAddress(word), context.signal))
  if (context.json) {
    context.printJson(repository)
    return 0
  }
  const rows = repository.variants.map(({ name, kind, bytes, files, missing }) => [
    visible(name),
    kind,
    bytesText(bytes),
    counted(files.length, 'file') + (missing > 0 ? `, ${missing} missing` : ''),
  ])
  printTable([['name', 'kind', 'size', 'files'], ...rows], ['<', '<', '>', '<'], context)
  const example = pickVariant(repository.variants) ?? repository.variants.find(({ missing }) => missing === 0)
  if (example)
    context.print(
      context.style.dim(`open one with its name: ${nameFor(repository, example, parseHubAddress(word))}`),
    )
  return 0
}

/** The argument that opens a variant. */
function nameFor(
  { hub, id, revision }: Repository,
  { name }: HubVariant,
  address: HubAddress | undefined,
): string {
  // A tag of Ollama is one model.
  if (hub === 'ollama') return `ollama:${id.replace(/^library\//, '')}:${revision}`
  const prefix =
    { modelscope: 'ms:', github: 'github:' }[hub as string] ??
    (address?.server === undefined ? '' : `${address.server}/`)
  const at = address?.revision === undefined ? '' : `@${encodeURIComponent(revision)}`
  const text = `${prefix}${id}${at}:${name}`
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${visible(text).replaceAll("'", "'\\''")}'`
}

export const files: Command = {
  arguments: [
    {
      name: 'repository',
      help: 'owner/name, hf:owner/name, ms:owner/name, ollama:name:tag, github:owner/name@tag, or its page',
    },
  ],
  help: kVariables,
  run: list,
}

async function find(context: Context): Promise<number> {
  const found = await searchModels(context.positionals.join(' '), optionsFor(undefined, context.signal))
  if (context.json) {
    context.printJson(found)
    return 0
  }
  if (found.length === 0) {
    context.print('No model with GGUF files matches.')
    return 0
  }
  const rows = found.map(({ id, downloads, likes, updated, gated }) => [
    visible(id),
    downloads === undefined ? '' : countText(downloads),
    likes === undefined ? '' : countText(likes),
    updated?.slice(0, 10) ?? '',
    gated ? 'gated' : '',
  ])
  printTable([['name', 'downloads', 'likes', 'updated', ''], ...rows], ['<', '>', '>', '<', '<'], context)
  return 0
}

export const search: Command = {
  arguments: [{ name: 'words', repeats: true, help: 'what the models are called' }],
  help: kVariables,
  run: find,
}
