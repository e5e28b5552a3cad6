/** Copies text to the clipboard; false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

/** The older way, which needs neither a permission nor a secure connection: copies a selection. */
function copySelected(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.cssText = 'position: fixed; opacity: 0'
  // A modal dialog makes the rest of the page inert.
  const place = document.querySelector('dialog:modal') ?? document.body
  place.append(field)
  field.select()
  // It has no successor for pages without the permission.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}

/** Downloads a Blob. Browsers do not overwrite existing files with a download without asking. */
export function saveBlob(blob: Blob, name: string, keepMs = 10_000) {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), keepMs)
}

export const saveText = (text: string, name: string, type = 'application/json') =>
  saveBlob(new Blob([text], { type }), name)
