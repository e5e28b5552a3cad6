// The Whisper model of the open file and its transcript. It is loaded with the first sound.
import type { GgufError } from 'ggufscope'
import type {
  DeviceKind,
  SpeechModel,
  TranscribeOptions,
  TranscriptSegment,
  TranscriptUpdate,
} from 'ggufscope/engine'
import type { Microphone } from './microphone'
import type { Recording } from './sound'
import { session } from '../file/session.svelte'
import { t } from '../language/text'
import { TransferRate, type Transfer } from '../language/transfer'

export interface ListenOptions extends Pick<TranscribeOptions, 'language' | 'task' | 'words' | 'prompt'> {
  /** on the graphics card, if it can */
  card: boolean
}

export class Listener {
  status = $state('')
  /** how far the weights are loaded */
  transfer = $state.raw<Transfer>()
  /** of the transcription, 0 to 1 */
  progress = $state<number>()
  segments = $state.raw<readonly TranscriptSegment[]>([])
  /** while recording: segments that may still change */
  partial = $state.raw<readonly TranscriptSegment[]>([])
  language = $state('')
  /** why it is not on the graphics card, if that was asked for */
  notOnCard = $state('')
  /** bytes of the file that the engine has read */
  loaded = 0
  private control = $state.raw<AbortController>()
  private model: SpeechModel | undefined
  private onCard = false

  /** `keep` waits for a download of the file, and returns whether the file is to be kept. */
  constructor(private readonly keep: (signal: AbortSignal) => Promise<boolean>) {}

  get isLoaded(): boolean {
    return this.model !== undefined
  }

  get busy(): boolean {
    return this.control !== undefined
  }

  stop() {
    this.control?.abort()
  }

  close() {
    this.stop()
    this.model?.close()
    this.model = undefined
  }

  clear() {
    this.segments = this.partial = []
    this.language = ''
  }

  async transcribe({ samples, sampleRate }: Recording, { card, ...options }: ListenOptions): Promise<void> {
    await this.run(card, async (model, signal) => {
      this.clear()
      this.status = t('Transcribing')
      const heard = await model.transcribe(
        { samples, sampleRate },
        {
          ...options,
          signal,
          onSegment: (segment) => (this.segments = [...this.segments, segment]),
          onProgress: (done) => (this.progress = done),
        },
      )
      this.segments = heard.segments
      this.language = heard.languageProbabilities ? heard.language : ''
    })
  }

  /** Transcribes what a microphone records, until it stops. */
  async follow(microphone: Microphone, { card, ...options }: ListenOptions): Promise<void> {
    await this.run(card, async (model, signal) => {
      const { transcribeStream } = await import('ggufscope/engine')
      this.clear()
      this.status = t('Recording##status')
      const { sampleRate } = microphone
      for await (const update of transcribeStream(model, microphone.blocks(), {
        ...options,
        sampleRate,
        signal,
      }))
        this.take(update)
    })
  }

  private take({ final, partial }: TranscriptUpdate) {
    this.segments = [...this.segments, ...final]
    this.partial = partial
  }

  private async run(
    card: boolean,
    work: (model: SpeechModel, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    this.stop()
    const control = (this.control = new AbortController())
    try {
      await work(await this.ready(card, control.signal), control.signal)
    } catch (error) {
      // After a crash, the next sound loads the model anew.
      if ((error as Partial<GgufError> | null)?.code === 'crashed') {
        this.model?.close()
        this.model = undefined
      }
      if (!control.signal.aborted) throw error
    } finally {
      if (this.control === control) {
        this.control = this.progress = this.transfer = undefined
        this.status = ''
        this.partial = []
      }
    }
  }

  /** The model on the device that is asked for; a model that no card can run is on the CPU. */
  private async ready(card: boolean, signal: AbortSignal): Promise<SpeechModel> {
    if (this.model && card === this.onCard) return this.model
    this.model?.close()
    this.model = undefined
    this.onCard = card
    this.notOnCard = ''
    if (!card) return (this.model = await this.load('cpu', signal))
    try {
      this.model = await this.load('gpu', signal)
    } catch (error) {
      signal.throwIfAborted()
      this.notOnCard = (error as Error).message
      this.model = await this.load('cpu', signal)
    }
    return this.model
  }

  private async load(device: DeviceKind, signal: AbortSignal): Promise<SpeechModel> {
    const { source, headers } = session
    this.status = t('Starting the engine')
    const { load } = await import('ggufscope/engine')
    const rate = new TransferRate()
    const model = await load<SpeechModel>(source!, {
      device,
      onDevice: ({ deviceReason }) => (this.notOnCard = deviceReason),
      signal,
      headers,
      cache: await this.keep(signal),
      onProgress: ({ phase, loaded, total }) => {
        if (phase !== 'weights') return
        this.status = t('Loading the weights')
        this.loaded = Math.max(this.loaded, loaded)
        this.transfer = rate.measure(loaded, total)
      },
    })
    this.transfer = undefined
    return model
  }
}
