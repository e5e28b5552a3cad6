// The JSON schema that an answer must match, as the user writes it.
import type { JsonSchema } from 'ggufscope/engine'
import { errorText } from '../language/error-text'
import { t } from '../language/text'

/** Throws an Error that says why the text is not JSON. */
export function parsedSchema(text: string): JsonSchema {
  try {
    return JSON.parse(text) as JsonSchema
  } catch (error) {
    const reason = errorText(error)
    throw new Error(t('The schema is not JSON: {error}', { error: reason }), { cause: error })
  }
}
