// The worker in which a page renders chat templates: one call a message, one answer each.
import { GgufError } from '../api/errors.js'
import { renderTemplate } from './render-template.js'
import type { Answer, Call } from './render-chat.js'

const scope = globalThis as unknown as {
  postMessage(message: Answer): void
  addEventListener(type: 'message', listener: (event: { data: Call }) => void): void
}

scope.addEventListener('message', ({ data: { id, text, variables, options } }) => {
  try {
    scope.postMessage({ id, text: renderTemplate(text, variables, options) })
  } catch (error) {
    if (!(error instanceof GgufError)) throw error
    scope.postMessage({ id, code: error.code, message: error.message })
  }
})
