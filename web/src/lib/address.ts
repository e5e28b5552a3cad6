/** Adds https:// to "huggingface.co/a/b"; a path relative to this page stays one. */
export function absolute(address: string): string {
  if (/^[a-z][a-z\d+.-]*:/i.test(address) && !/^[\w.-]+:\d+(\/|$)/.test(address)) return address
  if (/^[\w-]+(\.[\w-]+)+(:\d+)?\//.test(address)) return `https://${address}`
  return new URL(address, document.baseURI).href
}

/** The last part of the path, as a name. */
export function nameOf(address: string): string {
  const path = address.split(/[?#]/)[0] ?? address
  const last = path.split('/').filter(Boolean).at(-1) ?? address
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** "C:\\models\\x.gguf", "\\\\server\\x", "~/x.gguf", "file:///x.gguf": nothing that a page can read. */
export function isLocalPath(address: string): boolean {
  return /^([a-z]:[\\/]|\\\\|~\/|file:|\/(home|Users|mnt|Volumes)\/)/i.test(address)
}
