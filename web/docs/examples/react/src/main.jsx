// A component that runs the sample model and shows its answer while it is generated.
import { load } from 'ggufscope/engine'
import { StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

/** Loads a model. It is closed when the component goes. */
function useModel(source) {
  const [state, setState] = useState({ status: 'Loading...' })
  useEffect(() => {
    const control = new AbortController()
    let model
    const { signal } = control
    load(source, { signal, contextLength: 256, onProgress: ({ phase }) => setState({ status: `Loading: ${phase}` }) }).then(
      (loaded) => {
        if (signal.aborted) return loaded.close()
        model = loaded
        setState({ model, status: `Ready, with ${model.info.threads} threads` })
      },
      (error) => signal.aborted || setState({ status: String(error) }),
    )
    return () => {
      control.abort()
      model?.close()
    }
  }, [source])
  return state
}

function Story() {
  const { model, status } = useModel('https://ggufscope.github.io/ggufscope/sample.gguf')
  const [prompt, setPrompt] = useState('Once upon a time')
  const [text, setText] = useState('')

  async function tell(event) {
    event.preventDefault()
    setText(prompt)
    for await (const piece of model.generate(prompt, { maxTokens: 40, seed: 1 })) setText((old) => old + piece.text)
  }

  return (
    <form onSubmit={tell}>
      <h1>A story in React</h1>
      <label>
        Beginning: <input value={prompt} onChange={({ target }) => setPrompt(target.value)} />
      </label>{' '}
      <button disabled={!model}>Go on</button>
      <p role="status">{status}</p>
      <p id="result">{text}</p>
    </form>
  )
}

createRoot(document.querySelector('#root')).render(
  <StrictMode>
    <Story />
  </StrictMode>,
)
