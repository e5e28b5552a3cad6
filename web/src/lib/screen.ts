import { MediaQuery } from 'svelte/reactivity'

/** Phones and narrow windows: two-line rows, details over the list instead of beside it. */
export const narrow = new MediaQuery('(max-width: 720px)')
