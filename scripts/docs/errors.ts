// Generates the page of error codes from the viewer's table, which the compiler checks against GgufErrorCode.
import { advice } from '../../web/src/lib/advice.ts'

const kHead = `# Errors and their cures

Every error of the package is a \`GgufError\`, but for the reason of an \`AbortSignal\`, which is thrown as it is.

| property | |
| --- | --- |
| \`code\` | one of the words below; it stays the same from version to version |
| \`message\` | what is wrong, where, and what to do |
| \`offset\` | the byte in the file, where one is to blame |
| \`status\` | the HTTP status, where a server answered |
| \`cause\` | the error behind it, if there is one |

\`\`\`ts
import { open, GgufError } from 'ggufscope/node'

try {
  await open('no-such-model.gguf')
} catch (error) {
  if (error instanceof GgufError) console.log(error.code, error.message) // no-such-file, and which
}
\`\`\`

The command line prints the code in brackets at the end of the message. The viewer links to this page.

## Codes
`

/** Additional information for programmers: where in the package the code comes from, and what to pass. */
const kForPrograms: Partial<Record<keyof typeof advice, string>> = {
  'out-of-range':
    'Also: rows beyond a tensor, a prompt that does not fit the context (raise `contextLength`), more forks than `maxForks`.',
  'invalid-argument': 'In a program: an option has a value that it cannot have; the message names it.',
  unsupported:
    'Also: an architecture or type that the engine cannot run, a vocabulary of an unknown kind, a schema that no grammar can keep.',
  'out-of-memory':
    'Of `load`: the message tells what weights and context need. Take a smaller quantization or a shorter `contextLength`.',
  incomplete:
    'A preview left arrays out. `await file.completeHeader()` reads the rest of the header, `await array.load()` one array.',
  'missing-shard': 'Pass `allowMissingShards: true` to open what is there.',
  'file-exists': 'Pass `overwrite: true` to `writeFile`, `--force` to a command.',
  unauthorized: 'Pass `headers: { Authorization: ... }`, or `--header` on the command line.',
  'rate-limited': 'The package waits and tries again by itself first; `retries` says how often.',
  'connection-lost':
    'The package tries again by itself first; `retries` and `timeout` say how often and how long.',
  cors: 'Node does not ask for CORS.',
  'chat-template-limit': 'The limits are steps, memory and depth, and `maxLength` of `renderChat`.',
  closed: 'Something is used after its `close()`.',
  wasm: 'Say where the files are by the option `assets`. A content policy must allow `wasm-unsafe-eval`, and the worker in `worker-src`.',
}

export function errorsPage(): string {
  const sections = Object.entries(advice).map(([code, { title, todo }]) => {
    const more = kForPrograms[code as keyof typeof advice]
    return `### ${code} {#${code}}\n\n${title}. ${todo}\n${more ? `\n${more}\n` : ''}`
  })
  return [kHead, ...sections].join('\n')
}
