// Whether the window is narrow.
import { MediaQuery } from 'svelte/reactivity'

/** True on phones and in narrow windows: rows have two lines, and details cover the list. */
export const narrow = new MediaQuery('(max-width: 720px)')
