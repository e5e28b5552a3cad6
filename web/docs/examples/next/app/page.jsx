// The server reads the file's header and sends the facts. The browser loads the model when the button is pressed.
import { open } from 'ggufscope'
import { Story } from './story.jsx'

export const dynamic = 'force-dynamic'
const address = 'https://ggufscope.github.io/ggufscope/sample.gguf'

export default async function Page() {
  const file = await open(address, { preview: 'auto' })
  const { name, architecture, parameters } = file.summary()
  file.close()
  return (
    <main>
      <h1>{name}</h1>
      <p>
        {architecture}, {parameters} parameters
      </p>
      <Story address={address} />
    </main>
  )
}
