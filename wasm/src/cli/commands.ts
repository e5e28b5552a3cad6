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
    usage: '<file-or-url> [--strict] [--data] [--json]',
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
    name: 'set',
    usage: '<file-or-url> [KEY=VALUE...] [--remove KEY] [--output FILE | --in-place] [--json]',
    summary: 'a copy with other keys: set, renamed, removed; tensor data is copied as it is',
    load: () => import('./set.js'),
  },
  {
    name: 'quantize',
    usage: '<file-or-url> <type> --output FILE [--imatrix FILE] [--json]',
    summary: "the tensors as one of llama.cpp's mixtures of types",
    load: () => import('./quantize.js'),
  },
  {
    name: 'convert',
    usage: '<file-or-url> [tensor...] --output FILE [--endian little|big] [--version 2|3] [--json]',
    summary: 'the file in another byte order or version, or tensors as .npy or .safetensors',
    load: () => import('./convert.js'),
  },
  {
    name: 'split',
    usage: '<file-or-url> [--max-tensors N] [--max-size 2G] [--output NAME] [--json]',
    summary: 'the model in several files',
    load: () => import('./split.js'),
  },
  {
    name: 'merge',
    usage: '<file-or-url> --output FILE [--json]',
    summary: 'the files of a split model as one: any of them is named',
    load: () => import('./merge.js'),
  },
  {
    name: 'run',
    usage: '<file-or-url> [text] [--chat] [--json]',
    summary: 'what the model says after a text, of standard input where none is given',
    load: () => import('./run.js'),
  },
]
