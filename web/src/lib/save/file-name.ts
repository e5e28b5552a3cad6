// Names of saved files.
import { unseen } from '../language/format'

const longest = 60

/** A text as the name of a file, without what file systems refuse. `fallback`: the name where nothing is left. */
export function fileName(text: string, fallback: string): string {
  const words = text
    .replace(unseen, ' ')
    .replace(/[\\/:*?"<>|]/g, ' ')
    .trim()
    .split(/\s+/)
    .join(' ')
  const name = [...words].slice(0, longest).join('')
  return name.replace(/^\.+|[. ]+$/g, '') || fallback
}
