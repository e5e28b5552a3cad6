// The page of the error codes from the viewer's table, which the compiler holds against GgufErrorCode.
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

export function errorsPage(): string {
  const sections = Object.entries(advice).map(
    ([code, { title, todo }]) => `### ${code} {#${code}}\n\n${title}. ${todo}\n`,
  )
  return [kHead, ...sections].join('\n')
}
