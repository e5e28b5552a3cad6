import type { CommandRow } from './command.js'

/** One row for each command. Each has a file in this folder that exports `command`. */
export const kCommands: readonly CommandRow[] = [
  {
    name: 'info',
    summary: 'what the model is: summary, quantization mix, metadata; of several files one after another',
    load: () => import('./info.js'),
  },
  {
    name: 'tensors',
    summary: 'every tensor: type, shape, size, place',
    load: () => import('./tensors.js'),
  },
  {
    name: 'lint',
    summary: 'what is wrong with the file; status 1 if a strict loader would refuse it',
    load: () => import('./lint.js'),
  },
  {
    name: 'files',
    summary: 'the GGUF files of a repository on a model hub, grouped into models',
    load: async () => ({ command: (await import('./hub.js')).files }),
  },
  {
    name: 'search',
    summary: 'models with GGUF files on Hugging Face, those with most downloads first',
    load: async () => ({ command: (await import('./hub.js')).search }),
  },
  {
    name: 'tokenize',
    summary: 'token ids of a text, of standard input where none is given',
    load: () => import('./tokenize.js'),
  },
  {
    name: 'dequantize',
    summary: 'the values of a tensor, of whole rows by range',
    load: () => import('./dequantize.js'),
  },
  {
    name: 'stats',
    summary: 'statistics of tensors, and the error against another file; status 1 with NaN or infinities',
    load: () => import('./stats.js'),
  },
  {
    name: 'memory',
    summary: 'how much memory a model takes when it runs, and whether it fits; status 1 if it does not',
    load: () => import('./memory.js'),
  },
  {
    name: 'compare',
    summary: 'what two files differ in: keys, tensors, values; status 1 if they do',
    load: () => import('./compare.js'),
  },
  {
    name: 'diff',
    summary: 'the same as compare',
    load: () => import('./compare.js'),
  },
  {
    name: 'set',
    summary: 'a copy with other keys: set, renamed, removed; tensor data is copied as it is',
    load: () => import('./set.js'),
  },
  {
    name: 'quantize',
    summary: "the tensors as one of llama.cpp's mixtures of types",
    load: () => import('./quantize.js'),
  },
  {
    name: 'convert',
    summary: 'the file in another byte order or version, or tensors as .npy or .safetensors',
    load: () => import('./convert.js'),
  },
  {
    name: 'split',
    summary: 'the model in several files',
    load: () => import('./split.js'),
  },
  {
    name: 'merge',
    summary: 'the files of a split model as one: any of them is named',
    load: () => import('./merge.js'),
  },
  {
    name: 'run',
    summary: 'what the model says after a text, of standard input where none is given',
    load: () => import('./run.js'),
  },
  {
    name: 'transcribe',
    summary: 'what is said in a sound, through a Whisper model: text, subtitles or JSON',
    load: () => import('./transcribe.js'),
  },
  {
    name: 'serve',
    summary: "a server with OpenAI's addresses for a model, or an MCP server that looks into files",
    load: () => import('./serve.js'),
  },
  {
    name: 'completion',
    summary: 'a script that completes commands, options and files in a shell',
    load: () => import('./completion.js'),
  },
]
