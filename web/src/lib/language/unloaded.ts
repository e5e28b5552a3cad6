// Tells whether an error says that a part of this page could not be fetched, as without a network.

/** Messages of browsers about scripts and styles, and of the package about what a browser could not fetch for it. */
const messages =
  /^(?:Failed to fetch dynamically imported|error loading dynamically imported|Importing a module script failed|Unable to preload CSS)|could not be started: (?:Failed to fetch|NetworkError|Load failed|its script could not be loaded)/

export const isUnloaded = (message: string): boolean => messages.test(message)
