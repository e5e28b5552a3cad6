'use client'
import { useState } from 'react'

export function Story({ address }) {
  const [text, setText] = useState('')

  async function tell() {
    const { load } = await import('ggufscope/engine')
    const model = await load(address, { contextLength: 256 })
    for await (const piece of model.generate('Once upon a time', { maxTokens: 40, seed: 1 })) setText((old) => old + piece.text)
    model.close()
  }

  return (
    <>
      <button onClick={tell}>Tell a story</button>
      <p id="result">{text && `Once upon a time${text}`}</p>
    </>
  )
}
