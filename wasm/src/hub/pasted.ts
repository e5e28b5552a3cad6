// What people paste instead of a name: an address in quotes or brackets, or the command that a hub's page shows for a model.

/** The words of a command, without quotation marks; --name=value is two. */
const wordsOf = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).flatMap((word) => {
    const plain = word.replaceAll(/["']/g, '')
    const [, name, value] = /^(--[\w-]+)=(.*)$/.exec(plain) ?? []
    return name === undefined ? [plain] : [name, value!]
  })

function valueOf(words: readonly string[], ...names: readonly string[]): string | undefined {
  const at = words.findIndex((word) => names.includes(word))
  return at < 0 ? undefined : words[at + 1]
}

const withoutTag = (model: string) => model.replace(/:[^/]*$/, '')

/**
 * What a pattern such as "*Q4_K_M*" or "BF16/*" says of a name; undefined for patterns that say more.
 */
function partOf(pattern: string): string | undefined {
  const part = pattern.replace(/^\**[-_.]?/, '').replace(/(?:[-_.]?\*|\/)*(?:\.gguf)?$/i, '')
  return part === '' || /[*?[]/.test(part) ? undefined : part
}

/** hf download owner/name [file] [--include pattern] [--revision name] */
function downloaded(words: readonly string[]): string | undefined {
  const [, , model = '', file] = words
  const pattern = valueOf(words, '--include')
  const part = file && /\.gguf$/i.test(file) ? file : pattern === undefined ? '' : partOf(pattern)
  // Another file than the wanted one must not be opened.
  if (part === undefined) return undefined
  const revision = valueOf(words, '--revision')
  return `hf:${model}${revision === undefined ? '' : `@${revision}`}${part === '' ? '' : `:${part}`}`
}

const kCommands: readonly {
  readonly command: RegExp
  /** undefined: the command means something that has no name here */
  readonly name: (words: readonly string[]) => string | undefined
}[] = [
  {
    command: /^ollama\s+(?:run|pull|show|create)\s+["']?[^\s-]/i,
    name: ([, , model = '']) => (/^[\w-]+(\.[\w-]+)+\//.test(model) ? model : `ollama:${model}`),
  },
  {
    command: /^docker\s+model\s+(?:run|pull)\s+["']?(?:hf\.co|huggingface\.co)\//i,
    name: ([, , , model]) => model,
  },
  { command: /^(?:hf|huggingface-cli)\s+download\s+["']?[\w.-]+\/[\w.-]+["']?(?=\s|$)/i, name: downloaded },
  {
    command: /^\S+\s(?:.*\s)?(?:-hf|-hfr|--hf-repo)[\s=]+\S/,
    name: (words) => {
      const model = valueOf(words, '-hf', '-hfr', '--hf-repo') ?? ''
      const file = valueOf(words, '-hff', '--hf-file')
      return file === undefined ? `hf:${model}` : `hf:${withoutTag(model)}:${file}`
    },
  },
]

/** The name in such a text, or the text itself. */
export function pastedName(text: string): string {
  const plain = text
    .trim()
    .replace(/^(?:<(.*)>|"(.*)"|'(.*)'|`(.*)`)$/, '$1$2$3$4')
    .trim()
  // A line of a terminal begins with its prompt.
  const line = plain.replace(/^[$>%]\s+/, '')
  const found = kCommands.find(({ command }) => command.test(line))
  return found?.name(wordsOf(line)) ?? plain
}
