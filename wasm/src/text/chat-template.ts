import { hasVocabulary } from '../header/metadata.js'
import type { Metadata } from '../api/metadata.js'
import type { ChatTemplate, Tokenizer } from '../api/text.js'

/** A format of prompts that many models share, for files without a template of their own. */
interface KnownFormat {
  readonly name: string
  /** tokens that a vocabulary made for it has */
  readonly tokens: readonly string[]
  /** general.architecture, where the tokens alone say too little */
  readonly architectures?: readonly string[]
  readonly text: string
}

// In the order in which they are tried.
const kKnownFormats: readonly KnownFormat[] = [
  {
    name: 'llama3',
    tokens: ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
    text: '{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n{{ message.content | trim }}<|eot_id|>{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}',
  },
  {
    name: 'chatml',
    tokens: ['<|im_start|>', '<|im_end|>'],
    text: '{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
  },
  {
    name: 'gemma',
    tokens: ['<start_of_turn>', '<end_of_turn>'],
    text: "{{ bos_token }}{% for message in messages %}<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}\n{{ message.content | trim }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}",
  },
  {
    name: 'phi3',
    tokens: ['<|user|>', '<|assistant|>', '<|end|>'],
    text: '{% for message in messages %}<|{{ message.role }}|>\n{{ message.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}',
  },
  {
    name: 'llama2',
    tokens: ['<s>', '</s>'],
    architectures: ['llama', 'mistral3'],
    text: "{{ bos_token }}{% for message in messages %}{% if message.role == 'assistant' %} {{ message.content | trim }}{{ eos_token }}{% else %}[INST] {{ message.content | trim }} [/INST]{% endif %}{% endfor %}",
  },
]

const kPrefix = 'tokenizer.chat_template'

/** The file's templates by name; else the known format that the vocabulary suggests. */
export function chatTemplates(
  metadata: Metadata,
  tokenizer: () => Tokenizer,
): ReadonlyMap<string, ChatTemplate> {
  const templates = new Map<string, ChatTemplate>()
  for (const key of metadata.keys()) {
    if (key !== kPrefix && !key.startsWith(`${kPrefix}.`)) continue
    const text = metadata.get(key)
    const name = key === kPrefix ? 'default' : key.slice(kPrefix.length + 1)
    if (typeof text === 'string' && !templates.has(name)) templates.set(name, { name, source: 'file', text })
  }
  if (templates.size > 0 || !hasVocabulary(metadata)) return templates
  const vocabulary = tokenizer()
  const architecture = metadata.get('general.architecture')
  const format = kKnownFormats.find(
    ({ tokens, architectures }) =>
      (!architectures || architectures.includes(String(architecture))) &&
      tokens.every((token) => vocabulary.find(token) !== undefined),
  )
  if (format) templates.set('default', { name: 'default', source: format.name, text: format.text })
  return templates
}
