// Generates the page of the sampler's options from core/engine/sampler_options.inc.
import { flagOf, samplerOptions, type SamplerOption } from '../sampler-options.ts'

const kHead = `# Sampler options

The numeric options of \`generate()\` and \`chat()\`, of \`ggufscope run\`, and of requests in OpenAI's format. They have llama.cpp's
order and meaning. A value out of its range is an error of code [\`invalid-argument\`](./errors.md#invalid-argument).

- The default is the file's, if it has the key \`general.sampling.\` with the name in the column _key_.
- OpenAI limits \`frequency_penalty\` and \`presence_penalty\` in requests to the range from -2 to 2.
- \`seed\` and \`logitBias\` are described in [Run and chat](../guides/run.md#sampling).

| option | command line | request | range | default | key | |
| --- | --- | --- | --- | --: | --- | --- |
`

function row(option: SamplerOption): string {
  const { name, requestName, choices, least, most, default: value, key, text } = option
  const range =
    choices?.join(', ') ??
    (least === undefined ? 'any' : `${least} ${most === undefined ? 'or more' : `to ${most}`}`)
  const cells = [
    `\`${name}\``,
    `\`--${flagOf(option).name}\``,
    `\`${requestName}\``,
    range,
    value,
    key === '' ? '' : `\`${key}\``,
    text,
  ]
  return `| ${cells.join(' | ')} |\n`
}

export const samplingPage = (): string => kHead + samplerOptions().map(row).join('')
