// Reads core/engine/sampler_options.inc, the table of the sampler's options.
import { rowsOf } from './core-tables.ts'

export const kSamplerTable = 'core/engine/sampler_options.inc'

export interface SamplerOption {
  readonly name: string
  readonly isInteger: boolean
  readonly default: number
  /** the key after general.sampling., or empty */
  readonly key: string
  /** its name in llama.cpp's and OpenAI's requests */
  readonly requestName: string
  /** all allowed values, if they are not a range */
  readonly choices: readonly number[] | undefined
  readonly min: number | undefined
  /** whether the minimum itself is no allowed value */
  readonly isMinExcluded: boolean
  readonly max: number | undefined
  /** a sentence without its full stop */
  readonly text: string
}

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined || text === '' ? undefined : Number(text)

export function samplerOptions(): SamplerOption[] {
  const rows = rowsOf(
    kSamplerTable,
    /^SAMPLER_OPTION\((float|int32_t), \w+, (\w+), ([-.\d]+)f?, "(\w*)", "(\w+)", "([-.<|\d]*)", "(.+)"\)$/gm,
  )
  return rows.map(([type, name, value, key, requestName, range, text]) => {
    const [min, max] = range!.split('..')
    const choices = range!.includes('|') ? range!.split('|').map(Number) : undefined
    return {
      name: name!,
      isInteger: type === 'int32_t',
      default: Number(value),
      key: key!,
      requestName: requestName!,
      choices,
      min: choices ? undefined : numberOf(min!.replace('<', '')),
      isMinExcluded: range!.includes('<'),
      max: numberOf(max),
      text: text!,
    }
  })
}

/** "From 0 to 1.", "Above 0.", or empty */
export function rangeOf({ choices, min, isMinExcluded, max }: SamplerOption): string {
  if (choices) return `${choices.join(' or ')}.`
  if (min === undefined) return ''
  if (isMinExcluded) return `Above ${min}.`
  return max === undefined ? `From ${min}.` : `From ${min} to ${max}.`
}

/** The option on the command line: "--top-k N" */
export function flagOf({ name, isInteger, max }: SamplerOption): { name: string; value: string } {
  const value = isInteger ? 'N' : max === 1 ? 'P' : 'R'
  return { name: name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value }
}
