// Searches in texts by their meaning: passages of files, their vectors, and those nearest to a query.
import type { Model } from 'ggufscope/engine'
import type { VectorIndex } from 'ggufscope/store'
import { passagesOf, type Passage } from './passages'
import { t } from '../language/text'

/** in bytes: what is larger is seldom a text */
const largestFile = 20_000_000
const maxPassages = 50_000

interface Hit extends Passage {
  score: number
}

interface Prefixes {
  text: string
  query: string
}

export class TextSearch {
  fileCount = $state(0)
  /** passages that are found by a search */
  passages = $state.raw<readonly Passage[]>([])
  /** how many passages were embedded, while it goes on */
  progress = $state.raw<{ readonly done: number; readonly total: number }>()
  hits = $state.raw<readonly Hit[]>()
  private index: VectorIndex | undefined

  /** Reads and embeds files. Errors: those of embedAll(), and of too much text. */
  async read(files: readonly File[], model: Model, prefixes: Prefixes, signal: AbortSignal): Promise<void> {
    const room = model.info.contextLength
    const fits = (text: string) => model.tokenizer.encode(prefixes.text + text).length + 8 <= room
    const passages: Passage[] = []
    for (const file of files) {
      signal.throwIfAborted()
      if (file.size > largestFile) throw new Error(t('{name} is larger than 20 MB.', { name: file.name }))
      for (const one of passagesOf(file.webkitRelativePath || file.name, await file.text(), fits))
        passages.push(one)
      if (passages.length > maxPassages)
        throw new Error(t('This is more text than fits here. Choose fewer files.'))
    }
    const [{ embedAll }, { VectorIndex }] = await Promise.all([
      import('ggufscope/engine'),
      import('ggufscope/store'),
    ])
    try {
      const texts = passages.map(({ text }) => prefixes.text + text)
      const vectors = await embedAll(model, texts, {
        signal,
        batch: 8,
        onProgress: (done) => (this.progress = done),
      })
      const index = new VectorIndex(model.info.pooledLength)
      index.add(texts, vectors)
      this.index = index
      this.fileCount = files.length
      this.passages = passages
      this.hits = undefined
    } finally {
      this.progress = undefined
    }
  }

  /** Finds the passages nearest to a query. Errors: those of embed(). */
  async search(query: string, model: Model, prefixes: Prefixes, signal: AbortSignal): Promise<void> {
    const vector = await model.embed(prefixes.query + query, { signal })
    const matches = this.index?.search(vector, { topN: 20 }) ?? []
    this.hits = matches.map(({ index, score }) => ({ ...this.passages[index]!, score }))
  }
}
