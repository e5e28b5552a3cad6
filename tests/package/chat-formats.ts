// Replies as models of each format write them, and the expected results of the parser. The texts were written for
// tests.
export interface ReplyCase {
  /** as detectChatFormat names it */
  readonly format: string
  /** parts of a chat template by which the format is recognized */
  readonly template: string
  readonly reply: string
  readonly prompt?: string
  readonly content?: string
  readonly reasoning?: string
  readonly calls?: readonly (readonly [name: string, args: unknown, id?: string])[]
}

const args = { city: 'Köln', days: 3 }
const weather = ['weather', args] as const
const both = [weather, ['now', {}]] as const
const think = '<think>{{ reasoning }}</think>'
const hermes = `<tool_call> {{ tool_call | tojson }} ${think}`
const coder = `<tool_call>\\n<function=name>\\n<parameter=key> ${think}`
const qwenCall = '<tool_call>\n<function=weather>\n<parameter=city>\nKöln\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>' // prettier-ignore

export const kReplies: readonly ReplyCase[] = [
  { format: 'hermes', template: hermes, reply: 'Just text.\n', content: 'Just text.\n' },
  {
    format: 'hermes',
    template: hermes,
    reply: '<think>\nHm, so.\n</think>\n\nHello',
    reasoning: 'Hm, so.',
    content: 'Hello',
  },
  {
    format: 'hermes',
    template: hermes,
    prompt: '<|im_start|>assistant\n<think>\n',
    reply: 'Hm <b>\n</think>\n\nHi',
    reasoning: 'Hm <b>',
    content: 'Hi',
  },
  {
    format: 'hermes',
    template: hermes,
    reply:
      '<think>\nask\n</think>\n\nLet me see.\n<tool_call>\n{"name": "weather", "arguments": {"city": "Köln", "days": 3}}\n</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    reasoning: 'ask',
    content: 'Let me see.',
    calls: both,
  },
  {
    format: 'hermes',
    template: hermes,
    prompt: '<|im_start|>assistant\n<think>\n',
    reply: 'Not <tool_call> yet.\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    reasoning: 'Not <tool_call> yet.',
    calls: [['now', {}]],
  },
  {
    format: 'hermes',
    template: hermes,
    reply: '<tool_call>{"arguments": {"city": "Köln", "days": 3}, "name": "weather"}</tool_call>',
    calls: [weather],
  },
  {
    format: 'hermes',
    template: hermes,
    reply:
      '<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Köln\\", \\"days\\": 3}"}</tool_call>',
    calls: [weather],
  },
  {
    format: 'hermes',
    template: hermes,
    reply: '2 < 3, <tool_cal> is no call <tool_call> nor this',
    content: '2 < 3, <tool_cal> is no call <tool_call> nor this',
  },
  {
    format: 'qwen3-coder',
    template: coder,
    reply: `I look.\n\n${qwenCall}`,
    content: 'I look.',
    calls: [weather],
  },
  {
    format: 'qwen3-coder',
    template: coder,
    reply: `${qwenCall}\n<tool_call>\n<function=now>\n</function>\n</tool_call>`,
    calls: both,
  },
  {
    format: 'qwen3-coder',
    template: coder,
    reply:
      '<tool_call>\n<function=note>\n<parameter=text>\na "b"\n\n</parm>\\\n</parameter>\n</function>\n</tool_call>',
    calls: [['note', { text: 'a "b"\n\n</parm>\\' }]],
  },
  {
    format: 'seed-oss',
    template: '<seed:tool_call> <function= <parameter= <seed:think>',
    reply:
      '<seed:think>hm</seed:think><seed:tool_call>\n<function=weather>\n<parameter=city>Köln</parameter>\n<parameter=days>3</parameter>\n</function>\n</seed:tool_call>',
    reasoning: 'hm',
    calls: [weather],
  },
  {
    format: 'glm-4',
    template: `<arg_key> <arg_value> ${think}`,
    reply:
      '<think>so</think>\n<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Köln</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>',
    reasoning: 'so',
    calls: both,
  },
  {
    format: 'glm-4',
    template: '<arg_key> <arg_value>',
    reply:
      '<tool_call>weather<arg_key>city</arg_key><arg_value>Köln</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>',
    calls: [weather],
  },
  {
    format: 'minimax',
    template: `<minimax:tool_call> ${think}`,
    reply:
      '<think>a</think>x\n<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Köln</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n<invoke name="now">\n</invoke>\n</minimax:tool_call>',
    reasoning: 'a',
    content: 'x',
    calls: both,
  },
  {
    format: 'deepseek-v3.2',
    template: 'dsml_token function_calls',
    reply:
      'x\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Köln</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    content: 'x',
    calls: [weather],
  },
  {
    format: 'deepseek-v4',
    template: 'dsml_token tool_calls>',
    reply:
      '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Köln</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    calls: both,
  },
  {
    format: 'deepseek-r1',
    template: `<｜tool▁calls▁begin｜> \`\`\`json ${think}`,
    prompt: '<｜Assistant｜><think>\n',
    reply:
      'hm</think>\n\nok<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{"city": "Köln", "days": 3}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    reasoning: 'hm',
    content: 'ok',
    calls: both,
  },
  {
    format: 'deepseek-v3.1',
    template: '<｜tool▁calls▁begin｜><｜tool▁sep｜>',
    reply:
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Köln", "days": 3}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    calls: both,
  },
  {
    format: 'kimi-k2',
    template: '<|tool_calls_section_begin|>',
    reply:
      'hi<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"city": "Köln", "days": 3}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    content: 'hi',
    calls: [
      ['weather', args, 'functions.weather:0'],
      ['now', {}, 'functions.now:1'],
    ],
  },
  {
    format: 'mistral',
    template: '[TOOL_CALLS] [ARGS] [THINK]',
    reply:
      '[THINK]a[/THINK]b[TOOL_CALLS]weather[ARGS]{"city": "Köln", "days": 3}[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}',
    reasoning: 'a',
    content: 'b',
    calls: [weather, ['now', {}, 'abcdefghi']],
  },
  {
    format: 'mistral',
    template: '[TOOL_CALLS] [ARGS]',
    reply: '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Köln", "days": 3}}]',
    calls: [weather],
  },
  {
    format: 'mistral-nemo',
    template: '[TOOL_CALLS]',
    reply:
      '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Köln", "days": 3}, "id": "123456789"}, {"name": "now", "arguments": {}}]',
    calls: both,
  },
  {
    format: 'functionary-v3.2',
    template: '>>>all',
    reply: 'all\nSo then.\n>>>weather\n{"city": "Köln", "days": 3}\n>>>now\n{}',
    content: 'So then.',
    calls: both,
  },
  {
    format: 'functionary-v3.2',
    template: '>>>all',
    reply: 'weather\n{"city": "Köln", "days": 3}',
    calls: [weather],
  },
  {
    format: 'functionary-v3.1',
    template: '<function=',
    reply: 'x <function=weather>{"city": "Köln", "days": 3}</function>\n<function=now>{}</function>',
    content: 'x',
    calls: both,
  },
  {
    format: 'command-r7b',
    template: '<|START_ACTION|> <|START_THINKING|>',
    reply:
      '<|START_THINKING|>plan<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Köln", "days": 3}},\n    {"tool_call_id": "1", "tool_name": "now", "parameters": {}}\n]<|END_ACTION|>',
    reasoning: 'plan',
    calls: [
      ['weather', args, '0'],
      ['now', {}, '1'],
    ],
  },
  {
    format: 'command-r7b',
    template: '<|START_ACTION|>',
    reply: '<|START_RESPONSE|>Hello<|END_RESPONSE|>',
    content: 'Hello',
  },
  {
    format: 'command-r-plus',
    template: 'Action: tool_name',
    reply:
      'Action:\n```json\n[\n    {\n        "tool_name": "weather",\n        "parameters": {"city": "Köln", "days": 3}\n    }\n]\n```',
    calls: [weather],
  },
  {
    format: 'command-r-plus',
    template: 'Action: tool_name',
    reply: 'Action: ```json\n[{"tool_name": "directly_answer", "parameters": {}}]```',
    content: '',
  },
  {
    format: 'gpt-oss',
    template: '<|channel|> <|message|>',
    reply: '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello',
    reasoning: 'hm',
    content: 'Hello',
  },
  {
    format: 'gpt-oss',
    template: '<|channel|> <|message|>',
    reply:
      '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Köln", "days": 3}<|call|>',
    reasoning: 'hm',
    calls: [weather],
  },
  {
    format: 'gpt-oss',
    template: '<|channel|> <|message|>',
    reply:
      '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant to=functions.weather<|channel|>commentary json<|message|>{"city": "Köln", "days": 3}',
    content: 'I look.',
    calls: [weather],
  },
  {
    format: 'granite',
    template: `<|tool_call|> ${think}`,
    reply:
      '<think>a</think><|tool_call|>[{"name": "weather", "arguments": {"city": "Köln", "days": 3}}, {"name": "now", "arguments": {}}]',
    reasoning: 'a',
    calls: both,
  },
  {
    format: 'phi-4',
    template: '<|tool_call|> <|/tool_call|>',
    reply: '<|tool_call|>[{"name": "weather", "arguments": {"city": "Köln", "days": 3}}]<|/tool_call|>',
    calls: [weather],
  },
  {
    format: 'firefunction',
    template: 'functools[',
    reply:
      ' functools[{"name": "weather", "arguments": {"city": "Köln", "days": 3}}, {"name": "now", "arguments": {}}]',
    calls: both,
  },
  {
    format: 'apriel',
    template: '<tool_calls>[',
    reply:
      'ok <tool_calls>[{"name": "weather", "arguments": {"city": "Köln", "days": 3}, "id": "7"}]</tool_calls>',
    content: 'ok',
    calls: [weather],
  },
  {
    format: 'apriel',
    template: "{{ '<tool_calls>' }}{{ '[' }}",
    reply:
      '<tool_calls>[\n{"name": "weather", "arguments": {"city": "Köln", "days": 3}},\n{"name": "now", "arguments": {}}\n]</tool_calls>',
    calls: both,
  },
  {
    format: 'hunyuan',
    template: `<tool_calls> <tool_call> <tool_sep> \`\`\`json ${think}`,
    reply:
      '<think>\nhm\n</think>\nok <tool_calls>\n<tool_call>function<tool_sep>weather\n```json\n{"city": "Köln", "days": 3}\n```</tool_call>\n<tool_call>function<tool_sep>now\n```json\n{}\n```</tool_call>\n</tool_calls>',
    reasoning: 'hm',
    content: 'ok',
    calls: both,
  },
  {
    format: 'olmo-3',
    template: '<functions> <function_calls>',
    reply: 'So.<function_calls>weather(city="Köln", days=3)\nnow()</function_calls>',
    content: 'So.',
    calls: both,
  },
  {
    format: 'tagged',
    template: `<longcat_tool_call> </longcat_tool_call> ${think}`,
    reply:
      'ok\n<longcat_tool_call>\n{"name": "weather", "arguments": {"city": "Köln", "days": 3}}\n</longcat_tool_call>\n<longcat_tool_call>{"name": "now", "arguments": {}}</longcat_tool_call>',
    content: 'ok',
    calls: both,
  },
  {
    format: 'internlm',
    template: '<|action_start|> <|action_end|>',
    reply:
      'ok<|action_start|><|plugin|>\n{"name": "weather", "parameters": {"city": "Köln", "days": 3}}<|action_end|>',
    content: 'ok',
    calls: [weather],
  },
  {
    format: 'phi-4',
    template: "{{ '<|tool|>' + message['tools'] + '<|/tool|>' }}",
    reply: '<|tool_call|>[{"name": "weather", "arguments": {"city": "Köln", "days": 3}}]<|/tool_call|>',
    calls: [weather],
  },
  {
    format: 'llama-3',
    template: '<|header_start|> "parameters":',
    reply: '{"name": "weather", "parameters": {"city": "Köln", "days": 3}}',
    calls: [weather],
  },
  {
    format: 'nemotron-nano-v2',
    template: '<TOOLCALL>',
    reply: '<TOOLCALL>[{"name": "weather", "arguments": {"city": "Köln", "days": 3}}]</TOOLCALL>',
    calls: [weather],
  },
  {
    format: 'gigachat',
    template: "'function call'",
    reply: 'function call<|role_sep|>\n{"name": "weather", "arguments": {"city": "Köln", "days": 3}}',
    calls: [weather],
  },
  {
    format: 'apertus',
    template: '<|tools_prefix|> <|inner_prefix|>',
    reply:
      '<|inner_prefix|>hm<|inner_suffix|>so <|tools_prefix|>[{"weather": {"city": "Köln", "days": 3}}, {"now": {}}]<|tools_suffix|>',
    reasoning: 'hm',
    content: 'so',
    calls: both,
  },
  {
    format: 'solar',
    template: '<|tool_call:begin|> <|think|>',
    reply:
      '<|think|>hm<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>ab1<|tool_call:name|>weather<|tool_call:args|>{"city": "Köln", "days": 3}<|tool_call:end|>\n<|tool_call:begin|>ab2<|tool_call:name|>now<|tool_call:args|>{}<|tool_call:end|><|calls|>',
    reasoning: 'hm',
    calls: [
      ['weather', args, 'ab1'],
      ['now', {}, 'ab2'],
    ],
  },
  {
    format: 'lfm2',
    template: '<|tool_call_start|>',
    reply: 'x<|tool_call_start|>[weather(city="Köln", days=3), now()]<|tool_call_end|>y',
    content: 'xy',
    calls: both,
  },
  {
    format: 'lfm2',
    template: '<|tool_call_start|>',
    reply: `<|tool_call_start|>[note(text='it\\'s "\\n"', flags=[True, None, {'a': (1, 2.5)}])]<|tool_call_end|>`,
    calls: [['note', { text: 'it\'s "\n"', flags: [true, null, { a: [1, 2.5] }] }]],
  },
  {
    format: 'llama-pythonic',
    template: '[func_name1(',
    reply: '[weather(city="Köln", days=3), now()]',
    calls: both,
  },
  {
    format: 'llama-pythonic',
    template: '[func_name1(',
    reply: '[see (1)] is a note',
    content: '[see (1)] is a note',
  },
  {
    format: 'gemma-4',
    template: '<|tool_call> <tool_call|> <|channel> <channel|>',
    reply:
      '<|channel>thought\nhm<channel|><|tool_call>call:weather{city:<|"|>Köln<|"|>,days:3}<tool_call|><|tool_call>call:now{}<tool_call|>',
    reasoning: 'hm',
    calls: both,
  },
  {
    format: 'gemma-4',
    template: '<|tool_call> <tool_call|>',
    reply: '<|tool_call>call:note{flags:[true,{a:null}],text:<|"|>"x", {y}<|"|>}<tool_call|>',
    calls: [['note', { flags: [true, { a: null }], text: '"x", {y}' }]],
  },
  {
    format: 'llama-3',
    template: '<|python_tag|>',
    reply: '{"name": "weather", "parameters": {"city": "Köln", "days": 3}}',
    calls: [weather],
  },
  {
    format: 'llama-3',
    template: '<|python_tag|>',
    reply:
      '<|python_tag|>{"type": "function", "name": "weather", "parameters": {"city": "Köln", "days": 3}}; {"name": "now", "parameters": {}}',
    calls: both,
  },
  {
    format: 'llama-3',
    template: '<|python_tag|>',
    reply: '<|python_tag|>search.call(query="a b")',
    calls: [['search', { query: 'a b' }]],
  },
  {
    format: 'llama-3',
    template: '<|python_tag|>',
    reply: '<|python_tag|>print(1)\n',
    calls: [['code_interpreter', { code: 'print(1)\n' }]],
  },
  { format: 'llama-3', template: '<|python_tag|>', reply: '{"answer": 4}', content: '{"answer": 4}' },
  {
    format: 'generic',
    template: '{{ messages }}',
    reply: '{"name": "weather", "arguments": {"city": "Köln", "days": 3}}\n{"name": "now", "arguments": {}}',
    calls: both,
  },
  { format: 'generic', template: '{{ messages }}', reply: ' Hello {"name"}', content: ' Hello {"name"}' },
  {
    format: 'llm-jp-harmony',
    template: 'chat_format=llm-jp-harmony-v1 <|channel|> <|message|>',
    reply:
      '<|channel|> analysis<|message|> hm<|end|><|start|> assistant<|channel|> commentary to=functions.weather <|constrain|>  json<|message|> {"city": "Köln", "days": 3}<|end|><|start|> assistant to=functions.now<|channel|> commentary json<|message|> {}<|call|>',
    reasoning: 'hm',
    calls: both,
  },
  {
    format: 'llm-jp-harmony',
    template: 'chat_format=llm-jp-harmony-v1 <|channel|> <|message|>',
    reply: '<|channel|> analysis<|message|> hm<|end|><|start|> assistant<|channel|> final<|message|> Hello',
    reasoning: 'hm',
    content: 'Hello',
  },
  {
    format: 'muse-glimmer',
    template: '<atem:function_calls> <|eom|>',
    reply: ' to=self<|message|>hm<|eom|><|start|>assistant to=user<|message|>Hello<|eot|>',
    reasoning: 'hm',
    content: 'Hello',
  },
  {
    format: 'muse-glimmer',
    template: '<atem:function_calls> <|eom|>',
    reply:
      ' to=self<|message|>hm<|eom|><|start|>assistant to=user<|message|>I look.<|eom|><|start|>assistant to=weather<|message|><atem:function_calls>\n<atem:invoke name="weather">\n<atem:parameter name="city">Köln</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=now<|message|><atem:function_calls>\n<atem:invoke name="now">\n</atem:invoke>\n</atem:function_calls><|eot|>',
    reasoning: 'hm',
    content: 'I look.',
    calls: both,
  },
  {
    format: 'kimi-k3',
    template: '<|open|> <|close|> <|end_of_msg|>',
    prompt: '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
    reply:
      'hm<|close|>think<|sep|><|open|>response<|sep|>ok<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Köln<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="now" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>',
    reasoning: 'hm',
    content: 'ok',
    calls: both,
  },
  {
    format: 'kimi-k3',
    template: '<|open|> <|close|> <|end_of_msg|>',
    prompt: '<|open|>think<|sep|>',
    reply: 'hm<|open|>response<|sep|>Hello',
    reasoning: 'hm',
    content: 'Hello',
  },
  {
    format: 'kimi-k3',
    template: '<|open|> <|close|> <|end_of_msg|>',
    reply:
      '<|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|><|open|>json type="object"<|sep|>{"city": "Köln", "days": 3}<|close|>json<|sep|><|close|>call<|sep|><|open|>call tool="note" index="2"<|sep|><|open|>argument key="a &quot;b&quot;" type="string"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    calls: [weather, ['note', { 'a "b"': '3' }]],
  },
  {
    format: 'k2-horizon',
    template: '<|ifm|im_start|>',
    prompt: '<|ifm|im_start|>assistant\n<ifm|think>\n',
    reply:
      'hm\n</ifm|think>\nok\n<ifm|tool_calls>\n<ifm|tool_call>weather\n<ifm|arg_key>city</ifm|arg_key>\n<ifm|arg_value>Köln</ifm|arg_value>\n<ifm|arg_key>days</ifm|arg_key>\n<ifm|arg_type>integer</ifm|arg_type>\n<ifm|arg_value>3</ifm|arg_value>\n</ifm|tool_call>\n<ifm|tool_call>now</ifm|tool_call>\n</ifm|tool_calls><|ifm|im_end|>',
    reasoning: 'hm',
    content: 'ok',
    calls: both,
  },
  {
    format: 'k2-horizon',
    template: '<|ifm|im_start|>',
    prompt: '<|ifm|im_start|>assistant\n<ifm|think_faster>\n',
    reply:
      'hm</ifm|think_faster><ifm|tool_calls><ifm|tool_call>{"name": "weather", "arguments": {"city": "Köln", "days": 3}}</ifm|tool_call><ifm|tool_call>{"name": "now", "arguments": {}}</ifm|tool_call></ifm|tool_calls>',
    reasoning: 'hm',
    calls: both,
  },
  {
    format: 'minimax-m3',
    template: ']<]minimax[>[ <mm:think>',
    reply:
      '<mm:think>a</mm:think>x\n]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="weather">\n]<]minimax[>[<city>Köln]<]minimax[>[</city>\n]<]minimax[>[<days>3]<]minimax[>[</days>\n]<]minimax[>[</invoke>\n]<]minimax[>[<invoke name="now">\n]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    reasoning: 'a',
    content: 'x',
    calls: both,
  },
  {
    format: 'minimax-m3',
    template: ']<]minimax[>[ <mm:think>',
    reply:
      '</mm:think>]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="note">]<]minimax[>[<to>]<]minimax[>[<name>A <b>]<]minimax[>[</name>]<]minimax[>[<tags>]<]minimax[>[<item>x]<]minimax[>[</item>]<]minimax[>[<item>2]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[</to>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>',
    calls: [['note', { to: { name: 'A <b>', tags: ['x', 2] } }]],
  },
  {
    format: 'minicpm5',
    template: `<function name=" <param name=" ${think}`,
    reply:
      '<think>\nhm\n</think>\n\nok\n<function name="weather"><param name="city">Köln</param><param name="days">3</param></function>\n<function name="note"><param name="text"><![CDATA[a </param> b]]></param></function>',
    reasoning: 'hm',
    content: 'ok',
    calls: [weather, ['note', { text: 'a </param> b' }]],
  },
  {
    format: 'ling-3',
    template: `<role> <arg_key> <arg_value> ${think}`,
    prompt: '<role>ASSISTANT</role>\n<think>',
    reply:
      'so<tool_call>weather<arg_key>city</arg_key>\n<arg_value>Köln</arg_value><arg_key>days</arg_key>\n<arg_value>3</arg_value></tool_call><tool_call>now</tool_call><|role_end|>',
    reasoning: 'so',
    calls: both,
  },
  {
    format: 'command-r7b',
    template: '<|START_ACTION|> <|START_TEXT|> <|START_THINKING|>',
    prompt: '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>',
    reply: 'plan<|START_TEXT|>Hello<|END_TEXT|>',
    reasoning: 'plan',
    content: 'Hello',
  },
]
