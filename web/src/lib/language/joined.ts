// Puts sentences one after another.

/** With a blank in between, but not after the full stop of Chinese. What is empty or false is left out. */
export const joined = (...sentences: readonly (string | false | undefined)[]): string =>
  sentences.filter(Boolean).join(' ').replaceAll('。 ', '。')
