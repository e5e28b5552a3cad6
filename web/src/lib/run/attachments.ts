// Images and audio of a message, in base64, so that a conversation can be stored and exported.
import type { MediaPart } from 'ggufscope/engine'
import type { Projector } from './projector.svelte'
import { decodeAudio } from '../speech/sound'
import { t } from '../language/text'

export interface Attachment {
  kind: 'image' | 'audio'
  name: string
  /** the media type */
  type: string
  /** the file in base64; empty if it was too large to be stored with the conversation */
  data: string
}

/** in bytes */
const largest = 20_000_000

/** the files that a message takes, for `accept` and for dragged items */
export const mediaTypes = /^(image|audio)\//

async function checkImage(file: File): Promise<void> {
  try {
    ;(await createImageBitmap(file)).close()
  } catch {
    throw new Error(t('{name} is not an image that this browser can decode.', { name: file.name }))
  }
}

/**
 * Reads a chosen, dropped or pasted file. Throws an Error if the projector does not take its kind, or if the browser
 * cannot decode it.
 */
export async function attach(file: File, projector: Projector): Promise<Attachment> {
  if (!mediaTypes.test(file.type))
    throw new Error(t('{name} is neither an image nor audio.', { name: file.name }))
  const kind = file.type.startsWith('image/') ? 'image' : 'audio'
  if (kind === 'image' && !projector.takesImages)
    throw new Error(
      t('{name} is an image, and {projector} takes only audio.', {
        name: file.name,
        projector: projector.name,
      }),
    )
  if (kind === 'audio' && !projector.takesAudio)
    throw new Error(
      t('{name} is audio, and {projector} takes only images.', {
        name: file.name,
        projector: projector.name,
      }),
    )
  if (file.size > largest) throw new Error(t('{name} is larger than 20 MB.', { name: file.name }))
  if (kind === 'image') await checkImage(file)
  else await decodeAudio(file, file.name)
  return { kind, name: file.name, type: file.type, data: await base64Of(file) }
}

function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error ?? new Error(t('The file cannot be read.')))
    reader.readAsDataURL(file)
  })
}

export function blobOf({ data, type }: Attachment): Blob {
  return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type })
}

/** The parts of a message's content for the engine. */
export const partsOf = (attachments: readonly Attachment[]): MediaPart[] =>
  attachments
    .filter(({ data }) => data !== '')
    .map((one) =>
      one.kind === 'image' ? { type: 'image', image: blobOf(one) } : { type: 'audio', audio: blobOf(one) },
    )

/** The attachment in stored JSON; undefined if it is not one. */
export function attachmentFrom(saved: unknown): Attachment | undefined {
  const { kind, name, type, data } = (saved ?? {}) as Partial<Record<keyof Attachment, unknown>>
  const fits =
    (kind === 'image' || kind === 'audio') &&
    typeof name === 'string' &&
    typeof type === 'string' &&
    mediaTypes.test(type) &&
    typeof data === 'string' &&
    /^[\w+/]*={0,2}$/.test(data)
  return fits ? { kind, name, type, data } : undefined
}
