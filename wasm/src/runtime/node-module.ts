import { GgufError } from '../api/errors.js'

interface NodeProcess {
  readonly versions?: { readonly node?: string }
  /** Electron's: its windows are pages */
  readonly type?: string
  readonly execArgv?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly platform?: string
  getBuiltinModule?(name: string): unknown
}

// By globalThis: some bundlers replace `process` in code by a substitute.
export const nodeProcess = (): NodeProcess | undefined => (globalThis as { process?: NodeProcess }).process

/**
 * Whether this is Node or a compatible runtime (Bun, Deno); otherwise a browser. workerd has parts of Node,
 * but no files.
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
  if (!module) throw new GgufError('unsupported', `Node 20.16 or newer has ${name}.`)
  return module as T
}
