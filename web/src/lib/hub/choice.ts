// Helps to choose among the quantizations of a model: what fits on a computer, what is lost, and which one to take.
import type { MemoryEstimate } from 'ggufscope'
import type { HubVariant, Repository } from 'ggufscope/hub'
import type { Plain } from '../../texts/text'

/** fits: with room to spare; tight: barely, or a part of it beside the graphics card; no: not at all */
export type Verdict = 'fits' | 'tight' | 'no'

/** The share of the memory that leaves room for other programs. */
const comfortable = 0.9

/** `room`: bytes of the memory that the model should be in, which is the graphics card's if there is one. */
export function verdictOf({ total, fits }: MemoryEstimate, room: number): Verdict {
  if (fits === false) return 'no'
  return total <= comfortable * room ? 'fits' : 'tight'
}

const losses: readonly [bits: number, what: Plain][] = [
  [15, 'as the original'],
  [7.9, 'hardly any loss'],
  [5.2, 'very small loss'],
  [4.2, 'small loss'],
  [3.2, 'noticeable loss'],
  [0, 'strong loss'],
]

/** What a model of so many bits per weight loses, in words. */
export const lossOf = (bitsPerWeight: number): Plain =>
  (losses.find(([bits]) => bitsPerWeight >= bits) ?? losses.at(-1)!)[1]

/** More bits than these make a model slower, and hardly better. */
const maxUseful = 9

export interface Candidate {
  name: string
  bits: number
  verdict: Verdict
}

/** The name of the best one that fits; of those that are tight, the smallest. undefined: none. */
export function recommended(all: readonly Candidate[]): string | undefined {
  const useful = all.filter(({ bits }) => bits <= maxUseful)
  const some = useful.length > 0 ? useful : all
  const fitting = some.filter(({ verdict }) => verdict === 'fits').toSorted((a, b) => b.bits - a.bits)
  const tight = some.filter(({ verdict }) => verdict === 'tight').toSorted((a, b) => a.bits - b.bits)
  return (fitting[0] ?? tight[0])?.name
}

/** The link, and texts that start a model elsewhere, each with the name of the program. */
export function commandsFor(
  { id, hub }: Repository,
  { name, kind, files, quantization }: HubVariant,
): [title: Plain, text: string][] {
  const urls = files.map(({ url }) => url)
  const link: [Plain, string] = ['Link', urls.join('\n')]
  if (kind !== 'model') return [link]
  const tag = quantization === name ? `:${name}` : ''
  const isHere = hub === 'huggingface'
  const code = `import { load } from 'ggufscope/engine'

const model = await load(${JSON.stringify(urls.length > 1 ? urls : urls[0])})
for await (const { text } of model.chat([{ role: 'user', content: 'Hello' }])) console.log(text)
`
  return [
    link,
    ...(isHere
      ? ([
          ['llama-server', `llama-server -hf ${id}${tag}`],
          ['ollama', `ollama run hf.co/${id}${tag}`],
        ] satisfies [Plain, string][])
      : []),
    ['JavaScript', code],
  ]
}
