// The table of formats, one row for each. A template's format is the first row whose test it passes.
import { checkArgument, checkOptions, text, type Check } from '../api/checks.js'
import type { ChatFormat, DetectOptions, ParameterTags } from './types.js'

const kPlain: ChatFormat = {
  name: 'generic',
  layout: 'marked',
  kind: 'object',
  open: '',
  between: '\n',
  close: '',
  callOpen: '',
  callClose: '',
  marks: [],
  bare: '',
  keys: { name: ['name'], arguments: ['arguments', 'parameters'], id: ['id'] },
  nameOpen: '',
  nameClose: [],
  parameters: undefined,
  reasoning: undefined,
  dropped: [],
}

interface Row extends Partial<ChatFormat> {
  readonly name: string
  readonly test: (template: string) => boolean
}
const has =
  (...parts: readonly string[]) =>
  (template: string) =>
    parts.every((part) => template.includes(part))

const kQwenParameters: ParameterTags = {
  open: '<parameter=',
  named: ['>'],
  close: '</parameter>',
  padding: '\n',
}
const kDsmlParameters: ParameterTags = {
  open: '<｜DSML｜parameter name="',
  named: ['" string="true">', '" string="false">'],
  close: '</｜DSML｜parameter>',
  padding: '',
}
const dsml = (section: string): Omit<Row, 'name' | 'test'> => ({
  kind: 'parameters',
  open: `<｜DSML｜${section}>\n`,
  close: `\n</｜DSML｜${section}>`,
  callOpen: '<｜DSML｜invoke',
  callClose: '</｜DSML｜invoke>',
  nameOpen: ' name="',
  nameClose: ['">'],
  parameters: kDsmlParameters,
})
const kHarmonyMarkers = [
  '<|start|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
  '<|channel|>',
  '<|message|>',
  '<|constrain|>',
]
const kGlmPair = { nameClose: '</arg_key>', valueOpen: '<arg_value>' }
const kGlmParameters: ParameterTags = {
  open: '<arg_key>',
  named: ['</arg_key>\n<arg_value>'],
  close: '</arg_value>',
  padding: '',
  pair: kGlmPair,
}
/** MiniMax-M3 writes this before each tag of a call. */
const kMiniMax = ']<]minimax[>['
const list = (open: string, close: string, between = ', '): Omit<Row, 'name' | 'test'> => ({
  open: `${open}[`,
  between,
  close: `]${close}`,
  marks: [open],
})

const kRows: readonly Row[] = [
  {
    name: 'llm-jp-harmony',
    test: has('chat_format=llm-jp-harmony-v1'),
    layout: 'harmony',
    kind: 'named',
    dropped: kHarmonyMarkers,
  },
  {
    name: 'gpt-oss',
    test: has('<|channel|>', '<|message|>'),
    layout: 'harmony',
    kind: 'named',
    dropped: kHarmonyMarkers,
  },
  {
    name: 'muse-glimmer',
    test: has('<atem:function_calls>', '<|eom|>'),
    layout: 'addressed',
    kind: 'parameters',
    open: '<atem:function_calls>\n',
    close: '\n</atem:function_calls>',
    callOpen: '<atem:invoke',
    callClose: '</atem:invoke>',
    nameOpen: ' name="',
    nameClose: ['">'],
    parameters: { open: '<atem:parameter name="', named: ['">'], close: '</atem:parameter>', padding: '' },
    dropped: ['<|start|>', '<|message|>', '<|eom|>', '<|eot|>'],
  },
  {
    name: 'kimi-k3',
    test: has('<|open|>', '<|close|>', '<|end_of_msg|>'),
    kind: 'parameters',
    open: '<|open|>tools<|sep|>',
    between: '',
    close: '<|close|>tools<|sep|>',
    callOpen: '<|open|>call',
    callClose: '<|close|>call<|sep|>',
    nameOpen: ' tool="',
    nameClose: ['"'],
    parameters: {
      open: '<|open|>argument key="',
      named: ['"'],
      close: '<|close|>argument<|sep|>',
      padding: '',
      tagEnd: '<|sep|>',
      gap: '',
    },
    reasoningEnds: ['<|open|>response<|sep|>'],
    dropped: [
      '<|open|>response<|sep|>',
      '<|close|>response<|sep|>',
      '<|close|>message<|sep|>',
      '<|end_of_msg|>',
    ],
  },
  {
    name: 'k2-horizon',
    test: has('<|ifm|im_start|>'),
    kind: 'parameters',
    open: '<ifm|tool_calls>\n',
    close: '\n</ifm|tool_calls>',
    callOpen: '<ifm|tool_call>',
    callClose: '</ifm|tool_call>',
    nameClose: ['\n'],
    parameters: {
      open: '<ifm|arg_key>',
      named: ['</ifm|arg_key>\n<ifm|arg_value>'],
      close: '</ifm|arg_value>',
      padding: '',
      pair: { nameClose: '</ifm|arg_key>', valueOpen: '<ifm|arg_value>' },
      type: { open: '<ifm|arg_type>', close: '</ifm|arg_type>' },
    },
    otherReasoning: ['_fast', '_faster'].map((effort) => ({
      open: `<ifm|think${effort}>`,
      close: `</ifm|think${effort}>`,
    })),
    dropped: ['<|ifm|im_end|>'],
  },
  {
    name: 'minimax-m3',
    test: has(kMiniMax),
    kind: 'elements',
    open: `${kMiniMax}<tool_call>\n`,
    close: `\n${kMiniMax}</tool_call>`,
    callOpen: `${kMiniMax}<invoke`,
    callClose: `${kMiniMax}</invoke>`,
    nameOpen: ' name="',
    nameClose: ['">'],
    parameters: { open: `${kMiniMax}<`, named: ['>'], close: `${kMiniMax}</`, padding: '' },
    dropped: ['</mm:think>'],
  },
  {
    name: 'minicpm5',
    test: has('<function name="', '<param name="'),
    kind: 'parameters',
    callOpen: '<function',
    callClose: '</function>',
    nameOpen: ' name="',
    nameClose: ['">'],
    parameters: { open: '<param name="', named: ['">'], close: '</param>', padding: '', gap: '' },
  },
  {
    name: 'deepseek-v3.2',
    test: (t) => /dsml|DSML/.test(t) && t.includes('function_calls'),
    ...dsml('function_calls'),
  },
  {
    name: 'deepseek-v4',
    test: (t) => /dsml|DSML/.test(t) && t.includes('tool_calls>'),
    ...dsml('tool_calls'),
  },
  {
    name: 'deepseek-r1',
    test: (t) => t.includes('<｜tool▁calls▁begin｜>') && t.includes('```json'),
    kind: 'named',
    open: '<｜tool▁calls▁begin｜>',
    close: '<｜tool▁calls▁end｜>',
    callOpen: '<｜tool▁call▁begin｜>',
    callClose: '\n```<｜tool▁call▁end｜>',
    nameOpen: 'function<｜tool▁sep｜>',
    nameClose: ['\n```json\n'],
  },
  {
    name: 'deepseek-v3.1',
    test: has('<｜tool▁calls▁begin｜>'),
    kind: 'named',
    open: '<｜tool▁calls▁begin｜>',
    between: '',
    close: '<｜tool▁calls▁end｜>',
    callOpen: '<｜tool▁call▁begin｜>',
    callClose: '<｜tool▁call▁end｜>',
    nameClose: ['<｜tool▁sep｜>'],
  },
  {
    name: 'kimi-k2',
    test: has('<|tool_calls_section_begin|>'),
    kind: 'named',
    open: '<|tool_calls_section_begin|>',
    between: '',
    close: '<|tool_calls_section_end|>',
    callOpen: '<|tool_call_begin|>',
    callClose: '<|tool_call_end|>',
    nameOpen: 'functions.',
    nameClose: ['<|tool_call_argument_begin|>'],
  },
  {
    name: 'minimax',
    test: has('<minimax:tool_call>'),
    kind: 'parameters',
    open: '<minimax:tool_call>\n',
    close: '\n</minimax:tool_call>',
    callOpen: '<invoke',
    callClose: '</invoke>',
    nameOpen: ' name="',
    nameClose: ['">'],
    parameters: { open: '<parameter name="', named: ['">'], close: '</parameter>', padding: '' },
  },
  {
    name: 'seed-oss',
    test: has('<seed:tool_call>'),
    kind: 'parameters',
    callOpen: '<seed:tool_call>',
    callClose: '</function>\n</seed:tool_call>',
    nameOpen: '\n<function=',
    nameClose: ['>'],
    parameters: { ...kQwenParameters, padding: '' },
  },
  {
    name: 'qwen3-coder',
    test: has('<function=', '<parameter='),
    kind: 'parameters',
    callOpen: '<tool_call>',
    callClose: '</function>\n</tool_call>',
    marks: ['<function='],
    nameOpen: '\n<function=',
    nameClose: ['>'],
    parameters: kQwenParameters,
  },
  {
    name: 'ling-3',
    test: has('<arg_key>', '<arg_value>', '<role>'),
    kind: 'parameters',
    between: '',
    callOpen: '<tool_call>',
    callClose: '</tool_call>',
    nameClose: [''],
    parameters: { ...kGlmParameters, gap: '' },
    dropped: ['<|role_end|>'],
  },
  {
    name: 'glm-4',
    test: has('<arg_key>', '<arg_value>'),
    kind: 'parameters',
    callOpen: '<tool_call>',
    callClose: '</tool_call>',
    nameClose: ['\n'],
    parameters: kGlmParameters,
  },
  {
    name: 'functionary-v3.2',
    test: has('>>>all'),
    layout: 'recipients',
    kind: 'named',
  },
  {
    name: 'functionary-v3.1',
    test: (t) => t.includes('<function=') && !t.includes('<tool_call>'),
    kind: 'named',
    between: '',
    callOpen: '<function=',
    callClose: '</function>',
    nameClose: ['>'],
  },
  {
    name: 'mistral',
    test: (t) => t.includes('[TOOL_CALLS]') && t.includes('[ARGS]'),
    kind: 'named',
    between: '',
    callOpen: '[TOOL_CALLS]',
    nameClose: ['[ARGS]'],
  },
  { name: 'mistral-nemo', test: has('[TOOL_CALLS]'), ...list('[TOOL_CALLS]', '') },
  {
    name: 'command-r7b',
    test: has('<|START_ACTION|>'),
    ...list('<|START_ACTION|>', '<|END_ACTION|>'),
    keys: { name: ['tool_name', 'name'], arguments: ['parameters', 'arguments'], id: ['tool_call_id', 'id'] },
    reasoningEnds: ['<|START_TEXT|>', '<|START_RESPONSE|>'],
    dropped: ['<|START_RESPONSE|>', '<|END_RESPONSE|>', '<|START_TEXT|>', '<|END_TEXT|>'],
  },
  {
    name: 'command-r-plus',
    test: (t) => t.includes('Action:') && t.includes('tool_name'),
    open: 'Action:\n```json\n[',
    between: ',\n',
    close: ']\n```',
    marks: ['Action:'],
    keys: { name: ['tool_name', 'name'], arguments: ['parameters', 'arguments'], id: ['id'] },
  },
  { name: 'apertus', test: has('<|tools_prefix|>'), kind: 'named', open: '<|tools_prefix|>[', between: ', ', close: ']<|tools_suffix|>', callOpen: '{"', callClose: '}', nameClose: ['": '], dropped: ['<|inner_suffix|>'] }, // prettier-ignore
  {
    name: 'solar',
    test: has('<|tool_call:begin|>'),
    kind: 'named',
    open: '<|tool_calls|>',
    callOpen: '<|tool_call:begin|>',
    callClose: '<|tool_call:end|>',
    nameOpen: '<|tool_call:name|>',
    nameClose: ['<|tool_call:args|>'],
    dropped: ['<|begin|>assistant', '<|content|>', '<|calls|>', '<|flush|>', '<|end|>'],
  },
  {
    name: 'lfm2',
    test: has('<|tool_call_start|>'),
    kind: 'python',
    open: '<|tool_call_start|>[',
    between: ', ',
    close: ']<|tool_call_end|>',
    marks: ['<|tool_call_start|>'],
  },
  { name: 'lfm2', test: (t) => t.includes('List of tools: ['), kind: 'python', open: '<|tool_call_start|>[', between: ', ', close: ']<|tool_call_end|>', marks: ['<|tool_call_start|>'] }, // prettier-ignore
  {
    name: 'gemma-4',
    test: has('<|tool_call>', '<tool_call|>'),
    kind: 'gemma',
    between: '',
    callOpen: '<|tool_call>call:',
    callClose: '<tool_call|>',
    nameClose: ['{'],
  },
  {
    name: 'phi-4',
    // Phi-4-mini's template contains only the tags of its tools.
    test: (t) =>
      (t.includes('<|tool_call|>') && t.includes('<|/tool_call|>')) ||
      (t.includes('<|tool|>') && t.includes('<|/tool|>')),
    ...list('<|tool_call|>', '<|/tool_call|>'),
  },
  { name: 'granite', test: has('<|tool_call|>'), ...list('<|tool_call|>', '') },
  { name: 'firefunction', test: has('functools['), ...list(' functools', ''), marks: ['functools'] },
  // Apriel, Jamba and Hunyuan; the bracket may be in another part of the template.
  {
    name: 'apriel',
    test: (t) => t.includes('<tool_calls>[') || (t.includes('<tool_calls>') && !t.includes('<tool_call>')),
    ...list('<tool_calls>', '</tool_calls>'),
  },
  {
    name: 'hunyuan',
    test: has('<tool_calls>', '<tool_sep>', '```json'),
    kind: 'named',
    open: '<tool_calls>\n',
    close: '\n</tool_calls>',
    callOpen: '<tool_call>',
    callClose: '\n```</tool_call>',
    nameOpen: 'function<tool_sep>',
    nameClose: ['\n```json\n'],
  },
  {
    name: 'olmo-3',
    test: has('<function_calls>'),
    kind: 'python',
    open: '<function_calls>',
    close: '</function_calls>',
    marks: ['<function_calls>'],
  },
  { name: 'nemotron-nano-v2', test: has('<TOOLCALL>'), ...list('<TOOLCALL>', '</TOOLCALL>') },
  { name: 'internlm', test: has('<|action_start|>'), callOpen: '<|action_start|><|plugin|>\n', callClose: '\n<|action_end|>', keys: { name: ['name'], arguments: ['parameters', 'arguments'], id: ['id'] } }, // prettier-ignore
  { name: 'gigachat', test: (t) => t.includes("'function call'"), callOpen: 'function call<|role_sep|>\n' },
  {
    name: 'hermes',
    test: (t) => t.includes('<tool_call>') || t.includes('xml_tools'),
    callOpen: '<tool_call>\n',
    callClose: '\n</tool_call>',
  },
  {
    name: 'llama-3',
    test: (t) =>
      t.includes('<|python_tag|>') ||
      (/<\|(start_header_id|header_start)\|>/.test(t) && t.includes('"parameters":')),
    between: '; ',
    marks: ['<|python_tag|>'],
    bare: '{',
    keys: { name: ['name', 'function'], arguments: ['parameters', 'arguments'], id: ['id'] },
  },
  { name: 'llama-pythonic', test: (t) => /\[func_name1?\(/.test(t), kind: 'python', open: '[', between: ', ', close: ']', bare: '[', marks: ['<|python_start|>', '<|python_tag|>'], dropped: ['<|python_end|>'] }, // prettier-ignore
]

interface ReasoningRow {
  readonly open: string
  readonly close: string
  readonly test: (template: string) => boolean
}
const kReasoning: readonly ReasoningRow[] = [
  { open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>', test: has('<|open|>', '<|end_of_msg|>') },
  { open: '<ifm|think>', close: '</ifm|think>', test: has('<|ifm|im_start|>') },
  { open: '<mm:think>', close: '</mm:think>', test: has('<mm:think>') },
  { open: '<seed:think>', close: '</seed:think>', test: has('<seed:think>') },
  { open: '[THINK]', close: '[/THINK]', test: has('[THINK]') },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>', test: has('<|START_THINKING|>') },
  { open: '<|channel>thought\n', close: '<channel|>', test: has('<|channel>', '<channel|>') },
  { open: '<|think|>', close: '<|end|>', test: has('<|think|>', '<|tool_call:begin|>') },
  { open: '<|inner_prefix|>', close: '<|inner_suffix|>', test: has('<|inner_prefix|>') },
  { open: '<think>', close: '</think>', test: (t) => t.includes('</think>') || t.includes('<think>') },
  { open: '<thinking>', close: '</thinking>', test: has('</thinking>') },
  { open: '<reasoning>', close: '</reasoning>', test: has('</reasoning>') },
]

function formatOf({ test: _, ...row }: Row, template: string): ChatFormat {
  const marked = { ...kPlain, ...row }
  const own = row.layout === 'harmony' || row.layout === 'addressed'
  const reasoning = own ? undefined : kReasoning.find(({ test }) => test(template))
  return { ...marked, reasoning: reasoning && { open: reasoning.open, close: reasoning.close } }
}

/** The row of a template that writes JSON objects between tags of its own, e.g. <longcat_tool_call>. */
function taggedRow(template: string): Row | undefined {
  for (const { 0: open, 1: name } of template.matchAll(/<([\w:|-]*tool_?calls?[\w:|-]*)>/gi)) {
    const close = `</${name!}>`
    if (template.includes(close))
      return { name: 'tagged', test: () => true, callOpen: `${open}\n`, callClose: `\n${close}` }
  }
  return undefined
}

/** The names of all formats. */
export const kChatFormatNames: readonly string[] = [
  ...new Set([...kRows.map(({ name }) => name), 'tagged', kPlain.name]),
]

const kDetectChecks: Readonly<Record<keyof DetectOptions, Check>> = {
  template: text,
  tokens: (value) =>
    typeof value === 'object' && value !== null && 'has' in value ? undefined : 'an object with has()',
}
/** A check: a format of chats. */
export const chatFormat: Check = (value) =>
  typeof value === 'object' && value !== null && 'layout' in value && 'kind' in value
    ? undefined
    : 'what detectChatFormat() returns'

/**
 * How a model with this chat template writes tool calls and reasoning. A template without tools gets the generic
 * format: a reply that is one JSON object with a name and arguments, which instructionsOf() asks for.
 */
export function detectChatFormat(options: DetectOptions): ChatFormat {
  checkOptions('detectChatFormat()', options, kDetectChecks)
  const { template, tokens } = options
  checkArgument('detectChatFormat()', 'template', template, text)
  const row = kRows.find(({ test }) => test(template)) ?? taggedRow(template)
  if (row) return formatOf(row, template)
  const named = /\btools\b/.test(template)
  // Mistral's older templates do not contain the marker: the tokenizer adds it.
  if (named && tokens?.has('[TOOL_CALLS]'))
    return formatOf(
      kRows.find(({ name }) => name === 'mistral-nemo')!,
      template,
    )
  return formatOf({ name: kPlain.name, test: () => true, bare: '{' }, template)
}
