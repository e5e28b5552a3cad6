// Keeps a box that scrolls at its end when its width or height changes, as when a phone is turned.

export function stayAtEnd(box: HTMLElement): () => void {
  let isAtEnd = false
  // What begins at its first line stays there.
  const note = () => (isAtEnd = box.scrollTop > 0 && box.scrollTop + box.clientHeight >= box.scrollHeight - 8)
  const observer = new ResizeObserver(() => {
    if (isAtEnd) box.scrollTop = box.scrollHeight
  })
  observer.observe(box)
  box.addEventListener('scroll', note, { passive: true })
  return () => {
    observer.disconnect()
    box.removeEventListener('scroll', note)
  }
}
