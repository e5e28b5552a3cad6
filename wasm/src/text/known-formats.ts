// Chat formats for files without a chat template: llama.cpp's built-in ones with their names, one row for each.

/** The text before and after a message's text; % is replaced by the role. */
type Around = readonly [before: string, after: string]
type Role = 'system' | 'user' | 'assistant'

export { suggestedFormat } from './format-suggestions.js'

interface KnownFormat {
  readonly name: string
  /** for roles without an entry */
  readonly all?: Around
  readonly system?: Around
  readonly user?: Around
  readonly assistant?: Around
  /** the beginning of an answer */
  readonly prompt?: string
  /** Jinja text before everything */
  readonly begin?: string
  /** text before everything if there is no system message */
  readonly bare?: string
  /** text before a system message, or before a user message that does not follow a system message */
  readonly turn?: string
  /** the same, if it is not the first message */
  readonly again?: string
  /** text before every message except the first */
  readonly between?: string
  /** roles whose text is trimmed */
  readonly trims?: readonly Role[]
}

const kEvery: readonly Role[] = ['system', 'user', 'assistant']
const kBos = '{{ bos_token }}'

const kRows: readonly KnownFormat[] = [
  { name: 'llama3', begin: kBos, all: ['<|start_header_id|>%<|end_header_id|>\n\n', '<|eot_id|>'], prompt: '<|start_header_id|>assistant<|end_header_id|>\n\n', trims: kEvery }, // prettier-ignore
  { name: 'llama4', begin: kBos, all: ['<|header_start|>%<|header_end|>\n\n', '<|eot|>'], prompt: '<|header_start|>assistant<|header_end|>\n\n', trims: kEvery }, // prettier-ignore
  { name: 'phi4', all: ['<|im_start|>%<|im_sep|>', '<|im_end|>'], prompt: '<|im_start|>assistant<|im_sep|>' }, // prettier-ignore
  { name: 'smolvlm', begin: '<|im_start|>', system: ['', '\n\n'], user: ['User: ', '<end_of_utterance>\n'], assistant: ['Assistant: ', '<end_of_utterance>\n'], prompt: 'Assistant:' }, // prettier-ignore
  { name: 'kimi-k2', all: ['<|im_%|>%<|im_middle|>', '<|im_end|>'], prompt: '<|im_assistant|>assistant<|im_middle|>' }, // prettier-ignore
  { name: 'chatml', all: ['<|im_start|>%\n', '<|im_end|>\n'], prompt: '<|im_start|>assistant\n' }, // prettier-ignore
  { name: 'gemma', begin: kBos, turn: '<start_of_turn>user\n', system: ['', '\n\n'], user: ['', '<end_of_turn>\n'], assistant: ['<start_of_turn>model\n', '<end_of_turn>\n'], prompt: '<start_of_turn>model\n', trims: kEvery }, // prettier-ignore
  { name: 'gpt-oss', all: ['<|start|>%<|message|>', '<|end|>'], assistant: ['<|start|>assistant<|message|>', '<|return|>'], prompt: '<|start|>assistant' }, // prettier-ignore
  { name: 'solar-open', all: ['<|begin|>%<|content|>', '<|end|>'], prompt: '<|begin|>assistant' }, // prettier-ignore
  { name: 'exaone-moe', all: ['<|%|>\n', '<|endofturn|>\n'], prompt: '<|assistant|>\n', trims: kEvery }, // prettier-ignore
  { name: 'phi3', all: ['<|%|>\n', '<|end|>\n'], prompt: '<|assistant|>\n' }, // prettier-ignore
  { name: 'chatglm4', begin: '[gMASK]<sop>', all: ['<|%|>\n', ''], prompt: '<|assistant|>\n' }, // prettier-ignore
  { name: 'chatglm3', begin: '[gMASK]sop', all: ['<|%|>\n ', ''], prompt: '<|assistant|>' }, // prettier-ignore
  { name: 'command-r', system: ['<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>', '<|END_OF_TURN_TOKEN|>'], user: ['<|START_OF_TURN_TOKEN|><|USER_TOKEN|>', '<|END_OF_TURN_TOKEN|>'], assistant: ['<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>', '<|END_OF_TURN_TOKEN|>'], prompt: '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>', trims: kEvery }, // prettier-ignore
  { name: 'deepseek3', system: ['', '\n\n'], user: ['<｜User｜>', ''], assistant: ['<｜Assistant｜>', '<｜end▁of▁sentence｜>'], prompt: '<｜Assistant｜>' }, // prettier-ignore
  { name: 'exaone4', all: ['[|%|]', '[|endofturn|]\n'], user: ['[|user|]', '\n'], prompt: '[|assistant|]', trims: kEvery }, // prettier-ignore
  { name: 'exaone3', all: ['[|%|]', '[|endofturn|]\n'], user: ['[|user|]', '\n'], prompt: '[|assistant|]', trims: kEvery }, // prettier-ignore
  { name: 'granite', all: ['<|start_of_role|>%<|end_of_role|>', '<|end_of_text|>\n'], prompt: '<|start_of_role|>assistant<|end_of_role|>' }, // prettier-ignore
  { name: 'granite-4.0', all: ['<|start_of_role|>%<|end_of_role|>', '<|end_of_text|>\n'], prompt: '<|start_of_role|>assistant<|end_of_role|>' }, // prettier-ignore
  { name: 'granite-4.1', all: ['<|start_of_role|>%<|end_of_role|>', '<|end_of_text|>\n'], prompt: '<|start_of_role|>assistant<|end_of_role|>' }, // prettier-ignore
  { name: 'seed_oss', all: ['<seed:bos>%\n', '<seed:eos>'], prompt: '<seed:bos>assistant\n', trims: ['assistant'] }, // prettier-ignore
  { name: 'megrez', all: ['<|role_start|>%<|role_end|>', '<|turn_end|>'], prompt: '<|role_start|>assistant<|role_end|>' }, // prettier-ignore
  { name: 'hunyuan-dense', system: ['', '<｜hy_place▁holder▁no▁3｜>'], user: ['<｜hy_User｜>', '<｜hy_Assistant｜>'], assistant: ['<｜hy_Assistant｜>', '<｜hy_place▁holder▁no▁2｜>'] }, // prettier-ignore
  { name: 'hunyuan-vl', begin: '<｜hy_begin▁of▁sentence｜>', system: ['', '<｜hy_place▁holder▁no▁3｜>'], user: ['', '<｜hy_User｜>'], assistant: ['', '<｜hy_Assistant｜>'] }, // prettier-ignore
  { name: 'hunyuan-moe', system: ['<|startoftext|>', '<|extra_4|>'], user: ['<|startoftext|>', '<|extra_0|>'], assistant: ['', '<|eos|>'] }, // prettier-ignore
  { name: 'bailing2', bare: '<role>SYSTEM</role>detailed thinking off<|role_end|>', system: ['<role>SYSTEM</role>', '<|role_end|>'], user: ['<role>HUMAN</role>', '<|role_end|>'], assistant: ['<role>ASSISTANT</role>', '<|role_end|>'], prompt: '<role>ASSISTANT</role>' }, // prettier-ignore
  { name: 'bailing', system: ['<role>SYSTEM</role>', ''], user: ['<role>HUMAN</role>', ''], assistant: ['<role>ASSISTANT</role>', ''], prompt: '<role>ASSISTANT</role>' }, // prettier-ignore
  { name: 'bailing-think', system: ['<role>SYSTEM</role>', ''], user: ['<role>HUMAN</role>', ''], assistant: ['<role>ASSISTANT</role>', ''], prompt: '<role>ASSISTANT</role><think>' }, // prettier-ignore
  { name: 'mistral-v7-tekken', system: ['[SYSTEM_PROMPT]', '[/SYSTEM_PROMPT]'], user: ['[INST]', '[/INST]'], assistant: ['', '</s>'] }, // prettier-ignore
  { name: 'mistral-v7', system: ['[SYSTEM_PROMPT] ', '[/SYSTEM_PROMPT]'], user: ['[INST] ', '[/INST]'], assistant: [' ', '</s>'] }, // prettier-ignore
  { name: 'mistral-v3', turn: '[INST] ', system: ['', '\n\n'], user: ['', '[/INST]'], assistant: [' ', '</s>'], trims: ['assistant'] }, // prettier-ignore
  {
    name: 'mistral-v3-tekken',
    turn: '[INST]',
    system: ['', '\n\n'],
    user: ['', '[/INST]'],
    assistant: ['', '</s>'],
  },
  {
    name: 'mistral-v1',
    turn: ' [INST] ',
    system: ['', '\n\n'],
    user: ['', ' [/INST]'],
    assistant: [' ', '</s>'],
  },
  { name: 'openchat', system: ['', '<|end_of_turn|>'], user: ['GPT4 Correct User: ', '<|end_of_turn|>'], assistant: ['GPT4 Correct Assistant: ', '<|end_of_turn|>'], prompt: 'GPT4 Correct Assistant:' }, // prettier-ignore
  { name: 'grok-2', system: ['System: ', '<|separator|>\n\n'], user: ['Human: ', '<|separator|>\n\n'], assistant: ['Assistant: ', '<|separator|>\n\n'], prompt: 'Assistant:', trims: ['system', 'user'] }, // prettier-ignore
  { name: 'minicpm', system: ['', ''], user: ['<用户>', '<AI>'], assistant: ['', ''], trims: kEvery }, // prettier-ignore
  { name: 'pangu-embedded', bare: '[unused9]系统：[unused10]', system: ['[unused9]系统：', '[unused10]'], user: ['[unused9]用户：', '[unused10]'], assistant: ['[unused9]助手：', '[unused10]'], prompt: '[unused9]助手：' }, // prettier-ignore
  { name: 'rwkv-world', system: ['System: ', '\n\n'], user: ['User: ', '\n\nAssistant:'], assistant: [' ', '\n\n'], trims: kEvery }, // prettier-ignore
  { name: 'llama2', begin: kBos, turn: '[INST] ', system: ['', '\n'], user: ['', ' [/INST]'], assistant: ['', '</s>'] }, // prettier-ignore
  { name: 'llama2-sys', turn: '[INST] ', system: ['<<SYS>>\n', '\n<</SYS>>\n\n'], user: ['', ' [/INST]'], assistant: ['', '</s>'] }, // prettier-ignore
  { name: 'llama2-sys-bos', turn: '[INST] ', again: '<s>[INST] ', system: ['<<SYS>>\n', '\n<</SYS>>\n\n'], user: ['', ' [/INST]'], assistant: ['', '</s>'] }, // prettier-ignore
  { name: 'llama2-sys-strip', turn: '[INST] ', system: ['<<SYS>>\n', '\n<</SYS>>\n\n'], user: ['', ' [/INST]'], assistant: ['', '</s>'], trims: kEvery }, // prettier-ignore
  { name: 'falcon3', all: ['<|%|>\n', '\n'], prompt: '<|assistant|>\n' },
  { name: 'zephyr', all: ['<|%|>\n', '<|endoftext|>\n'], prompt: '<|assistant|>\n' },
  { name: 'glmedge', all: ['<|%|>\n', ''], prompt: '<|assistant|>' },
  { name: 'monarch', all: ['%\n', '</s>\n'], between: '<s>', prompt: '<s>assistant\n' },
  {
    name: 'orion',
    turn: 'Human: ',
    system: ['', '\n\n'],
    user: ['', '\n\nAssistant: </s>'],
    assistant: ['', '</s>'],
  },
  { name: 'vicuna', system: ['', '\n\n'], user: ['USER: ', '\n'], assistant: ['ASSISTANT: ', '</s>\n'], prompt: 'ASSISTANT:' }, // prettier-ignore
  { name: 'vicuna-orca', system: ['SYSTEM: ', '\n'], user: ['USER: ', '\n'], assistant: ['ASSISTANT: ', '</s>\n'], prompt: 'ASSISTANT:' }, // prettier-ignore
  { name: 'deepseek', system: ['', ''], user: ['### Instruction:\n', '\n'], assistant: ['### Response:\n', '\n<|EOT|>\n'], prompt: '### Response:\n' }, // prettier-ignore
  { name: 'deepseek2', system: ['', '\n\n'], user: ['User: ', '\n\n'], assistant: ['Assistant: ', '<｜end▁of▁sentence｜>'], prompt: 'Assistant:' }, // prettier-ignore
  { name: 'deepseek-ocr', all: ['', ''] },
  { name: 'gigachat', begin: '<s>', system: ['', '<|message_sep|>'], user: ['user<|role_sep|>', '<|message_sep|>available functions<|role_sep|>[]<|message_sep|>'], assistant: ['assistant<|role_sep|>', '<|message_sep|>'], prompt: 'assistant<|role_sep|>' }, // prettier-ignore
  {
    name: 'yandex',
    user: [' Пользователь: ', '\n\n'],
    assistant: [' Ассистент: ', '\n\n'],
    prompt: ' Ассистент:[SEP]',
  },
]

const literal = (text: string) =>
  text === '' ? '' : `{{ '${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}' }}`
/** A text with the role in it. */
const named = (text: string) => text.split('%').map(literal).join('{{ m.role }}')

function templateOf(row: KnownFormat): string {
  const message = (role: Role | undefined): string => {
    const [before, after] = (role && row[role]) ?? row.all ?? [undefined, '']
    if (before === undefined) return '' // messages of this role are not written
    const trims = role ? row.trims?.includes(role) : row.trims === kEvery
    const turn =
      role === 'assistant' || row.turn === undefined
        ? ''
        : `{% if loop.first %}${literal(row.turn)}{% elif loop.previtem.role != 'system' %}${literal(row.again ?? row.turn)}{% endif %}`
    return `${turn}${named(before)}{{ m.content${trims ? ' | trim' : ''} }}${named(after)}`
  }
  const own = (['system', 'user'] as const).map((role) => `m.role == '${role}' %}${message(role)}{% el`)
  const each =
    row.all && !row.system && !row.user && !row.assistant && !row.trims
      ? message(undefined)
      : `{% if ${own.join('if ')}se %}${message('assistant')}{% endif %}`
  const bare =
    row.bare === undefined
      ? ''
      : `{% if messages | selectattr('role', 'equalto', 'system') | list | length == 0 %}${literal(row.bare)}{% endif %}`
  const between = row.between === undefined ? '' : `{% if not loop.first %}${literal(row.between)}{% endif %}`
  const prompt =
    row.prompt === undefined ? '' : `{% if add_generation_prompt %}${literal(row.prompt)}{% endif %}`
  return `${row.begin ?? ''}${bare}{% for m in messages %}${between}${each}{% endfor %}${prompt}`
}

/** The names of all formats. */
export const kKnownFormatNames: readonly string[] = kRows.map(({ name }) => name)

/** The template of a format; undefined if the name is unknown. */
export function knownTemplate(name: string): string | undefined {
  const row = kRows.find((one) => one.name === name)
  return row && templateOf(row)
}
