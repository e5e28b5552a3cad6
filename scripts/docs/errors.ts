// Generates the page of error codes from the viewer's table, which the compiler checks against GgufErrorCode.
import { advice } from '../../web/src/lib/language/advice.ts'

const kHead = `# Errors and solutions

Every error of the package is a \`GgufError\`. The only exception is the reason of an \`AbortSignal\`, which is thrown unchanged.

| property | |
| --- | --- |
| \`code\` | one of the codes below, which do not change between versions |
| \`message\` | what is wrong, where, and what to do |
| \`offset\` | the byte offset of the error in the file, if there is one |
| \`status\` | the HTTP status, if a server responded |
| \`cause\` | the error that caused it, if there is one |

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
    'Also: an architecture or type that the engine cannot run, a vocabulary of an unknown kind, a schema that a grammar cannot enforce.',
  'out-of-memory':
    'If `load` throws it, the message states the size of weights and context. Use a smaller quantization or a shorter `contextLength`. The first call that computes can throw it, too: it allocates the scratch memory.',
  incomplete:
    'A preview left arrays out. `await file.completeHeader()` reads the rest of the header, `await array.load()` one array.',
  'missing-shard': 'Pass `allowMissingShards: true` to open the existing files.',
  'file-exists': 'Pass `overwrite: true` to `writeFile`, `--force` to a command.',
  unauthorized: 'Pass `headers: { Authorization: ... }`, or `--header` on the command line.',
  'rate-limited': 'The package first waits and retries by itself; the option `retries` sets how often.',
  'connection-lost':
    'The package first retries by itself; the options `retries` and `timeout` set how often and how long.',
  cors: 'Node does not check CORS.',
  'chat-template-limit': 'The limits are steps, memory and depth, and `maxLength` of `renderChat`.',
  closed: 'An object is used after its `close()`.',
  wasm: 'Set the location of the files with the option `assets`. A content policy must allow `wasm-unsafe-eval`, and the worker in `worker-src`.',
}

export function errorsPage(): string {
  const sections = Object.entries(advice).map(([code, { title, todo }]) => {
    const more = kForPrograms[code as keyof typeof advice]
    return `### ${code} {#${code}}\n\n${title}. ${todo}\n${more ? `\n${more}\n` : ''}`
  })
  return [kHead, ...sections].join('\n')
}
