// /infill, as in llama.cpp's server: a prompt of a code model's fill-in-the-middle tokens, and the text between.
import type { SpecialTokens } from '../../api/text.js'
import { RequestError } from './failures.js'
import { answerInLlamaForm, type CompletionServed, type LlamaAnswer } from './llama-completion.js'
import type { Fields } from './requests.js'

interface Chunk {
  readonly filename: string
  readonly text: string
}

// What llama.cpp writes where the format of code models wants the names of the repository and of the file.
const kRepository = 'myproject\n'
const kFile = 'filename\n'
/** before a further text, if the vocabulary has no separator of files */
const kSnippet = '\n\n--- snippet ---\n\n'

/** The most tokens of prefix and suffix together: llama.cpp's size of a batch. */
const kBatch = 2048

const kRoles = [
  ['fimPrefix', 'prefix'],
  ['fimSuffix', 'suffix'],
  ['fimMiddle', 'middle'],
] as const

type FimTokens = SpecialTokens & Record<(typeof kRoles)[number][0], number>

function fimTokensOf(special: SpecialTokens): FimTokens {
  const missing = kRoles.filter(([role]) => special[role] === undefined).map(([, name]) => name)
  if (missing.length === 0) return special as FimTokens
  throw new RequestError(
    501,
    'unsupported',
    `This model cannot fill in: its vocabulary has no token for the ${missing.join(', the ')}.`,
  )
}

function refuse(message: string): never {
  throw new RequestError(400, 'invalid-argument', message)
}

function textOf(given: Fields, name: string, ...fallback: string[]): string {
  const value = given[name] ?? fallback[0]
  return typeof value === 'string' ? value : refuse(`/infill needs ${name}, a string.`)
}

function chunksOf(extra: unknown): Chunk[] {
  if (extra === undefined || extra === null) return []
  if (!Array.isArray(extra)) refuse('input_extra must be an array of {"filename", "text"}.')
  return (extra as unknown[]).map((chunk, i) => {
    const { filename = 'tmp', text } = (chunk ?? {}) as Fields
    if (typeof text === 'string' && typeof filename === 'string') return { filename, text }
    return refuse(`Chunk ${i} of input_extra must have a text, a string, and may have a filename, a string.`)
  })
}

/** The ids of a prompt: further files, the prefix, the beginning of the middle, the suffix. max: tokens to generate */
async function promptOf({ model, texts }: CompletionServed, given: Fields, max: number): Promise<number[]> {
  const { tokenizer } = model
  const special = fimTokensOf(tokenizer.special)
  const { fimRepository, fimSeparator, bos } = special
  const names = [kRepository, kFile, kSnippet]
  const chunks = chunksOf(given['input_extra'])
  const plain = [textOf(given, 'input_prefix'), textOf(given, 'input_suffix'), ...names]
  const extra = chunks.flatMap(({ filename, text }) => [`${filename}\n`, text])
  const encoded = await texts.call('encode', [...plain, ...extra], { special: false, bos: false })
  const [begin] = await texts.call('encode', [textOf(given, 'prompt', '')], { special: true, bos: false })
  const [prefix, suffix, repository, file, snippet, ...others] = encoded as [
    number[], number[], number[], number[], number[], ...number[][],
  ] // prettier-ignore
  const before: number[] = []
  const add = (...lists: readonly (readonly number[])[]): void => {
    for (const ids of lists) for (const id of ids) before.push(id)
  }
  if (fimRepository !== undefined) add([fimRepository], repository)
  for (let i = 0; i < others.length; i += 2)
    if (fimSeparator === undefined) add(snippet, others[i + 1]!)
    else add([fimSeparator], others[i]!, others[i + 1]!)
  if (fimSeparator !== undefined) add([fimSeparator], file)

  // Texts that are too long lose what is farthest from the gap. Small contexts keep half of their room.
  const { contextLength } = model.info
  const batch = Math.min(kBatch, Math.floor(contextLength / 2))
  const beforeRoom = Math.max(0, contextLength - batch - 2 * Math.max(0, max))
  const prefixRoom = 3 * Math.floor(batch / 4)
  const suffixRoom = Math.max(0, Math.floor(batch / 4) - 2 - begin!.length)
  return [
    ...before.slice(Math.max(0, before.length - beforeRoom)),
    ...(tokenizer.addsBos && bos !== undefined ? [bos] : []),
    special.fimPrefix,
    ...prefix.slice(Math.max(0, prefix.length - prefixRoom)),
    ...begin!,
    special.fimSuffix,
    ...suffix.slice(0, suffixRoom),
    special.fimMiddle,
  ]
}

/** Fills the gap between two texts. Errors: those of requests, and 501 without tokens. */
export async function infill(
  served: CompletionServed,
  given: Fields,
  signal: AbortSignal,
): Promise<LlamaAnswer> {
  const { input_prefix, input_suffix, input_extra, prompt, ...fields } = given
  const max = fields['n_predict'] ?? fields['max_tokens']
  const ids = await promptOf(served, given, Number.isInteger(max) ? Number(max) : 0)
  return await answerInLlamaForm(served, { route: '/infill', ids, fields }, signal)
}
