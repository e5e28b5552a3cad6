// The command completion: scripts for bash, zsh and fish.
import { kShared, type Argument, type Command, type Options } from './command.js'

interface Known {
  readonly name: string
  readonly summary: string
  readonly options: Options
  readonly arguments: readonly Argument[]
}

/** Quotes a word with single quotes for bash, zsh and fish. */
const quoteFor = {
  posix: (text: string): string => `'${text.replaceAll("'", "'\\''")}'`,
  fish: (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
}

const spellings = (options: Options): string[] =>
  Object.entries(options).flatMap(([name, { short }]) => [`--${name}`, ...(short ? [`-${short}`] : [])])

const choicesOf = (known: Known): string[] => known.arguments.flatMap(({ choices = [] }) => choices)

/** The names ("--output|-o") of all options that pass the test, as patterns of a case statement. */
function pattern(options: Options, holds: (option: Options[string]) => boolean): string {
  return spellings(Object.fromEntries(Object.entries(options).filter(([, option]) => holds(option)))).join(
    '|',
  )
}

/** Completion of one command in bash: values of options, options, then arguments. */
function bashCase({ name, options, arguments: wanted }: Known): string {
  const lines: string[] = []
  for (const [option, { choices, short }] of Object.entries(options)) {
    if (!choices) continue
    const words = short ? `--${option}|-${short}` : `--${option}`
    lines.push(`        ${words}) words=${quoteFor.posix(choices.join(' '))} ;;`)
  }
  const files = pattern(options, ({ file }) => file !== undefined)
  if (files !== '') lines.push(`        ${files}) files=1 ;;`)
  const others = pattern(options, ({ value, file, choices }) => value !== undefined && !file && !choices)
  if (others !== '') lines.push(`        ${others}) ;;`)
  const words = wanted.flatMap(({ choices = [] }) => choices)
  const hasFiles = wanted.some(({ file }) => file)
  lines.push(
    `        *) case "$current" in`,
    `          -*) words=${quoteFor.posix(spellings(options).join(' '))} ;;`,
    `          *) words=${quoteFor.posix(words.join(' '))}${hasFiles ? '; files=1' : ''} ;;`,
    '        esac ;;',
  )
  return [`    ${name})`, '      case "$previous" in', ...lines, '      esac ;;'].join('\n')
}

function bash(all: readonly Known[]): string {
  const names = all.map(({ name }) => name).join(' ')
  return `# ggufscope: completion for bash. In ~/.bashrc: eval "$(ggufscope completion bash)"
_ggufscope() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="" words="" files="" line
  if [ "$COMP_CWORD" -gt 0 ]; then previous="\${COMP_WORDS[COMP_CWORD-1]}"; fi
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quoteFor.posix(`${names} --help --version`)}
    files=1
  else
    case "\${COMP_WORDS[1]}" in
${all.map(bashCase).join('\n')}
    *) files=1 ;;
    esac
  fi
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
    compgen -W "$words" -- "$current"
    if [ -n "$files" ]; then compgen -f -- "$current"; fi
  )
}
complete -o filenames -F _ggufscope ggufscope
`
}

/** Specifications for zsh's _arguments: '--name[help]:value:action'. */
function zshOption([name, { value, short, repeats, help, file, choices }]: [
  string,
  Options[string],
]): string[] {
  const text = help.replaceAll(/[[\]\\:]/g, '\\$&')
  const action = choices ? `(${choices.join(' ')})` : file ? '_files' : ' '
  const after = value === undefined ? '' : `:${value.replaceAll(/[[\]\\:]/g, '\\$&')}:${action}`
  const words = [`--${name}`, ...(short ? [`-${short}`] : [])]
  return words.map((word) => quoteFor.posix(`${repeats ? '*' : ''}${word}[${text}]${after}`))
}

function zsh(all: readonly Known[]): string {
  const cases = all.map((known) => {
    const options = Object.entries(known.options).flatMap(zshOption)
    const choices = choicesOf(known)
    const rest = choices.length > 0 ? `'*: :(${choices.join(' ')})'` : "'*:file:_files'"
    return `    ${known.name}) _arguments ${[...options, rest].join(' \\\n      ')} ;;`
  })
  const commands = all.map(({ name, summary }) => quoteFor.posix(`${name}:${summary.replaceAll(':', '\\:')}`))
  return `#compdef ggufscope
# ggufscope: completion for zsh. In ~/.zshrc, after compinit: eval "$(ggufscope completion zsh)"
_ggufscope() {
  local -a commands
  commands=(
    ${commands.join('\n    ')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    _files
    return
  fi
  local name=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join('\n')}
    *) _files ;;
  esac
}
if [ "$funcstack[1]" = _ggufscope ]; then _ggufscope "$@"; else compdef _ggufscope ggufscope; fi
`
}

function fish(all: readonly Known[]): string {
  const quote = quoteFor.fish
  const names = all.map(({ name }) => name).join(' ')
  const lines = [
    '# ggufscope: completion for fish. ggufscope completion fish > ~/.config/fish/completions/ggufscope.fish',
    `set -l commands ${names}`,
  ]
  for (const known of all) {
    lines.push(
      `complete -c ggufscope -n "not __fish_seen_subcommand_from $commands" -a ${known.name} -d ${quote(known.summary)}`,
    )
    const when = `-n "__fish_seen_subcommand_from ${known.name}"`
    const choices = choicesOf(known)
    if (choices.length > 0) lines.push(`complete -c ggufscope ${when} -f -a ${quote(choices.join(' '))}`)
    for (const [name, { value, short, help, file, choices }] of Object.entries(known.options)) {
      const takes =
        value === undefined ? '' : choices ? ` -x -a ${quote(choices.join(' '))}` : file ? ' -r -F' : ' -x'
      lines.push(
        `complete -c ggufscope ${when} -l ${name}${short ? ` -s ${short}` : ''}${takes} -d ${quote(help)}`,
      )
    }
  }
  return lines.join('\n') + '\n'
}

const kShells: Readonly<Record<string, (all: readonly Known[]) => string>> = { bash, zsh, fish }

export const command: Command = {
  arguments: [{ name: 'shell', choices: Object.keys(kShells) }],
  help: [
    'bash: eval "$(ggufscope completion bash)" in ~/.bashrc.',
    'zsh: eval "$(ggufscope completion zsh)" in ~/.zshrc, after compinit.',
    'fish: ggufscope completion fish > ~/.config/fish/completions/ggufscope.fish',
  ],
  async run({ positionals, commands }) {
    const all = await Promise.all(
      commands.map(async ({ name, summary, load }): Promise<Known> => {
        const { command } = await load()
        return { name, summary, options: { ...command.options, ...kShared }, arguments: command.arguments }
      }),
    )
    process.stdout.write(kShells[positionals[0]!]!(all))
    return 0
  },
}
