// Where a model comes from: the keys that say it, and those that are missing.
import type { Finding } from '../api/findings.js'
import type { FileKind } from '../api/file.js'
import type { Metadata } from '../api/metadata.js'
import type { Origin, ProvenanceEntry } from './types.js'

const kKeys =
  /^general\.(?:name|basename|version|author|organization|finetune|description|quantized_by|quantization_version|size_label|license(?:\..+)?|url|repo_url|doi|uuid|source\..+|base_model\..+|dataset\..+|tags|languages)$/

/** A group of keys of which one is expected. */
interface Expected {
  readonly keys: readonly string[]
  readonly what: string
}
const kExpected: readonly Expected[] = [
  { keys: ['general.license', 'general.license.name', 'general.license.link'], what: 'the license' },
  {
    keys: ['general.author', 'general.organization', 'general.quantized_by'],
    what: 'who made it',
  },
  {
    keys: [
      ...['general.base_model.count', 'general.source.url', 'general.source.repo_url', 'general.url'],
      ...['general.source.huggingface.repository', 'general.repo_url', 'general.source.uuid'],
    ],
    what: 'the model that it was made from, or its source',
  },
]

export function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A list of texts, or one text. */
export function textsOf(metadata: Metadata, key: string): string[] {
  const value = metadata.get(key)
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value.type === 'string' ? (value.slice(0, 100) as string[]) : []
}

export function provenanceOf(metadata: Metadata): ProvenanceEntry[] {
  return [...metadata.keys()]
    .filter((key) => kKeys.test(key))
    .map((key) => {
      const value = metadata.get(key)
      return { key, value: typeof value === 'object' ? textsOf(metadata, key).join(', ') : String(value) }
    })
}

/** general.base_model.0.name, ...: what a file was made from. */
export function originsOf(metadata: Metadata, of: 'base_model' | 'dataset'): Origin[] {
  const count = Number(metadata.get(`general.${of}.count`) ?? 0)
  return Array.from({ length: Math.min(count, 100) }, (_, i): Origin => {
    const get = (name: string): string | undefined => textOf(metadata, `general.${of}.${i}.${name}`)
    return {
      name: get('name') ?? get('repo_url') ?? get('url') ?? `${of} ${i}`,
      organization: get('organization') ?? get('author'),
      url: get('repo_url') ?? get('url') ?? get('doi'),
    }
  })
}

/** A note for each group of keys of which the file has none. Only models and adapters are published alone. */
export function provenanceFindings(metadata: Metadata, kind: FileKind): Finding[] {
  if (kind !== 'model' && kind !== 'adapter') return []
  return kExpected
    .filter(({ keys }) => !keys.some((key) => metadata.has(key)))
    .map(({ keys, what }) => ({
      level: 'note',
      code: 'provenance-missing',
      message: `the file does not say ${what}: none of ${keys.join(', ')}`,
      shard: 0,
    }))
}
