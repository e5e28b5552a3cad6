// The checks for the options of renderChat().
import { checkArgument, flag, integer, list, listOf, object, text, type Check } from '../api/checks.js'
import type { RenderChatOptions } from '../api/text.js'

export const checkMessages = (what: string, messages: unknown): void =>
  checkArgument(what, 'messages', messages, listOf(object, 'an array of { role, content }'))

/** Checks for the options of prompts; `now` is a Date. */
export const kRenderChecks = {
  template: text,
  tools: listOf(object, 'an array of { type, function }'),
  documents: list,
  addGenerationPrompt: flag,
  continue: flag,
  adapt: flag,
  variables: object,
  templateVariables: object,
  now: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'a Date'),
  maxLength: integer(0),
} satisfies Record<keyof RenderChatOptions, Check>
