/** A microphone that is recording. */
export class Microphone {
  readonly sampleRate: number
  /** what was recorded so far */
  readonly recorded: Float32Array[] = []
  private ended = false
  private wake = () => {}
  private readonly context: AudioContext
  private readonly stream: MediaStream

  private constructor(context: AudioContext, stream: MediaStream, node: AudioWorkletNode) {
    this.context = context
    this.stream = stream
    this.sampleRate = context.sampleRate
    node.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
      if (this.ended) return
      this.recorded.push(data)
      this.wake()
    }
    context.createMediaStreamSource(stream).connect(node)
    for (const track of stream.getAudioTracks()) track.onended = () => void this.stop()
  }

  /** Asks for permission, and starts. Error: the page may not use a microphone, or there is none. */
  static async start(): Promise<Microphone> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
    const context = new AudioContext()
    try {
      await context.audioWorklet.addModule(new URL('capture.js', document.baseURI))
      return new Microphone(context, stream, new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 }))
    } catch (error) {
      for (const track of stream.getTracks()) track.stop()
      await context.close()
      throw error
    }
  }

  /** length of what was recorded */
  get seconds(): number {
    return this.recorded.reduce((sum, { length }) => sum + length, 0) / this.sampleRate
  }

  async stop(): Promise<void> {
    if (this.ended) return
    this.ended = true
    for (const track of this.stream.getTracks()) track.stop()
    this.wake()
    await this.context.close()
  }

  async *blocks(): AsyncGenerator<Float32Array> {
    for (let at = 0; ;) {
      while (at < this.recorded.length) yield this.recorded[at++]!
      if (this.ended) return
      await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }
}
