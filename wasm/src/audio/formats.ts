// Formats a transcript as SubRip, WebVTT or plain text.
import { checkArgument, listOf, object, type Check } from '../api/checks.js'
import type { Transcription } from './types.js'

function clock(seconds: number, mark: string): string {
  const ms = Math.max(0, Math.round(seconds * 1000))
  const two = (n: number): string => String(n).padStart(2, '0')
  const [h, m, s] = [Math.floor(ms / 3600000), Math.floor(ms / 60000) % 60, Math.floor(ms / 1000) % 60]
  return `${two(h)}:${two(m)}:${two(s)}${mark}${String(ms % 1000).padStart(3, '0')}`
}

function segmentsOf(what: string, given: Pick<Transcription, 'segments'>): Transcription['segments'] {
  const isOne: Check = (value) =>
    object(value) ?? listOf(object, 'one with segments')((value as { segments?: unknown }).segments)
  checkArgument(what, 'transcription', given, isOne)
  return given.segments
}

/** Writes the segments as subtitles in SubRip's format (.srt). Error: 'invalid-argument'. */
export function toSrt(transcription: Pick<Transcription, 'segments'>): string {
  return segmentsOf('toSrt()', transcription)
    .map(
      ({ start, end, text }, i) =>
        `${i + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text.trim().replaceAll('-->', '->')}\n\n`,
    )
    .join('')
}

/** Writes the segments as subtitles in WebVTT's format (.vtt). Error: 'invalid-argument'. */
export function toVtt(transcription: Pick<Transcription, 'segments'>): string {
  const cues = segmentsOf('toVtt()', transcription).map(
    ({ start, end, text }) =>
      `${clock(start, '.')} --> ${clock(end, '.')}\n${text.trim().replaceAll('-->', '->')}\n\n`,
  )
  return `WEBVTT\n\n${cues.join('')}`
}

/** Writes the text of each segment in a line of its own. Error: 'invalid-argument'. */
export function toText(transcription: Pick<Transcription, 'segments'>): string {
  return segmentsOf('toText()', transcription)
    .map(({ text }) => `${text.trim()}\n`)
    .join('')
}
