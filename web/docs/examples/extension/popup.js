// The popup: previews the GGUF file whose page is open in the current tab, or else the sample.
import { open } from 'ggufscope'

const kSample = 'https://ggufscope.github.io/ggufscope/sample.gguf'
const result = document.querySelector('#result')

/** The tab's address, if the page is of a GGUF file on the hub. */
async function currentFile() {
  const [tab] = (await globalThis.chrome?.tabs?.query({ active: true, currentWindow: true })) ?? []
  return /^https:\/\/huggingface\.co\/.+\.gguf(\?|$)/.test(tab?.url ?? '') ? tab.url : undefined
}

try {
  const file = await open((await currentFile()) ?? kSample, { preview: 'auto' })
  const { name, architecture, parameters, contextLength } = file.summary()
  result.textContent = [
    `${name}: ${architecture}`,
    `${(parameters / 1e6).toFixed(1)} million parameters, ${contextLength} tokens of context`,
    `${file.tensors.length} tensors, ${file.bytesRead} bytes read`,
  ].join('\n')
  file.close()
} catch (error) {
  result.textContent = String(error)
}
