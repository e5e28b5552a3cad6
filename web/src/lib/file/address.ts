/** Adds https:// to an address such as "huggingface.co/a/b". A path relative to this page is not changed. */
export function absolute(address: string): string {
  if (/^[a-z][a-z\d+.-]*:/i.test(address) && !/^[\w.-]+:\d+(\/|$)/.test(address)) return address
  // Servers on this computer, or named by number, seldom have certificates.
  if (/^(localhost|\d+(\.\d+){3})(:\d+)?\//i.test(address)) return `http://${address}`
  if (/^[\w-]+(\.[\w-]+)+(:\d+)?\//.test(address)) return `https://${address}`
  return new URL(address, document.baseURI).href
}

/** The name of a split model: that of its first file without its number. */
export const wholeName = (name: string) => name.replace(/-\d{5}-of-\d{5}(?=\.gguf$)/i, '')

/** Whether an address is that of a file itself. Others may name a model on a hub, which has to be found first. */
export function isFileAddress(address: string): boolean {
  const [path = ''] = address.trim().split(/[?#]/)
  const isShort =
    /^[^/:]+\/[^/:]+:|\s|^(ms|modelscope):|^(https?:\/\/)?(www\.)?(hf|huggingface)\.co(\/[^/]+){3}$/i.test(
      path,
    )
  return /\.gguf$/i.test(path) && !isShort
}

/**
 * What a text in an address field names: "owner/name/x.gguf" is a file on the hub, as "owner/name" is a repository there. A file of
 * the page's server begins with "/" or "./".
 */
export const typedAddress = (text: string): string =>
  /^(?!localhost\/)[\w-]+\/[\w.-]+\/[^?#:]*\.gguf$/i.test(text) ? `hf:${text}` : text

const schemes = /^(https?|blob|data|hf|huggingface|ms|modelscope|ollama|github|gh):/i

/** Whether an address has a scheme that a page cannot read, such as "ftp:", or a mistyped one. */
export const isOtherScheme = (address: string): boolean =>
  /^[a-z][a-z\d+.-]*:\//i.test(address) && !schemes.test(address)

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

/** Whether an address is a local path, which a page cannot read: "C:\\models\\x.gguf", "\\\\server\\x", "~/x.gguf". */
export function isLocalPath(address: string): boolean {
  return /^([a-z]:[\\/]|\\\\|~\/|file:|\/(home|Users|mnt|Volumes)\/)/i.test(address)
}
