// The worker: opens the file once, then answers each text with the number of its tokens.
import { open } from 'ggufscope'

const loading = open('https://ggufscope.github.io/ggufscope/sample.gguf').then((file) => file.loadTokenizer())

addEventListener('message', async ({ data: text }) => {
  try {
    const tokenizer = await loading
    postMessage(`${tokenizer.count(text)} tokens in ${text.length} characters`)
  } catch (error) {
    postMessage(String(error))
  }
})
