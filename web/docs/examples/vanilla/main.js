// Shows what a chosen GGUF file contains, and at first what the sample contains. Only the header is read.
import { open } from 'ggufscope'

const result = document.querySelector('#result')

async function show(source) {
  try {
    const file = await open(source, { preview: 'auto' })
    const { name, architecture, parameters, bitsPerWeight, quantization } = file.summary()
    result.textContent = [
      `${name}: ${architecture}, ${(parameters / 1e6).toFixed(1)} million parameters`,
      `${bitsPerWeight.toFixed(2)} bits per weight, ${file.tensors.length} tensors, ${file.bytesRead} bytes read`,
      ...quantization.map(({ type, bytes }) => `${type}: ${bytes} bytes`),
    ].join('\n')
    file.close()
  } catch (error) {
    result.textContent = String(error)
  }
}

document.querySelector('#file').addEventListener('change', ({ target }) => {
  if (target.files.length > 0) void show([...target.files])
})
await show('https://ggufscope.github.io/ggufscope/sample.gguf')
