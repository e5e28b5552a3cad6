// node scripts/make-sampler-options.ts: writes wasm/src/{engine,cli,openai}/sampler-options.ts, the types, checks,
// command line options and request fields of core/engine/sampler_options.inc. The build runs it.
import { writeSource } from './core-tables.ts'
import { flagOf, kSamplerTable, rangeOf, samplerOptions, type SamplerOption } from './sampler-options.ts'

const options = samplerOptions()
const each = (line: (option: SamplerOption) => string): string => options.map(line).join('\n')

const write = (folder: string, text: string): void =>
  writeSource(import.meta.filename, `wasm/src/${folder}/sampler-options.ts`, kSamplerTable, text)

const docOf = (option: SamplerOption, value: string | number): string =>
  `  /** ${[`${option.text}.`, rangeOf(option), `Default: ${value}.`].filter((part) => part !== '').join(' ')} */`

function checkOf({ isInteger, choices, min, isMinExcluded, max }: SamplerOption): string {
  if (choices) return `oneOf(${choices.join(', ')})`
  if (isInteger) return `integer(${min}, ${max ?? 2 ** 31 - 1})`
  if (isMinExcluded) return `floatAbove${min}`
  return `${max === undefined ? 'float' : 'number'}(${[min, max].filter((limit) => limit !== undefined).join(', ')})`
}

write(
  'engine',
  `import { integer, number, oneOf, type Check } from '../api/checks.js'
import { float, floatAbove0 } from './float-checks.js'

/** The sampler's numeric options. */
export interface SamplerOptions {
${each((option) => `${docOf(option, option.default)}\n  ${option.name}?: number | undefined`)}
}

export const kSamplerChecks: Readonly<Record<keyof SamplerOptions, Check>> = {
${each((option) => `  ${option.name}: ${checkOf(option)},`)}
}
`,
)

/** The text of --help begins with a small letter, except for acronyms. */
const helpOf = ({ text, default: value }: SamplerOption): string =>
  `${/^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1)}; default: ${value}`

write(
  'cli',
  `import type { SamplerOptions } from '../engine/sampler-options.js'
import type { Option } from './command.js'

export const kSampler: Readonly<Record<keyof SamplerOptions, Option & { readonly name: string }>> = {
${each((option) => {
  const choices = option.choices?.map(String)
  return `  ${option.name}: ${JSON.stringify({ ...flagOf(option), choices, help: helpOf(option) })},`
})}
}
`,
)

write(
  'openai',
  `/** The sampler's options by llama.cpp's names, or OpenAI's where it has them. */
export interface SamplerRequest {
${each((option) => `${docOf(option, option.key === '' ? option.default : `the file's, or ${option.default}`)}\n  readonly ${option.requestName}?: number | null | undefined`)}
}

export const kSamplerNames = {
${each(({ name, requestName }) => `  ${requestName}: '${name}',`)}
} as const
`,
)
