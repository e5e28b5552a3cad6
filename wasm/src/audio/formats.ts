// Formats a transcript as SubRip, WebVTT or plain text.
import type { Transcription } from './types.js'

function clock(seconds: number, mark: string): string {
  const ms = Math.max(0, Math.round(seconds * 1000))
  const two = (n: number): string => String(n).padStart(2, '0')
  const [h, m, s] = [Math.floor(ms / 3600000), Math.floor(ms / 60000) % 60, Math.floor(ms / 1000) % 60]
  return `${two(h)}:${two(m)}:${two(s)}${mark}${String(ms % 1000).padStart(3, '0')}`
}

export function toSrt({ segments }: Pick<Transcription, 'segments'>): string {
  return segments
    .map(
      ({ start, end, text }, i) =>
        `${i + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text.trim().replaceAll('-->', '->')}\n\n`,
    )
    .join('')
}

export function toVtt({ segments }: Pick<Transcription, 'segments'>): string {
  const cues = segments.map(
    ({ start, end, text }) =>
      `${clock(start, '.')} --> ${clock(end, '.')}\n${text.trim().replaceAll('-->', '->')}\n\n`,
  )
  return `WEBVTT\n\n${cues.join('')}`
}

export function toText({ segments }: Pick<Transcription, 'segments'>): string {
  return segments.map(({ text }) => `${text.trim()}\n`).join('')
}
