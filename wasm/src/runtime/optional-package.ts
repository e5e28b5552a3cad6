// Loads a package that the user may have installed.
import { GgufError, quoted } from '../api/errors.js'
import { isNode } from './node-module.js'

/**
 * In Node, a package that the user has installed, although this one does not depend on it; otherwise undefined. Bundlers
 * do not follow the import. Error: 'unsupported' for a package that cannot be started.
 */
export async function optionalPackage<T>(name: string): Promise<T | undefined> {
  if (!isNode()) return undefined
  try {
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as T
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw new GgufError('unsupported', `The package ${name} does not start: ${quoted(error)}`)
  }
}
