// What a model hub offers, in one form for all hubs.

export type HubName = 'huggingface' | 'modelscope' | 'ollama'

/** A repository on a hub, as a person names it. */
export interface HubAddress {
  readonly hub: HubName
  /** "owner/name" */
  readonly id: string
  /** a branch, a tag or a commit; of Ollama the tag */
  readonly revision?: string | undefined
  /** "Q4_K_M": the name of a quantization, in any case */
  readonly quantization?: string | undefined
  /** the address of the server, where it is not the hub's own: of a mirror, as the page's address had it */
  readonly server?: string | undefined
}

export interface HubOptions {
  /** The server that speaks the hub's protocol, in place of the hub's own. */
  server?: string | URL | undefined
  /** An access token. It is sent to the server's own origin and nowhere else. */
  token?: string | undefined
  signal?: AbortSignal | undefined
  /** in place of globalThis.fetch */
  fetch?: typeof globalThis.fetch | undefined
}

export interface HubFile {
  /** in the repository, with folders */
  readonly path: string
  /** bytes, of the file itself and not of a pointer to it */
  readonly size: number
  /** what open() takes */
  readonly url: string
  /** of the whole file, in hexadecimal digits, where the hub tells it */
  readonly sha256?: string | undefined
}

/** model: a language model or whatever else stands for itself; projector: for images or sound of a model beside it */
export type VariantKind = 'model' | 'projector' | 'adapter' | 'imatrix'

/** One model of a repository: a file, or all files of a split model. */
export interface HubVariant {
  /** "Q4_K_M", or the file's name where it tells no quantization */
  readonly name: string
  readonly kind: VariantKind
  readonly quantization: string | undefined
  /** in the order that open() and load() take */
  readonly files: readonly HubFile[]
  /** of all files */
  readonly bytes: number
  /** how many files of a split model the repository lacks */
  readonly missing: number
}

export interface Repository {
  readonly hub: HubName
  readonly id: string
  readonly revision: string
  /** its page, for people */
  readonly page: string
  /** every file with the ending .gguf */
  readonly files: readonly HubFile[]
  /** by kind, then by size */
  readonly variants: readonly HubVariant[]
}

export interface FoundModel {
  readonly id: string
  readonly downloads: number | undefined
  readonly likes: number | undefined
  /** ISO 8601 */
  readonly updated: string | undefined
  /** its files need an access token */
  readonly gated: boolean
}
