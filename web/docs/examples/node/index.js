// node index.js [FILE OR ADDRESS] [TEXT]: prints what a GGUF file contains, and continues the text with it.
import { load, open } from 'ggufscope/node'

const [source = 'https://ggufscope.github.io/ggufscope/sample.gguf', text = 'Once upon a time'] = process.argv.slice(2)

const file = await open(source, { preview: 'auto' })
const { name, architecture, parameters, bitsPerWeight } = file.summary()
console.log(`${name}: ${architecture}, ${parameters} parameters, ${bitsPerWeight.toFixed(2)} bits per weight`)
file.close()

const model = await load(source, { contextLength: 256 })
process.stdout.write(text)
for await (const piece of model.generate(text, { maxTokens: 60, seed: 1 })) process.stdout.write(piece.text)
console.log(`\n(${model.info.threads} threads, ${model.info.variant})`)
model.close()
