// Snippets name the published site's samples. Where the site is served from another address, such as by npm start, they name
// that one's, so that a copied snippet works there without a network.
import { kSite } from '../site.js'

export function useOwnSamples(): void {
  const own = new URL('../', new URL(import.meta.env.BASE_URL, location.href)).href
  if (own === kSite) return
  for (const code of document.querySelectorAll('.vp-doc pre code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const text = texts.currentNode
      if (text.nodeValue?.includes(kSite)) text.nodeValue = text.nodeValue.replaceAll(kSite, own)
    }
  }
}
