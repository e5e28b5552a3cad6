// A text that a model speaks: it is played while its samples come, and is then a recording.
import type { Model, SpeakOptions } from 'ggufscope/engine'
import { Playback } from './playback'
import { recorded, type Recording } from './sound'

export class Speech {
  /** how much was made so far */
  seconds = $state(0)
  /** seconds of speech that are made in a second */
  speed = $state(0)
  /** share of the text that is spoken, 0 to 1, while it goes on */
  done = $state<number>()
  isPlaying = $state(false)
  /** seconds that were heard, while it is played */
  position = $state(0)
  /** what the model says about the text that it spoke */
  warnings = $state.raw<readonly string[]>([])
  /** all that was made */
  sound = $state.raw<Recording>()
  private playback: Playback | undefined

  /** Begins anew. isHeard: whether it is played while it is made. Browsers allow sound only in the handler of a click or a key. */
  prepare(isHeard: boolean) {
    this.stop()
    this.replace(undefined)
    this.seconds = this.speed = this.position = 0
    this.warnings = []
    if (isHeard) this.playback = new Playback()
  }

  /** Speaks a text. What was made before an error or an abort stays. Errors: those of speak(). */
  async speak(model: Model, text: string, options: SpeakOptions, name: string): Promise<void> {
    const blocks: Float32Array[] = []
    let [length, rate] = [0, 0]
    const start = performance.now()
    try {
      const parts = model.speak(text, options)
      let next = await parts.next()
      for (; !next.done; next = await parts.next()) {
        const { samples, sampleRate, done } = next.value
        blocks.push(samples)
        length += samples.length
        rate = sampleRate
        this.done = done
        this.seconds = length / rate
        this.speed = (1000 * this.seconds) / (performance.now() - start)
        this.isPlaying = this.playback !== undefined
        this.playback?.add(samples, rate)
      }
      this.warnings = next.value.warnings
    } finally {
      this.done = undefined
      if (length > 0) this.replace(await recorded(blocks, rate, name))
    }
  }

  /** Waits until all is heard. */
  async finish(): Promise<void> {
    const { playback } = this
    const follow = () => (this.position = playback?.position ?? 0)
    follow()
    const timer = setInterval(follow, 50)
    await playback?.finished()
    clearInterval(timer)
    if (playback !== this.playback) return
    this.position = 0
    this.stop()
  }

  /** Ends what is heard. */
  stop() {
    this.playback?.close()
    this.playback = undefined
    this.isPlaying = false
  }

  close() {
    this.stop()
    this.replace(undefined)
  }

  private replace(next: Recording | undefined) {
    if (this.sound) URL.revokeObjectURL(this.sound.url)
    this.sound = next
  }
}
