// The keys of an architecture: numbers, and arrays with one number for each layer.
import type { GgufFile } from '../api/file.js'
import { GgufError } from '../api/errors.js'

export class ModelKeys {
  readonly architecture: string
  readonly #file: GgufFile

  /** Also reads arrays that a preview left out, because some have one number for each layer. */
  static async of(file: GgufFile): Promise<ModelKeys> {
    const keys = new ModelKeys(file)
    for (const [key, value] of file.metadata)
      if (typeof value === 'object' && !value.loaded && key.startsWith(`${keys.architecture}.`))
        await value.load()
    return keys
  }

  private constructor(file: GgufFile) {
    const architecture = file.metadata.get('general.architecture')
    if (file.summary().kind !== 'model' || typeof architecture !== 'string')
      throw new GgufError(
        'unsupported',
        'The file holds no model that runs by itself: there is no memory to estimate.',
      )
    this.architecture = architecture
    this.#file = file
  }

  has(key: string): boolean {
    return this.#file.metadata.has(`${this.architecture}.${key}`)
  }

  /** A number, or the first element of an array. */
  number(key: string): number | undefined {
    return this.#values(key)?.[0]
  }

  /** One number for each layer, from a single number or an array. */
  layers(key: string, count: number): number[] | undefined {
    const values = this.#values(key)
    if (!values) return undefined
    const one = values.length === 1 && !this.isArray(key)
    return Array.from({ length: count }, (_, i) => (one ? values[0]! : (values[i] ?? 0)))
  }

  isArray(key: string): boolean {
    return typeof this.#file.metadata.get(`${this.architecture}.${key}`) === 'object'
  }

  #values(key: string): number[] | undefined {
    const value = this.#file.metadata.get(`${this.architecture}.${key}`)
    const values = typeof value === 'object' ? value.slice(0, 4096) : value === undefined ? [] : [value]
    const numbers = values.flatMap((one) => {
      const number = typeof one === 'boolean' ? Number(one) : one
      return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? [number] : []
    })
    return numbers.length === 0 ? undefined : numbers
  }
}
