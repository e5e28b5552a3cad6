// Requests to model hubs.
import { GgufError } from '../api/errors.js'
import { refusal, TransientError, unreachable } from '../sources/http-errors.js'
import type { HubOptions } from './types.js'

/**
 * Requests JSON from a hub. Errors: those of HTTP statuses, 'network', and 'html' or 'http-error' for a response that
 * is not JSON.
 */
export async function requestJson(
  url: URL,
  options: HubOptions,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ body: unknown; response: Response }> {
  const { token, signal } = options
  const fetch = options.fetch ?? globalThis.fetch
  const authorization = token ? { Authorization: `Bearer ${token}` } : {}
  let response: Response
  try {
    response = await fetch(url, { headers: { ...headers, ...authorization }, signal: signal ?? null })
  } catch (cause) {
    signal?.throwIfAborted()
    const error = unreachable(url.host, cause)
    throw error instanceof TransientError ? error.error : error
  }
  if (!response.ok) {
    const error = refusal(response, { host: url.host, name: url.pathname })
    throw error instanceof TransientError ? error.error : error
  }
  const text = await response.text()
  try {
    return { body: JSON.parse(text) as unknown, response }
  } catch (cause) {
    const code = text.trimStart().startsWith('<') ? 'html' : 'http-error'
    throw new GgufError(code, `${url.host} answered ${url.pathname} with something else than JSON.`, {
      cause,
    })
  }
}

/** The address of a path on the given server, or on the hub's own. */
export function onServer(server: string | URL | undefined, standard: string, path: string): URL {
  const base = String(server ?? standard).replace(/\/+$/, '')
  return new URL(base + path, globalThis.location?.href)
}

/** Encodes each part of a path. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Half of a surrogate pair is no text: it cannot be part of an address. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && !/\p{Surrogate}/u.test(value) ? value : undefined
/** Counts and sizes. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
/** The path of a file in its repository; undefined for one that leads out of it. */
export const pathOf = (value: unknown): string | undefined => {
  const path = textOf(value)
  return path?.split('/').every((part) => !/^\.{0,2}$/.test(part)) ? path : undefined
}

/** The first of several with the same key: what is listed twice is one. */
export function onlyFirst<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  const first = new Map<string, T>()
  for (const one of all) if (!first.has(keyOf(one))) first.set(keyOf(one), one)
  return [...first.values()]
}
