// The worker that checks one file with a long header. It receives the header and answers with the findings.
import { open, type Finding } from 'ggufscope'
import type { Header } from './lint'

async function check({ bytes, size, name, assets }: Header): Promise<readonly Finding[]> {
  const read = (offset: number, length: number) => Promise.resolve(bytes.slice(offset, offset + length))
  using file = await open({ size, name, read }, { assets })
  await file.completeHeader()
  return file.lint()
}

self.onmessage = (event: MessageEvent<Header>) => {
  check(event.data).then(
    (findings) => postMessage(findings),
    () => postMessage(undefined),
  )
}
