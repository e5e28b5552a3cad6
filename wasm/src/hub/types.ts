// The contents of model hubs, in the same form for all hubs.

/** github: the files of a release */
export type HubName = 'huggingface' | 'modelscope' | 'ollama' | 'github'

/** A repository on a hub, as named by a user. */
export interface HubAddress {
  readonly hub: HubName
  /** "owner/name" */
  readonly id: string
  /** a branch, a tag or a commit; for Ollama and GitHub the tag */
  readonly revision?: string | undefined
  /** "Q4_K_M": the name of a quantization, in any case; or the name of another variant, or the path of its file */
  readonly quantization?: string | undefined
  /** the path of the file that a page shows */
  readonly file?: string | undefined
  /** the folder that a page shows */
  readonly folder?: string | undefined
  /** the address of the server, if it is not the hub's own: a mirror, taken from the page's address */
  readonly server?: string | undefined
}

export interface HubOptions {
  /** A server with the hub's protocol, instead of the hub's own. */
  server?: string | URL | undefined
  /** An access token. It is sent only to the server's origin. */
  token?: string | undefined
  signal?: AbortSignal | undefined
  /** used instead of globalThis.fetch */
  fetch?: typeof globalThis.fetch | undefined
}

export interface HubFile {
  /** in the repository, with folders */
  readonly path: string
  /** bytes of the file itself, not of a Git LFS pointer */
  readonly size: number
  /** an argument for open() */
  readonly url: string
  /** hash of the whole file in hexadecimal digits, if the hub provides it */
  readonly sha256?: string | undefined
}

/**
 * model: a language model or another file that is used alone. The others are used with a model; projector: for images
 * or audio; draft: for speculative decoding (a draft model, heads such as MTP and EAGLE); component: a text encoder, an
 * autoencoder or a vocoder of a model that makes images, videos or speech.
 */
export type VariantKind = 'model' | 'projector' | 'draft' | 'component' | 'adapter' | 'imatrix'

/** One model of a repository: a file, or all files of a split model, or all parts of a file. */
export interface HubVariant {
  /**
   * differs from all others of the repository: "Q4_K_M", or the file's path without its ending if it is no model, has no
   * quantization, or if several have the same
   */
  readonly name: string
  readonly kind: VariantKind
  readonly quantization: string | undefined
  /** in the order for open() and load() */
  readonly files: readonly HubFile[]
  /** sum over all files */
  readonly bytes: number
  /** number of files of a split model that are missing in the repository */
  readonly missing: number
}

export interface Repository {
  readonly hub: HubName
  readonly id: string
  readonly revision: string
  /** address of the page for people */
  readonly page: string
  /** every file with the ending .gguf, and parts of such files (.gguf.part1of2, .gguf-split-a) */
  readonly files: readonly HubFile[]
  /** sorted by kind, then by size */
  readonly variants: readonly HubVariant[]
}

export interface FoundModel {
  readonly id: string
  readonly downloads: number | undefined
  readonly likes: number | undefined
  /** ISO 8601 */
  readonly updated: string | undefined
  /** access to the files needs a token */
  readonly gated: boolean
}
