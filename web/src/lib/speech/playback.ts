// Plays samples while they arrive.

/** the rate of all models that speak today; others are resampled by the browser */
const kRate = 24_000
/** seconds for which samples wait at the start and after a gap, so that the next ones are there in time */
const kLead = 0.15
/** seconds that are handed to the browser ahead of what is heard */
const kAhead = 10

export class Playback {
  private readonly context = new AudioContext({ sampleRate: kRate })
  private readonly waiting: { samples: Float32Array<ArrayBuffer>; sampleRate: number }[] = []
  /** when the last samples end that the browser has, on the context's clock */
  private end = 0
  private scheduled = 0
  /** the samples that the browser has: when they begin on the context's clock, and in the speech */
  private parts: { start: number; from: number; duration: number }[] = []
  private given = 0
  private onEnd = () => {}

  /** Browsers allow sound only in the handler of a click or a key: create it there. */
  constructor() {
    void this.context.resume()
    this.context.onstatechange = () => this.onEnd()
  }

  add(samples: Float32Array, sampleRate: number) {
    this.waiting.push({ samples: new Float32Array(samples), sampleRate })
    this.schedule()
  }

  private schedule() {
    const { context } = this
    while (context.state !== 'closed' && this.end - context.currentTime < kAhead) {
      const next = this.waiting.shift()
      if (!next) return
      const buffer = context.createBuffer(1, next.samples.length, next.sampleRate)
      buffer.copyToChannel(next.samples, 0)
      const source = new AudioBufferSourceNode(context, { buffer })
      source.connect(context.destination)
      source.onended = () => {
        this.scheduled--
        this.schedule()
        this.onEnd()
      }
      if (this.end < context.currentTime) this.end = context.currentTime + kLead
      source.start(this.end)
      this.parts.push({ start: this.end, from: this.given, duration: buffer.duration })
      this.given += buffer.duration
      this.scheduled++
      this.end += buffer.duration
    }
  }

  /** How many seconds of the speech were heard. */
  get position(): number {
    const now = this.context.currentTime
    while (this.parts.length > 1 && this.parts[1]!.start <= now) this.parts.shift()
    const [part] = this.parts
    return part ? part.from + Math.max(0, Math.min(part.duration, now - part.start)) : 0
  }

  /** Waits until all is played. A page that may not play does not wait. */
  async finished(): Promise<void> {
    while (this.context.state === 'running' && this.scheduled > 0)
      await new Promise<void>((resolve) => (this.onEnd = resolve))
  }

  close() {
    this.waiting.length = 0
    if (this.context.state !== 'closed') void this.context.close()
  }
}
