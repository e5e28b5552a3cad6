// What the user chose in Memory, for each of the last files of this tab: it survives a reload.
import { tabStorage } from '../page/storage'

/** Undefined `layers`: as many as fit. */
export interface Choices {
  context: number
  keys: string
  values: string
  layers?: number | undefined
  cpuExperts: number
}

const key = 'memory.choices'
const longest = 20

/** The choices of a file by its label; a value that is absent, or edited by hand, is left out. */
export function choicesOf(label: string): Partial<Choices> {
  const kept = tabStorage.record(key)[label]
  const { context, keys, values, layers, cpuExperts } = (
    typeof kept === 'object' ? (kept ?? {}) : {}
  ) as Record<string, unknown>
  const whole = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const all = {
    context: whole(context) || undefined,
    keys: text(keys),
    values: text(values),
    layers: whole(layers),
    cpuExperts: whole(cpuExperts),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

export function keepChoices(label: string, choices: Choices) {
  const others = Object.entries(tabStorage.record(key)).filter(([name]) => name !== label)
  tabStorage.set(key, JSON.stringify(Object.fromEntries([...others, [label, choices]].slice(-longest))))
}
