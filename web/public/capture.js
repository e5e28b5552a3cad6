// An audio worklet: passes the samples of its first input to the page, as the mean of their channels.
class Capture extends AudioWorkletProcessor {
  constructor() {
    super()
    this.block = new Float32Array(4096)
    this.filled = 0
  }
  process([channels]) {
    const n = channels[0]?.length ?? 0
    for (let i = 0; i < n; i++) {
      let sum = 0
      for (const channel of channels) sum += channel[i]
      this.block[this.filled++] = sum / channels.length
      if (this.filled < this.block.length) continue
      this.port.postMessage(this.block)
      this.filled = 0
    }
    return true
  }
}
registerProcessor('capture', Capture)
