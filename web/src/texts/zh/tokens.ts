// The panel Tokenizer: how texts are cut into tokens, and what some tokens are for.
export const tokens = {
  'a hidden word': '被遮住的词',
  'a repository’s name': '仓库名',
  'A text is cut at words, numbers and signs. In each part, frequent neighbours are joined to tokens.':
    '文本先按单词、数字和符号切开，再在每一段中把常见的相邻部分合并成 token。',
  'A text is cut into the tokens that are most probable together.': '文本切成总概率最大的一组 token。',
  'A text is cut into the tokens whose scores have the best sum.': '文本切成得分总和最高的一组 token。',
  'after a gap': '空缺之后',
  'At each place, the longest token that fits is taken.': '在每个位置取能匹配的最长 token。',
  'before a gap': '空缺之前',
  'between files': '文件之间',
  'between two texts': '两段文本之间',
  'Cuts texts like': '切分规则同',
  'Each word is cut into the longest tokens with which it begins and continues.':
    '每个单词从头开始，依次切成最长的 token。',
  'end of a message': '消息结束',
  'end of a text': '文本结束',
  'end of a turn': '一轮发言结束',
  filler: '填充',
  'filler at a gap': '空缺处的填充',
  'in a gap': '空缺之中',
  Method: '方法',
  'Neighbours are joined to tokens, those with the best score first.':
    '相邻部分合并成 token，得分最高的先合并。',
  'start of a text': '文本开始',
  'The model knows {n} token.|The model knows {n} tokens.': '模型有 {n} 个 token。',
  unknown: '未知',
  'Take another file': '换一个文件',
  '{text} in {n} token|{text} in {n} tokens': '{text}：{n} 个 token',
  'There are more tokens than characters: a character that the vocabulary lacks becomes several tokens, of its bytes.':
    'token 比字符多：词表中没有的字符按其字节拆成多个 token。',
  'The template ignores the tools.': '模板忽略工具。',
  'This file has no chat template: Run continues texts with it, and answers no messages. Edit can add a template.':
    '此文件没有聊天模板：“运行”用它续写文本，不回答消息。“编辑”可以添加模板。',
  'There is no panel “{name}”. This is {panel}.': '没有名为“{name}”的面板。这是“{panel}”面板。',
  '{panel} is not for this file: it has nothing that could be shown there.':
    '{panel}不适用于此文件：没有可以在那里显示的内容。',
}
