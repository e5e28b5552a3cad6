// The mmproj file with which the model takes images and audio, or speaks.
import type { GgufFile } from 'ggufscope'
import type { HubVariant } from 'ggufscope/hub'
import { nameOf } from '../file/address'
import { hub } from '../hub/hub.svelte'
import { t } from '../language/text'
import { Companion } from './companion.svelte'
import { refusalOf } from './refusal'

/** WavTokenizer's decoder makes the sound of OuteTTS. */
const isVocoder = ({ metadata }: GgufFile) => metadata.get('general.architecture') === 'wavtokenizer-dec'
const isSpeaker = (file: GgufFile) => file.metadata.has('clip.gen.audio.projector_type') || isVocoder(file)

export class Projector extends Companion {
  readonly role = 'projector'
  /** the projector beside the model in its repository */
  beside = $state.raw<HubVariant>()
  /** whether it is not known yet if there is one */
  looking = $state(false)

  private looked = false

  /** `speaks`: it must have a voice */
  constructor(
    private readonly model: GgufFile,
    readonly speaks = false,
  ) {
    super()
  }

  get takesImages(): boolean {
    return this.has('vision')
  }

  get takesAudio(): boolean {
    return this.has('audio')
  }

  /** Whether recordings give the model a voice. */
  get clones(): boolean {
    return this.file !== undefined && isSpeaker(this.file) && this.takesAudio
  }

  /** Whether a voice is a profile. */
  get takesProfiles(): boolean {
    return this.file !== undefined && isVocoder(this.file)
  }

  private has(kind: 'vision' | 'audio'): boolean {
    const { metadata } = this.file ?? {}
    if (!metadata) return false
    const said = metadata.get(`clip.has_${kind}_encoder`)
    // Older files have images alone, and no key that says so.
    return said === undefined ? kind === 'vision' && !metadata.has('clip.has_audio_encoder') : said === true
  }

  /** Looks once for a projector beside the model. */
  async look(address: string) {
    if (this.looked) return
    this.looked = this.looking = true
    try {
      this.beside = await hub.projectorOf(address, this.signal)
    } catch {
      // Without a listing, a projector can still be chosen.
    } finally {
      this.looking = false
    }
  }

  async useBeside() {
    const url = this.beside?.files[0]?.url
    if (url) await this.use(url, nameOf(url), hub.headersFor(url))
  }

  protected override async fault(file: GgufFile, name: string): Promise<string | undefined> {
    if (file.summary().kind !== 'projector' && !isVocoder(file))
      return t('{name} is not a projector: it has no encoder for images or audio.', { name })
    if (this.speaks && !isSpeaker(file))
      return t('{name} has no voice: it is the projector of another kind of model.', { name })
    const refusal = await refusalOf(this.model, file)
    return refusal?.error === 'other-model'
      ? t('{name} is the projector of another model, and does not go with this one.', { name })
      : refusal?.message
  }
}
