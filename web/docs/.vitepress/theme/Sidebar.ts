// The side bar, which is HTML until it is used: on a phone until the first touch or key, elsewhere until the page is idle.
import VPSidebar from 'vitepress/dist/client/theme-default/components/VPSidebar.vue'
import { defineAsyncComponent } from 'vue'

const signs = ['pointerdown', 'keydown', 'focusin', 'click'] as const

function whenUsed(hydrate: () => void): () => void {
  const control = new AbortController()
  const { signal } = control
  const once = () => {
    control.abort()
    hydrate()
  }
  // Before the button that opens it is pressed: what changes before that would be lost.
  for (const sign of signs) window.addEventListener(sign, once, { capture: true, passive: true, signal })
  if (matchMedia('(min-width: 960px)').matches) {
    const task = globalThis.requestIdleCallback?.(once) ?? setTimeout(once, 200)
    signal.addEventListener('abort', () => (globalThis.cancelIdleCallback ?? clearTimeout)(task))
  }
  return () => control.abort()
}

export default defineAsyncComponent({
  // It is there at once: a press while it loads would be lost.
  loader: () => Promise.resolve(VPSidebar),
  hydrate: whenUsed,
})
