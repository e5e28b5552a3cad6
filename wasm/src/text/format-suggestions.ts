// Which known format a vocabulary was made for.

/** Tokens that a vocabulary for the format has, and general.architecture if the tokens are not enough. */
type Suggestion = readonly [name: string, tokens: readonly string[], architectures?: readonly string[]]

/** Rows in the order in which they are tested. */
const kSuggestions: readonly Suggestion[] = [
  ['llama3', ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>']],
  ['llama4', ['<|header_start|>', '<|header_end|>', '<|eot|>']],
  ['phi4', ['<|im_start|>', '<|im_sep|>', '<|im_end|>']],
  ['smolvlm', ['<|im_start|>', '<end_of_utterance>']],
  ['kimi-k2', ['<|im_user|>', '<|im_middle|>', '<|im_end|>']],
  ['chatml', ['<|im_start|>', '<|im_end|>']],
  ['gemma', ['<start_of_turn>', '<end_of_turn>']],
  ['gpt-oss', ['<|start|>', '<|message|>', '<|return|>']],
  ['solar-open', ['<|begin|>', '<|content|>', '<|end|>']],
  ['exaone-moe', ['<|user|>', '<|assistant|>', '<|endofturn|>']],
  ['phi3', ['<|user|>', '<|assistant|>', '<|end|>']],
  ['chatglm4', ['[gMASK]', '<sop>', '<|user|>']],
  ['chatglm3', ['[gMASK]', 'sop', '<|user|>']],
  ['command-r', ['<|START_OF_TURN_TOKEN|>', '<|USER_TOKEN|>', '<|CHATBOT_TOKEN|>']],
  ['deepseek3', ['<｜User｜>', '<｜Assistant｜>', '<｜end▁of▁sentence｜>']],
  ['exaone4', ['[|user|]', '[|assistant|]', '[|endofturn|]', '[|tool|]']],
  ['exaone3', ['[|user|]', '[|assistant|]', '[|endofturn|]']],
  ['granite', ['<|start_of_role|>', '<|end_of_role|>']],
  ['seed_oss', ['<seed:bos>', '<seed:eos>']],
  ['megrez', ['<|role_start|>', '<|role_end|>']],
  ['hunyuan-dense', ['<｜hy_User｜>', '<｜hy_Assistant｜>', '<｜hy_place▁holder▁no▁2｜>']],
  ['hunyuan-moe', ['<|startoftext|>', '<|extra_4|>', '<|extra_0|>']],
  ['bailing2', ['<role>', '</role>', '<|role_end|>']],
  ['bailing', ['<role>', '</role>']],
  ['mistral-v7-tekken', ['[INST]', '[/INST]', '[SYSTEM_PROMPT]']],
  ['mistral-v3', ['[INST]', '[/INST]']],
  ['openchat', ['<|end_of_turn|>']],
  ['grok-2', ['<|separator|>']],
  ['minicpm', ['<用户>', '<AI>']],
  ['pangu-embedded', ['[unused9]', '[unused10]']],
  ['rwkv-world', [], ['rwkv6', 'rwkv7']],
  ['llama2', ['<s>', '</s>'], ['llama', 'mistral3']],
]

/** The name of the format that a vocabulary suggests. */
export function suggestedFormat(architecture: string, has: (token: string) => boolean): string | undefined {
  return kSuggestions.find(
    ([, tokens, architectures]) =>
      (!architectures || architectures.includes(architecture)) && tokens.every(has),
  )?.[0]
}
