// Converts contents of messages to text or parts, whichever the template takes for each role.
import { GgufError } from '../api/errors.js'
import { kMediaTypes, type ContentForms, type Medium, type Message, type TemplateProbe } from './probe.js'

type Variables = Readonly<Record<string, unknown>>
interface Part {
  readonly type?: unknown
  readonly [field: string]: unknown
}

const kinds = Object.entries(kMediaTypes) as unknown as readonly (readonly [Medium, readonly string[]])[]
const mediumOf = (type: unknown) => kinds.find(([, types]) => types.includes(String(type)))?.[0]

/** Joins two contents. */
export function joinContents(a: unknown, b: unknown, between = '\n\n'): unknown {
  if (a === '' || a === null || a === undefined) return b
  if (b === '' || b === null || b === undefined) return a
  if (typeof a === 'string' && typeof b === 'string') return `${a}${between}${b}`
  const parts = (content: unknown, text: string) =>
    typeof content === 'string' ? [{ type: 'text', text }] : (content as readonly unknown[])
  return [...parts(a, `${String(a)}${between}`), ...parts(b, String(b))]
}

/** The text of a part; undefined if the part is not text. Error: 'invalid-argument' for a text that is no string. */
function textOf(part: unknown, at: string): string | undefined {
  if (typeof part === 'string') return part
  const { type, text, refusal } = (part ?? {}) as Part
  const isText = /^(input_|output_)?text$/.test(String(type))
  if (typeof text === 'string' && (type === undefined || isText)) return text
  if (type === 'refusal' && typeof refusal === 'string') return refusal
  if (isText || type === 'refusal')
    throw new GgufError(
      'invalid-argument',
      `${at} holds a part of type ${String(type)} whose text is no string.`,
    )
  return undefined
}

/** The part of an image or sound without its bytes, which templates do not use. */
function lightPart(part: Part, given: string, type: string): Part {
  const value = part[given]
  const url = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value
  const short = typeof url === 'string' ? url.replace(/^(data:[^,]{0,80}),.*$/s, '$1,') : ''
  return { type, [type]: type.endsWith('_url') ? { url: short } : short }
}

/** The texts of parts, joined, if all parts are text; another content as it is. */
export function joinedTexts(content: unknown, at: string): unknown {
  if (!Array.isArray(content)) return content
  const texts = content.map((part) => textOf(part, at))
  return texts.every((text) => text !== undefined) ? texts.join('\n') : content
}

async function adaptPart(probe: TemplateProbe, part: unknown, at: string): Promise<unknown> {
  const text = textOf(part, at)
  if (text !== undefined) return { type: 'text', text }
  const type = (part as Part | null)?.type
  if (typeof type !== 'string')
    throw new GgufError('invalid-argument', `${at} holds a part that is no text and has no type.`)
  const medium = mediumOf(type)
  if (medium === undefined) {
    if ([`'${type}'`, `"${type}"`].some((name) => probe.source.includes(name))) return part
  } else {
    const taken = await probe.media(medium, type)
    if (taken !== undefined) return lightPart(part as Part, type, taken)
  }
  throw new GgufError(
    'unsupported',
    medium === undefined
      ? `${at} holds a part of type ${JSON.stringify(type)}, which is not known.`
      : `${at} holds ${medium === 'image' ? 'an' : 'a'} ${medium} part, and the chat template has no place for one.`,
  )
}

async function adaptParts(
  probe: TemplateProbe,
  parts: readonly unknown[],
  { parts: taken }: ContentForms,
  at: string,
): Promise<unknown> {
  const text = taken ? undefined : joinedTexts(parts, at)
  if (typeof text === 'string') return text
  return await Promise.all(parts.map((part) => adaptPart(probe, part, at)))
}

/** Variables of a template whose parts say from and to which language their text is translated. */
const kLanguageFields = ['source_lang_code', 'target_lang_code'] as const
/** llama.cpp's language if there is no variable. */
const kLanguage = 'en-GB'

/** The part of a text to translate (TranslateGemma); undefined for other templates and contents. */
function partToTranslate(probe: TemplateProbe, content: unknown, variables: Variables, at: string): unknown {
  if (!kLanguageFields.every((field) => probe.source.includes(field))) return undefined
  const text = joinedTexts(content, at)
  if (typeof text !== 'string') return undefined
  if (
    Array.isArray(content) &&
    content.some((part) => kLanguageFields.some((field) => field in Object(part)))
  )
    return content
  const languages = kLanguageFields.map((field) => [field, variables[field] ?? kLanguage])
  return [{ type: 'text', ...Object.fromEntries(languages), text }]
}

async function adaptContent(
  probe: TemplateProbe,
  message: Message,
  i: number,
  variables: Variables,
): Promise<Message> {
  const { role, content } = message
  const translated = role === 'user' ? partToTranslate(probe, content, variables, `Message ${i}`) : undefined
  if (translated !== undefined) return { ...message, content: translated }
  const calls = message['tool_calls'] !== undefined
  if (content === null || content === undefined || (content === '' && calls)) {
    const refusal = message['refusal']
    if (typeof refusal === 'string' && refusal !== '') return { ...message, content: refusal }
    if (content === '' && !calls) return message
    const { content: _, ...rest } = message
    const wanted = calls ? await probe.callContent(content) : ''
    return wanted === undefined ? rest : { ...message, content: wanted }
  }
  const known = role === 'developer' ? 'system' : role === 'ipython' || role === 'function' ? 'tool' : role
  const probed = known === 'system' || known === 'user' || known === 'assistant' || known === 'tool'
  const forms = probed ? await probe.content(known) : { text: true, parts: false }
  if (Array.isArray(content))
    return { ...message, content: await adaptParts(probe, content, forms, `Message ${i}`) }
  if (typeof content === 'string' && !forms.text && forms.parts)
    return { ...message, content: [{ type: 'text', text: content }] }
  return message
}

/** variables: those that the caller gives the template. */
export async function adaptContents(
  probe: TemplateProbe,
  messages: readonly Message[],
  variables: Variables = {},
): Promise<Message[]> {
  if (messages.length > 0 && !/\bmessages\b/.test(probe.source))
    throw new GgufError(
      'unsupported',
      'The chat template leaves out all messages: the option template may name a known format, such as "chatml".',
    )
  return await Promise.all(messages.map((message, i) => adaptContent(probe, message, i, variables)))
}
