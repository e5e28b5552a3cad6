import { flag, integer, list, object, text, type Check } from '../api/checks.js'
import type { RenderChatOptions } from '../api/text.js'

/** Checks for the options of prompts; `now` is a Date. */
export const kRenderChecks = {
  template: text,
  tools: list,
  documents: list,
  addGenerationPrompt: flag,
  continue: flag,
  adapt: flag,
  variables: object,
  templateVariables: object,
  now: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'a Date'),
  maxLength: integer(0),
} satisfies Record<keyof RenderChatOptions, Check>
