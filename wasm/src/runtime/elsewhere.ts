// Finds a file of the package that is not next to the running code. Development servers bundle a dependency into their
// own folder (Vite: node_modules/.vite/deps), without the files that it loads by address.

import { isNode } from './node-module.js'

const kPackage = /\/node_modules\/ggufscope\//
// The folder in the package that contains the file.
const folderOf = (name: string): string => (name.startsWith('engine-') ? 'wasm/dist/engine' : 'wasm/dist')

/** Addresses to try for a file that was not at the expected address. */
export function elsewhere(url: URL): URL[] {
  if (!/^https?:$/.test(url.protocol) || kPackage.test(url.pathname)) return []
  const name = url.pathname.split('/').pop()!
  const folders = url.pathname.split('/node_modules/').slice(0, -1)
  if (folders.length === 0) return []
  // Searches for the package like Node: from the folder upwards.
  const roots = [...folders.map((_, i) => folders.slice(0, folders.length - i).join('/node_modules/'))]
  for (let up = folders[0]!; up !== '';) roots.push((up = up.slice(0, up.lastIndexOf('/'))))
  return [...new Set(roots)].map(
    (root) => new URL(`${root}/node_modules/ggufscope/${folderOf(name)}/${name}`, url),
  )
}

/** Other ways to get a module that was not at the expected address. */
export function otherSources(url: URL): (URL | Promise<ArrayBuffer>)[] {
  const others: (URL | Promise<ArrayBuffer>)[] = elsewhere(url)
  // Files that were copied next to a bundle are all in its folder. Classic scripts have no address here.
  const here: string | undefined = import.meta.url
  if (here) others.unshift(new URL(url.pathname.split('/').pop()!, here))
  if (url.protocol === 'file:' && !isNode()) others.push(readByRequest(url))
  return others
}

/** Pages from a disk (file:) can read files next to them only with XMLHttpRequest, if at all. */
function readByRequest(url: URL): Promise<ArrayBuffer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('GET', url)
    request.responseType = 'arraybuffer'
    request.onload = () => resolve(request.response as ArrayBuffer)
    request.onerror = () => reject(new Error('the page may not read files'))
    request.send()
  })
}
