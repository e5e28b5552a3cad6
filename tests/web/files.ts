// The files of the shared data, if that folder exists beside the project.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export const kSharedData = join(import.meta.dirname, '../../../shared/data')
const kHasShared = existsSync(kSharedData)
/** The arguments of test.skip(). */
export const kWithoutShared = [!kHasShared, 'no shared/data beside the checkout'] as const

/** "vocab/ggml-vocab-falcon.gguf", ... */
export function sharedFiles(...folders: string[]): string[] {
  if (!kHasShared) return []
  return folders.flatMap((folder) =>
    readdirSync(join(kSharedData, folder))
      .filter((name) => name.endsWith('.gguf'))
      .map((name) => `${folder}/${name}`),
  )
}

export function sharedBytes(path: string): Uint8Array {
  return readFileSync(join(kSharedData, path))
}
