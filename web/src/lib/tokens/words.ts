// How a tokenizer works and what its tokens are for, in words. The terms that other programs use stand beside them.
import type { Tokenizer } from 'ggufscope'
import type { Plain } from '../../texts/text'

export const kindWords: Readonly<Record<Tokenizer['kind'], { term: string; how: Plain }>> = {
  bpe: {
    term: 'byte-level BPE',
    how: 'A text is cut at words, numbers and signs. In each part, frequent neighbours are joined to tokens.',
  },
  spm: { term: 'SentencePiece', how: 'Neighbours are joined to tokens, those with the best score first.' },
  wordpiece: {
    term: 'WordPiece',
    how: 'Each word is cut into the longest tokens with which it begins and continues.',
  },
  unigram: { term: 'Unigram', how: 'A text is cut into the tokens that are most probable together.' },
  rwkv: { term: 'RWKV World', how: 'At each place, the longest token that fits is taken.' },
  plamo2: { term: 'PLaMo 2', how: 'A text is cut into the tokens whose scores have the best sum.' },
}

export type Role = keyof Tokenizer['special']

export const roleWords: Readonly<Record<Role, Plain>> = {
  bos: 'start of a text',
  eos: 'end of a text',
  eot: 'end of a turn',
  eom: 'end of a message',
  unk: 'unknown',
  sep: 'between two texts',
  pad: 'filler',
  mask: 'a hidden word',
  fimPrefix: 'before a gap',
  fimSuffix: 'after a gap',
  fimMiddle: 'in a gap',
  fimPad: 'filler at a gap',
  fimRepository: 'a repository’s name',
  fimSeparator: 'between files',
}
