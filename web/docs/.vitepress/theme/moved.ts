// Leads old links into the API reference to the page that has their target now: scripts/docs/api-split.ts divides long pages.
import { withBase } from 'vitepress'

type Moved = Partial<Record<string, Record<string, readonly string[]>>>

async function follow(): Promise<void> {
  const anchor = decodeURIComponent(location.hash.slice(1))
  const [, page = ''] = /\/reference\/api\/([\w-]+)(?:\.html)?$/.exec(location.pathname) ?? []
  if (anchor === '' || page === '' || document.getElementById(anchor)) return
  const response = await fetch(withBase('/api-anchors.json'))
  if (!response.ok) return
  const parts = ((await response.json()) as Moved)[page] ?? {}
  const found = Object.keys(parts).find((name) => parts[name]!.includes(anchor))
  if (found !== undefined) location.replace(new URL(`${found}.html#${anchor}`, location.href))
}

const followed = () => void follow().catch(() => {}) // Without a network, the page stays.

export function followMoved(): void {
  followed()
  window.removeEventListener('hashchange', followed)
  window.addEventListener('hashchange', followed)
}
