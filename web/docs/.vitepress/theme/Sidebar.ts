// The side bar, which is HTML until the first touch, click or key: making its hundreds of links alive is a long task.
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
  return () => control.abort()
}

export default defineAsyncComponent({
  // It is there at once: a press while it loads would be lost.
  loader: () => Promise.resolve(VPSidebar),
  hydrate: whenUsed,
})
