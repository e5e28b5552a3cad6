// Sends the text to a worker, which counts its tokens, so that the page never waits.
const worker = new Worker(new URL('./tokens.js', import.meta.url), { type: 'module' })
const text = document.querySelector('#text')
const result = document.querySelector('#result')

worker.addEventListener('message', ({ data }) => (result.textContent = data))
worker.addEventListener('error', ({ message }) => (result.textContent = message))
const send = () => worker.postMessage(text.value)
text.addEventListener('input', send)
send()
