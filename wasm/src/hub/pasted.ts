// What people paste instead of a name: an address in quotes or brackets, or the command that a hub's page shows for a model.

const kCommands: readonly { readonly command: RegExp; readonly name: (...parts: string[]) => string }[] = [
  {
    command: /^ollama\s+(?:run|pull|show|create)\s+([^\s-]\S*)/i,
    name: (_, model = '') => (/^[\w-]+(\.[\w-]+)+\//.test(model) ? model : `ollama:${model}`),
  },
  {
    command: /^docker\s+model\s+(?:run|pull)\s+((?:hf\.co|huggingface\.co)\/\S+)/i,
    name: (_, model = '') => model,
  },
  {
    command: /^(?:hf|huggingface-cli)\s+download\s+([\w.-]+\/[\w.-]+)(?:\s+([^\s-]\S*\.gguf))?(?=\s|$)/i,
    name: (_, model = '', file) => (file === undefined ? `hf:${model}` : `hf:${model}:${file}`),
  },
  {
    command: /^\S+\s(?:.*\s)?(?:-hf|-hfr|--hf-repo)[\s=]+(\S+)/,
    name: (_, model = '') => `hf:${model}`,
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
  for (const { command, name } of kCommands) {
    const found = command.exec(line)
    if (found) return name(...found)
  }
  return plain
}
