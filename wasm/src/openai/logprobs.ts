// Log probabilities of an answer's tokens, reported together with their text. Tokens that were held back for a stop
// string, and so are not part of the answer, are not reported.
import type { StreamDecoder, Tokenizer } from '../api/text.js'
import type { FinishReason, Piece, TokenProbability } from '../engine/types.js'
import type { CompletionLogprobs, ContentLogprob, TokenLogprob } from './types.js'

// OpenAI's value for impossible tokens; JSON has no infinities.
const kMinLogprob = -9999

interface Waiting {
  readonly logprob: ContentLogprob
  /** UTF-16 units of text */
  readonly begin: number
  readonly end: number
}

export class LogprobQueue {
  readonly #tokenizer: Tokenizer
  readonly #alternatives: number
  readonly #decoder: StreamDecoder
  #waiting: Waiting[] = []
  #decoded = 0
  #told = 0

  /** alternatives: number of most likely tokens to report with each token */
  constructor(tokenizer: Tokenizer, alternatives: number) {
    this.#tokenizer = tokenizer
    this.#alternatives = alternatives
    this.#decoder = tokenizer.stream()
  }

  /** The tokens whose text is complete with this piece. */
  take({ text, token, logprob, alternatives = [] }: Piece): ContentLogprob[] {
    if (token >= 0 && logprob !== undefined) {
      const begin = this.#decoded
      this.#decoded += this.#decoder.push(token).length
      const likeliest = alternatives.slice(0, this.#alternatives).map((one) => this.#named(one))
      this.#waiting.push({
        logprob: { ...this.#named({ token, logprob }), top_logprobs: likeliest },
        begin,
        end: this.#decoded,
      })
    }
    this.#told += text.length
    const last = this.#waiting.findLastIndex(({ begin, end }) => end > begin && end <= this.#told)
    return this.#waiting.splice(0, last + 1).map(({ logprob }) => logprob)
  }

  /** The rest, when the answer has ended. */
  finish(reason: FinishReason): ContentLogprob[] {
    const rest = this.#waiting.filter(({ begin }) => reason !== 'stop' || begin < this.#told)
    this.#waiting = []
    return rest.map(({ logprob }) => logprob)
  }

  #named({ token, logprob }: TokenProbability): TokenLogprob {
    const bytes = this.#tokenizer.tokens.at(token)?.bytes ?? new Uint8Array()
    return {
      token: new TextDecoder().decode(bytes),
      bytes: [...bytes],
      logprob: Math.max(logprob, kMinLogprob),
    }
  }
}

/** Converts them to the format of completions. offset: that of the first token in the answer's text. */
export function completionLogprobs(content: readonly ContentLogprob[], offset: number): CompletionLogprobs {
  let at = offset
  return {
    tokens: content.map(({ token }) => token),
    token_logprobs: content.map(({ logprob }) => logprob),
    top_logprobs: content.map(({ top_logprobs }) =>
      Object.fromEntries(top_logprobs.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: content.map(({ token }) => (at += token.length) - token.length),
  }
}
