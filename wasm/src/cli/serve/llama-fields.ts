// The names that llama.cpp's server gives to options of requests.
import { RequestError } from './failures.js'
import { refuse, type Fields } from './requests.js'

/** In the order in which they act here, which is llama.cpp's default: what switches each off, and whether it acts if the request does not say. */
const kSamplers: readonly { name: string; off: Fields; acts?: boolean }[] = [
  { name: 'penalties', off: { repeat_penalty: 1, frequency_penalty: 0, presence_penalty: 0 } },
  { name: 'dry', off: { dry_multiplier: 0 } },
  { name: 'top_n_sigma', off: { top_n_sigma: -1 } },
  { name: 'top_k', off: { top_k: 0 }, acts: true },
  { name: 'typ_p', off: { typical_p: 1 } },
  { name: 'top_p', off: { top_p: 1 }, acts: true },
  { name: 'min_p', off: { min_p: 0 }, acts: true },
  { name: 'xtc', off: { xtc_probability: 0 } },
  { name: 'temperature', off: { temperature: 1 }, acts: true },
]

/** Other names of samplers that llama.cpp knows. */
const kAliases: Readonly<Record<string, string>> = { typical_p: 'typ_p', temp: 'temperature' }

/**
 * The options that leave only the samplers that a request names. As in llama.cpp, a name without a sampler has no effect.
 * Errors: 'invalid-argument' if it is no list of names, 'unsupported' for another order of those that act.
 */
function sampling(samplers: unknown, fields: Fields): Fields {
  if (samplers === undefined || samplers === null) return {}
  if (!Array.isArray(samplers) || !samplers.every((name) => typeof name === 'string'))
    throw new RequestError(400, 'invalid-argument', 'samplers must be an array of names.')
  const names = samplers.map((name: string) => kAliases[name] ?? name)
  const acting = kSamplers.filter(({ off, acts = false }) =>
    Object.entries(off).some(([option, value]) => (fields[option] ?? (acts ? undefined : value)) !== value),
  )
  const places = names.flatMap((name) => acting.findIndex((one) => one.name === name)).filter((i) => i >= 0)
  if (places.some((place, i) => i > 0 && place < places[i - 1]!))
    refuse(`The samplers act in llama.cpp's order: ${kSamplers.map(({ name }) => name).join(', ')}.`)
  const absent = kSamplers.filter(({ name }) => !names.includes(name))
  return Object.assign({}, ...absent.map(({ off }) => off)) as Fields
}

/** Fields that llama.cpp's clients send. They change no text here. */
const kWithoutEffect = new Set(['api_key', 'backend_sampling', 'cache_prompt', 'id_slot', 'min_keep', 'n_cache_reuse', 'n_indent', 'n_keep', 'post_sampling_probs', 'response_fields', 'return_progress', 'return_tokens', 't_max_predict_ms', 't_max_prompt_ms', 'timings_per_token']) // prettier-ignore

/** A request by the names of OpenAI's API. Errors: those of sampling(). */
export function withOpenAiNames(fields: Fields): Fields {
  const { n_predict, samplers, ...others } = fields
  const kept = Object.entries(others).filter(([name]) => !kWithoutEffect.has(name))
  const max = n_predict ?? undefined
  return {
    ...Object.fromEntries(kept),
    ...sampling(samplers, others),
    ...(max !== undefined && { max_tokens: max }),
  }
}
