// Shows where a box that scrolls sideways goes on: app.css fades its content at that edge.

/** Keeps `data-more` of the box: the edges, "left" and "right", beyond which it has more. */
export function fadeEdges(box: HTMLElement): () => void {
  const update = () => {
    // In a text from right to left, scrollLeft counts from 0 down.
    const reach = box.scrollWidth - box.clientWidth
    const left = getComputedStyle(box).direction === 'rtl' ? reach + box.scrollLeft : box.scrollLeft
    box.dataset['more'] = `${left > 1 ? 'left' : ''} ${left < reach - 1 ? 'right' : ''}`.trim()
  }
  const observer = new ResizeObserver(update)
  observer.observe(box)
  for (const child of box.children) observer.observe(child)
  box.addEventListener('scroll', update, { passive: true })
  return () => {
    observer.disconnect()
    box.removeEventListener('scroll', update)
  }
}
