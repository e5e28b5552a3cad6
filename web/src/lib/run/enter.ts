// Enter in the field of a message.

/** Enter sends, and with the shift key it begins a line. Enter that ends a composed character does neither. */
export const onEnter = (send: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  send()
}
