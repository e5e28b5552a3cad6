// Recognizes Node, and loads its built-in modules.
import { GgufError } from '../api/errors.js'

interface NodeProcess {
  readonly versions?: { readonly node?: string }
  /** set in Electron, whose windows are pages */
  readonly type?: string
  readonly execArgv?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly platform?: string
  getBuiltinModule?(name: string): unknown
}

// Uses globalThis, because some bundlers replace `process` in code.
export const nodeProcess = (): NodeProcess | undefined => (globalThis as { process?: NodeProcess }).process

/**
 * True in Node and compatible runtimes (Bun, Deno), false in browsers. workerd has parts of Node's API, but no files.
 */
export const isNode = (): boolean => {
  const node = nodeProcess()
  return (
    Boolean(node?.versions?.node) &&
    node?.type !== 'renderer' &&
    globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
  )
}

/** A built-in module of Node, without an import that bundlers would follow. */
export function nodeModule<T>(name: string): T {
  const module = nodeProcess()?.getBuiltinModule?.(name)
  if (!module) throw new GgufError('unsupported', `This needs ${name}, which Node 20.16 or newer has.`)
  return module as T
}
