// The table of commands.
import type { CommandRow } from './command.js'

/** One row for each command. Each has a file in this folder that exports `command`. */
export const kCommands: readonly CommandRow[] = [
  {
    name: 'info',
    summary: 'show the model: summary, quantization mix, metadata; for one or several files',
    load: () => import('./info.js'),
  },
  {
    name: 'tensors',
    summary: 'every tensor: type, shape, size, place',
    load: () => import('./tensors.js'),
  },
  {
    name: 'lint',
    summary: 'check the file; status 1 if a strict loader would refuse it',
    load: () => import('./lint.js'),
  },
  {
    name: 'audit',
    summary: 'check files before they are published; reports as text, Markdown, SARIF, CycloneDX',
    load: () => import('./audit.js'),
  },
  {
    name: 'dump',
    summary: 'list every key and tensor as gguf-dump does: text, Markdown or JSON',
    load: () => import('./dump.js'),
  },
  {
    name: 'hash',
    summary: 'hashes of files and tensors, like llama-gguf-hash; or compare them with a list',
    load: () => import('./hash.js'),
  },
  {
    name: 'files',
    summary: 'list the GGUF files of a repository on a model hub, grouped into models',
    load: async () => ({ command: (await import('./hub.js')).files }),
  },
  {
    name: 'search',
    summary: 'search models with GGUF files on Hugging Face, those with most downloads first',
    load: async () => ({ command: (await import('./hub.js')).search }),
  },
  {
    name: 'tokenize',
    summary: 'print the token ids of a text, by default of standard input',
    load: () => import('./tokenize.js'),
  },
  {
    name: 'dequantize',
    summary: 'print the values of a tensor, or of a range of its rows',
    load: () => import('./dequantize.js'),
  },
  {
    name: 'stats',
    summary:
      'show statistics of tensors, and the error against another file; status 1 with NaN or infinities',
    load: () => import('./stats.js'),
  },
  {
    name: 'memory',
    summary: 'estimate the memory of a running model, and whether it fits; status 1 if it does not',
    load: () => import('./memory.js'),
  },
  {
    name: 'compare',
    summary: 'compare keys, tensors and values of two files; status 1 if they differ',
    load: () => import('./compare.js'),
  },
  {
    name: 'diff',
    summary: 'the same as compare',
    load: () => import('./compare.js'),
  },
  {
    name: 'set',
    summary: 'set, rename or remove keys in a copy of the file; tensor data is copied unchanged',
    load: () => import('./set.js'),
  },
  {
    name: 'quantize',
    summary: "quantize the tensors to one of llama.cpp's mixtures of types",
    load: () => import('./quantize.js'),
  },
  {
    name: 'convert',
    summary: 'convert to another byte order or version, or tensors to .npy or .safetensors',
    load: () => import('./convert.js'),
  },
  {
    name: 'split',
    summary: 'split a model into several files',
    load: () => import('./split.js'),
  },
  {
    name: 'merge',
    summary: 'merge the files of a split model into one; name any of them',
    load: () => import('./merge.js'),
  },
  {
    name: 'merge-lora',
    summary: 'a copy of the model with LoRA adapters merged into its weights',
    load: () => import('./merge-lora.js'),
  },
  {
    name: 'run',
    summary: 'run the model: continue a text, by default standard input',
    load: () => import('./run.js'),
  },
  {
    name: 'decide',
    summary: 'answer a question with the probabilities of its options, by a decision model',
    load: () => import('./decide.js'),
  },
  {
    name: 'trace',
    summary: "look inside the model while it reads a text: probabilities, layers' tendencies, attention",
    load: () => import('./trace.js'),
  },
  {
    name: 'speak',
    summary: 'speak a text with a speech model and its projector, as a WAV file',
    load: () => import('./speak.js'),
  },
  {
    name: 'transcribe',
    summary: 'transcribe speech with a Whisper model to text, subtitles or JSON',
    load: () => import('./transcribe.js'),
  },
  {
    name: 'serve',
    summary: "serve a model over HTTP with OpenAI's API, or files over MCP",
    load: () => import('./serve.js'),
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands, options and files in a shell',
    load: () => import('./completion.js'),
  },
]
