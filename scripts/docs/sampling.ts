// Generates the page of the sampler's options from core/engine/sampler_options.inc.
import { flagOf, rangeOf, samplerOptions, type SamplerOption } from '../sampler-options.ts'

const kHead = `# Sampler options

The numeric options of \`generate()\` and \`chat()\`, of \`ggufscope run\`, and of requests in OpenAI's format. They have llama.cpp's
order and meaning. A value out of its range is an error of code [\`invalid-argument\`](./errors.md#invalid-argument).

OpenAI limits \`frequency_penalty\` and \`presence_penalty\` in requests to the range from -2 to 2. A key in the file replaces the default.
\`seed\` and \`logitBias\` are described in [Run and chat](../guides/run.md#sampling).
`

function section(option: SamplerOption): string {
  const { name, requestName, default: value, key, text } = option
  const file = key === '' ? '' : `, in the file \`general.sampling.${key}\``
  const what = [`${text}.`, rangeOf(option), `Default: ${value}.`].filter((part) => part !== '').join(' ')
  return `\n## ${name}\n\n${what}\n\n\`--${flagOf(option).name}\`, in requests \`${requestName}\`${file}\n`
}

export const samplingPage = (): string => kHead + samplerOptions().map(section).join('')
