/** Copies text to the clipboard; false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
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
