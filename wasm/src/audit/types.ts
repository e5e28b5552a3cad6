// Public types of ggufscope/audit.
import type { Finding } from '../api/findings.js'
import type { AssetOptions } from '../api/assets.js'
import type { ReadOptions } from '../api/source.js'

/** uuid: a UUID of version 5 made of SHA-1, in the name space of llama.cpp. Tensors have none. */
export type HashAlgorithm = 'sha256' | 'sha1' | 'xxh64' | 'uuid'

/** Hashes in lower-case hexadecimal, by algorithm. */
export type Hashes = Readonly<Partial<Record<HashAlgorithm, string>>>

export interface HashOptions extends ReadOptions {
  /** One or several, which are computed in one pass. Default: 'sha256' */
  algorithm?: HashAlgorithm | readonly HashAlgorithm[] | undefined
  /** Called with the number of bytes read so far, and the number of all. */
  onProgress?: ((loaded: number, total: number) => void) | undefined
}

export interface TensorHashes {
  readonly name: string
  readonly shard: number
  readonly hashes: Hashes
}

export interface FileHashes {
  /** The physical files: more than one for a split model. */
  readonly files: readonly {
    readonly name: string | undefined
    /** of the data of all its tensors, in the order of the header, as llama-gguf-hash computes it for a file */
    readonly hashes: Hashes
    /** SHA-256 of all bytes of the file, as sha256sum and model hubs compute it */
    readonly sha256: string
  }[]
  /** in the order of the header */
  readonly tensors: readonly TensorHashes[]
}

/** What a finding is about. */
export type AuditSubject = 'file' | 'load' | 'template' | 'text' | 'provenance' | 'duplicates'

export interface AuditFinding extends Finding {
  readonly subject: AuditSubject
}

/** A key that says where the model comes from, or who may use it. */
export interface ProvenanceEntry {
  readonly key: string
  readonly value: string
}

/** Tensors with the same bytes and the same type. */
export interface DuplicateTensors {
  /** bytes of each */
  readonly bytes: number
  readonly type: string
  /** file: the index in `files` of the report */
  readonly tensors: readonly { readonly file: number; readonly name: string }[]
}

/** A model that this one was made from, or a data set. */
export interface Origin {
  readonly name: string
  readonly organization?: string | undefined
  readonly url?: string | undefined
}

export interface AuditedFile {
  readonly name: string | undefined
  /** bytes of all its files, as far as they are known */
  readonly size: number | undefined
  readonly architecture: string | undefined
  readonly title: string | undefined
  readonly fileType: string | undefined
  readonly parameters: number
  readonly license: string | undefined
  readonly author: string | undefined
  readonly organization: string | undefined
  readonly version: string | undefined
  readonly description: string | undefined
  readonly url: string | undefined
  readonly baseModels: readonly Origin[]
  readonly datasets: readonly Origin[]
  readonly tags: readonly string[]
  readonly findings: readonly AuditFinding[]
  readonly provenance: readonly ProvenanceEntry[]
  /** only if hashes were asked for */
  readonly hashes: FileHashes | undefined
}

export interface AuditReport {
  readonly files: readonly AuditedFile[]
  /** only if hashes were asked for; the groups with most bytes first */
  readonly duplicates: readonly DuplicateTensors[]
}

export interface AuditOptions extends ReadOptions, AssetOptions {
  /** Hashes to compute, which reads all bytes of the files. Default: none, and only headers are read. */
  hash?: HashAlgorithm | readonly HashAlgorithm[] | undefined
  /** Also runs the engine's own checks of lintLoad(), for which the engine is loaded. Default: true */
  load?: boolean | undefined
  /** The address of the engine's worker, as in LoadOptions. */
  workerUrl?: string | URL | undefined
  /** Called with the number of bytes of all files hashed so far, and the number of all. */
  onProgress?: ((loaded: number, total: number) => void) | undefined
}

export interface FormatOptions {
  /** The version of the tool that made the report. */
  version?: string | undefined
  /** The time of the report. Default: now */
  now?: Date | undefined
}
