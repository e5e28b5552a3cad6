// Recordings: their samples for the model and for the waveform, and an address for playing them.
import { t } from '../language/text'

export interface Recording {
  name: string
  samples: Float32Array
  sampleRate: number
  /** seconds */
  duration: number
  /** the file, and an object URL of it */
  blob: Blob
  url: string
}

const modelRate = 16000

const recording = (name: string, samples: Float32Array, sampleRate: number, blob: Blob): Recording => ({
  name,
  samples,
  sampleRate,
  duration: samples.length / sampleRate,
  blob,
  url: URL.createObjectURL(blob),
})

/** Decodes an audio file. Throws an Error if the browser cannot. */
export async function decodeAudio(blob: Blob, name: string): Promise<AudioBuffer> {
  try {
    return await new OfflineAudioContext(1, 1, modelRate).decodeAudioData(await blob.arrayBuffer())
  } catch {
    throw new Error(t('{name} is not audio that this browser can decode.', { name }))
  }
}

/** Decodes an audio file, and averages its channels. */
export async function decodeRecording(blob: Blob, name: string): Promise<Recording> {
  const buffer = await decodeAudio(blob, name)
  const samples = new Float32Array(buffer.length)
  for (let c = 0; c < buffer.numberOfChannels; c++) {
    const channel = buffer.getChannelData(c)
    for (let i = 0; i < samples.length; i++) samples[i]! += channel[i]! / buffer.numberOfChannels
  }
  return recording(name, samples, buffer.sampleRate, blob)
}

/** Blocks of samples as one recording. It is played and saved as a WAV file of 16-bit samples. */
export async function recorded(
  blocks: readonly Float32Array[],
  sampleRate: number,
  name = 'recording',
): Promise<Recording> {
  const { toWav } = await import('ggufscope/engine')
  const samples = new Float32Array(blocks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const block of blocks) {
    samples.set(block, at)
    at += block.length
  }
  return recording(name, samples, sampleRate, new Blob([toWav(samples, sampleRate)], { type: 'audio/wav' }))
}

/** The outline of a waveform, as an SVG path of width n and height 2 around 0. */
export function waveform(samples: Float32Array, n: number): string {
  const peaks = Array.from({ length: n }, (_, i) => {
    const end = Math.floor(((i + 1) * samples.length) / n)
    let max = 0
    for (let at = Math.floor((i * samples.length) / n); at < end; at++)
      max = Math.max(max, Math.abs(samples[at]!))
    return max
  })
  const scale = 1 / Math.max(0.05, ...peaks)
  return peaks
    .map((peak, i) => {
      const height = Math.max(0.02, peak * scale)
      return `M${i + 0.2} ${(-height).toFixed(3)}h.6v${(2 * height).toFixed(3)}h-.6z`
    })
    .join('')
}
