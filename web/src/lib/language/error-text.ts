// The message of what was thrown or rejected, which may be any value.
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))
