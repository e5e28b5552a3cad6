// How far a transfer of bytes is: its rate over the last seconds, and the time left.
import { bytes, count } from './format'
import { t } from './text'

export interface Transfer {
  loaded: number
  total: number
  /** bytes a second; undefined: not known yet */
  rate: number | undefined
}

const windowMs = 6000
const shortestMs = 400

/** Measures the rate of one transfer. */
export class TransferRate {
  private samples: (readonly [at: number, loaded: number])[] = []

  measure(loaded: number, total: number): Transfer {
    const now = performance.now()
    this.samples.push([now, loaded])
    while (this.samples.length > 2 && now - this.samples[1]![0] > windowMs) this.samples.shift()
    const [at, before] = this.samples[0]!
    const rate = now - at < shortestMs ? undefined : Math.max(0, ((loaded - before) / (now - at)) * 1000)
    return { loaded, total, rate }
  }
}

/** A time in one or two units: 45 -> "45 s", 200 -> "3 min", 5000 -> "1 h 23 min". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${count(Math.ceil(seconds))} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${count(minutes)} min` : `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

/** "1.2 GB of 4.4 GB, 12 MB a second, 4 min left" */
export function transferText({ loaded, total, rate }: Transfer): string {
  const values = { loaded: bytes(loaded), total: bytes(total) }
  if (!rate) return t('{loaded} of {total}', values)
  const left = duration((total - loaded) / rate)
  return t('{loaded} of {total}, {rate} a second, {left} left', { ...values, rate: bytes(rate), left })
}
