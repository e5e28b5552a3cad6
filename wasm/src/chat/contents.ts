// Converts contents of messages to text or parts, whichever the template takes for each role.
import { GgufError } from '../api/errors.js'
import { kMediaTypes, type ContentForms, type Medium, type Message, type TemplateProbe } from './probe.js'

interface Part {
  readonly type?: unknown
  readonly [field: string]: unknown
}

const kinds = Object.entries(kMediaTypes) as unknown as readonly (readonly [Medium, readonly string[]])[]
const mediumOf = (type: unknown) => kinds.find(([, types]) => types.includes(String(type)))?.[0]

/** The text of a part; undefined if the part is not text. */
function textOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part
  const { type, text, refusal } = (part ?? {}) as Part
  if (typeof text === 'string' && (type === undefined || /^(input_|output_)?text$/.test(String(type))))
    return text
  return type === 'refusal' && typeof refusal === 'string' ? refusal : undefined
}

/** The part of an image or sound without its bytes, which templates do not use. */
function lightPart(part: Part, given: string, type: string): Part {
  const value = part[given]
  const url = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value
  const short = typeof url === 'string' ? url.replace(/^(data:[^,]{0,80}),.*$/s, '$1,') : ''
  return { type, [type]: type.endsWith('_url') ? { url: short } : short }
}

async function adaptPart(probe: TemplateProbe, part: unknown, at: string): Promise<unknown> {
  const text = textOf(part)
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
  const kind = medium ?? JSON.stringify(type)
  throw new GgufError(
    'unsupported',
    `${at} holds ${medium === 'image' ? 'an' : 'a'} ${kind} part, and the chat template has no place for one.`,
  )
}

async function adaptParts(
  probe: TemplateProbe,
  parts: readonly unknown[],
  { parts: taken }: ContentForms,
  at: string,
): Promise<unknown> {
  const texts = parts.map(textOf)
  if (!taken && texts.every((text) => text !== undefined)) return texts.join('\n')
  return await Promise.all(parts.map((part) => adaptPart(probe, part, at)))
}

async function adaptContent(probe: TemplateProbe, message: Message, i: number): Promise<Message> {
  const { role, content } = message
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

export async function adaptContents(probe: TemplateProbe, messages: readonly Message[]): Promise<Message[]> {
  return await Promise.all(messages.map((message, i) => adaptContent(probe, message, i)))
}
