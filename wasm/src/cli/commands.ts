import type { CommandRow } from './command.js'

/** One row a command, one file beside this one that exports `command`. */
export const kCommands: readonly CommandRow[] = [
  {
    name: 'info',
    usage: '<file-or-url> [--json]',
    summary: 'what the model is: summary, quantization mix, metadata',
    load: () => import('./info.js'),
  },
  {
    name: 'tensors',
    usage: '<file-or-url> [--json]',
    summary: 'every tensor: type, shape, size, place',
    load: () => import('./tensors.js'),
  },
  {
    name: 'lint',
    usage: '<file-or-url> [--json]',
    summary: 'what is wrong with the file; status 1 if a strict loader would refuse it',
    load: () => import('./lint.js'),
  },
  {
    name: 'tokenize',
    usage: '<file-or-url> [text] [--json]',
    summary: 'token ids of a text, of standard input where none is given',
    load: () => import('./tokenize.js'),
  },
  {
    name: 'dequantize',
    usage: '<file-or-url> <tensor> [--rows A:B] [--output FILE] [--json]',
    summary: 'the values of a tensor, of whole rows by range',
    load: () => import('./dequantize.js'),
  },
  {
    name: 'stats',
    usage: '<file-or-url> [tensor...] [--rows A:B] [--against FILE] [--json]',
    summary: 'statistics of tensors, and the error against another file; status 1 with NaN or infinities',
    load: () => import('./stats.js'),
  },
  {
    name: 'run',
    usage: '<file-or-url> [text] [--chat] [--json]',
    summary: 'what the model says after a text, of standard input where none is given',
    load: () => import('./run.js'),
  },
]
