// Explains to the user what an error means and what to do. There is one row for each code of GgufError.
import type { GgufErrorCode } from 'ggufscope'
import type { Plain } from '../../texts/text.ts'

export interface Advice {
  title: Plain
  todo: Plain
}

const damaged =
  'The file is damaged or was not written as GGUF demands. Download it again, or ask where it came from.'

export const advice: Record<GgufErrorCode, Advice> = {
  truncated: {
    title: 'The file ends too early',
    todo: 'It is cut off: an interrupted download or upload. Download it again and compare its size with the original.',
  },
  'bad-magic': {
    title: 'This is not a GGUF file',
    todo: 'A GGUF file begins with the four letters GGUF. Check that the address or the file is the right one.',
  },
  json: {
    title: 'This is a JSON file, not a model',
    todo: 'Settings and indexes of a model lie beside it as JSON. Choose the file that ends in .gguf.',
  },
  safetensors: {
    title: 'This is a safetensors file',
    todo: 'It holds a model in another format. Look for a GGUF version, or convert it with llama.cpp.',
  },
  archive: {
    title: 'This is an archive',
    todo: 'If it holds a GGUF file, unpack it and open that. A PyTorch checkpoint holds none: look for a GGUF version, or convert it with llama.cpp.',
  },
  pickle: {
    title: 'This is a PyTorch checkpoint',
    todo: 'Such files can hold programs: open only those you trust. Look for a GGUF version, or convert it with llama.cpp.',
  },
  'legacy-container': {
    title: 'This is an older format of the same family',
    todo: 'It was written before GGUF (GGML, GGMF or GGJT). Look for a newer version of the model.',
  },
  'bad-version': {
    title: 'This version of GGUF is not known',
    todo: 'Versions 1 to 3 can be read, of either byte order. The version field of this file says something else.',
  },
  'bad-value-type': { title: 'A value has a type that does not exist', todo: damaged },
  'bad-count': { title: 'A count cannot be true', todo: damaged },
  'bad-length': { title: 'A length cannot be true', todo: damaged },
  'nesting-too-deep': { title: 'Arrays are nested too deeply', todo: damaged },
  'bad-alignment': { title: 'The alignment is not valid', todo: damaged },
  'bad-shape': { title: 'A tensor has an impossible shape', todo: damaged },
  overflow: { title: 'A size is too large to be true', todo: damaged },
  'out-of-range': { title: 'Something lies outside the file', todo: damaged },
  'not-found': { title: 'It is not in this file', todo: 'Check the name.' },
  unsupported: {
    title: 'This cannot be read here',
    todo: 'The file uses something that this version does not support.',
  },
  'surplus-tensor': {
    title: 'The model has a tensor that is not computed here',
    todo: 'Its architecture may be newer than this version, or was changed. Another program may run it.',
  },
  'other-model': {
    title: 'The projector belongs to another model',
    todo: 'Choose the projector that was made for this model: it lies beside it.',
  },
  'invalid-argument': {
    title: 'This address cannot be used',
    todo: 'Give an address that begins with http:// or https://, or hf:owner/repository/file.gguf.',
  },
  'out-of-memory': {
    title: 'The header does not fit into memory',
    todo: 'Close other tabs and try again. If the header should be small, the file is damaged.',
  },
  duplicate: {
    title: 'There are two of that name',
    todo: 'Choose another name, or remove the one that has it.',
  },
  'bad-values': {
    title: 'The weights or the importance matrix contain unusable numbers',
    todo: 'Take another copy of the source, or a type that can hold such values: BF16 or F32.',
  },
  quota: {
    title: 'The browser has no room for this file',
    todo: 'Remove stored models, free space on the disk, or run the model without storing it.',
  },
  'bad-hash': {
    title: 'The download is damaged',
    todo: 'It was removed. Load it again.',
  },
  incomplete: {
    title: 'Not all of the header was read',
    todo: 'Open the file again.',
  },
  'preview-mismatch': {
    title: 'The file is not what its preview showed',
    todo: 'It was made to mislead, or is damaged. Do not trust it.',
  },
  'file-exists': {
    title: 'There is a file of that name already',
    todo: 'Choose another name, or allow that the file is replaced.',
  },
  network: {
    title: 'The server cannot be reached',
    todo: 'Check the address and the connection. If the address opens elsewhere, the server may not let other pages read it (CORS): download the file and drop it here.',
  },
  cors: {
    title: 'The server does not let this page read the file',
    todo: 'Its responses do not have the header Access-Control-Allow-Origin. Download the file and drop it here, or ask the server for that header.',
  },
  'connection-lost': {
    title: 'The connection was lost',
    todo: 'Several retries failed. Try again later.',
  },
  unauthorized: {
    title: 'The server wants a sign-in',
    todo: 'The file is private or gated. Download it with your account, and drop it here.',
  },
  forbidden: {
    title: 'The server refuses the file',
    todo: 'You may have to accept its terms first, or the link has expired. Or download it and drop it here.',
  },
  'no-such-file': {
    title: 'There is no such file',
    todo: 'It may have been moved or renamed, or belong to another revision.',
  },
  'rate-limited': {
    title: 'Too many requests',
    todo: 'The server asks for a pause. Wait a minute and try again.',
  },
  'bad-range': {
    title: 'The server has no such range',
    todo: 'The file may have become shorter. Try again.',
  },
  'no-ranges': {
    title: 'The server sends whole files only',
    todo: 'Reading a part would fetch far too much. Download the file and drop it here.',
  },
  'server-error': {
    title: 'The server has a problem',
    todo: 'The fault is the server’s. Try again in a few minutes.',
  },
  'http-error': {
    title: 'The server answers with an error',
    todo: 'Check the address, or try again later.',
  },
  html: {
    title: 'This address leads to a web page',
    todo: 'Give the address of the file itself: on model hubs that of the download button (“resolve” instead of “blob”).',
  },
  'lfs-pointer': {
    title: 'This is a pointer to the file',
    todo: 'The server keeps the real file in Git LFS. Use the download address (“resolve” or “media” instead of “raw”).',
  },
  'file-changed': {
    title: 'The file was replaced while it was read',
    todo: 'Open it again to see the new one.',
  },
  'missing-shard': {
    title: 'A part of this split model is missing',
    todo: 'Choose or drop all parts together, or open what is there.',
  },
  'chat-template': {
    title: 'The chat template does not work',
    todo: 'It is not valid, or it refuses these messages on purpose: its own message is shown with it.',
  },
  'chat-template-limit': {
    title: 'The chat template was stopped',
    todo: 'It took more steps or made more text than any normal template. It may be malicious.',
  },
  closed: { title: 'The file was closed', todo: 'Open it again.' },
  wasm: {
    title: 'The reader could not be loaded',
    todo: 'Load this page again. WebAssembly may be switched off, or blocked by an extension.',
  },
  'no-device': {
    title: 'No graphics card can run this model',
    todo: 'Run it on the CPU, or switch on WebGPU in the settings of the browser.',
  },
  'device-lost': {
    title: 'The graphics card failed',
    todo: 'Load the model again. If the card has little memory, close other pages that use it, or run the model on the CPU.',
  },
  interrupted: {
    title: 'Another tab ran the engine, and ended',
    todo: 'Do it again: the engine starts in this tab or another.',
  },
  crashed: {
    title: 'The engine crashed',
    todo: 'Load the model again. If memory was short, choose a shorter context or a smaller model.',
  },
}

/** For the hub of the page, whose settings have an access token. */
export const tokenAdvice: Advice = {
  title: 'The server wants a sign-in',
  todo: 'The file is private or gated. Give an access token below, or download it with your account and drop it here.',
}

/** A token was sent. */
export const refusedTokenAdvice: Advice = {
  title: 'The server does not accept the access token',
  todo: 'It may have expired, or lack the right to read this repository. Check it, or ask for access on the page of the repository.',
}

export const offlineAdvice: Advice = {
  title: 'This device is offline',
  todo: 'The file is opened as soon as there is a connection again. Kept models and files of this computer open without one.',
}

/** For a file of this computer, which has no address. */
export const savedPageAdvice: Advice = {
  title: 'This file is a web page, not a model',
  todo: 'The download saved a page of the site, perhaps its sign-in. Download the file again, with the download button.',
}

export const emptyFileAdvice: Advice = {
  title: 'The file is empty',
  todo: 'Its download or copy did not begin. Download it again.',
}

export const unloadedAdvice: Advice = {
  title: 'A part of this page could not be loaded',
  todo: 'Check the connection and try again. If that does not help, load the page again.',
}

export const absentRepositoryAdvice: Advice = {
  title: 'The hub has no such repository',
  todo: 'Check the owner and the name. It may have been renamed or removed, be private, or lack the revision of the address.',
}

/** A hub answers so for a repository that it does not have, too. */
export const hiddenRepositoryAdvice: Advice = {
  title: 'The server wants a sign-in',
  todo: 'Check the owner and the name. If the repository is private or gated, give an access token below.',
}

export const emptyRepositoryAdvice: Advice = {
  title: 'This repository has no GGUF files',
  todo: 'The original models are often in other formats. Search for a repository that has them as GGUF.',
}

/** For a server that is not that of the page, which may be reachable for others. */
export const foreignAdvice: Advice = {
  title: 'The server cannot be reached, or does not let this page read its files',
  todo: 'Check the address. If it opens elsewhere, the server does not let other pages read its files (CORS): download the file and drop it here.',
}

export const unknownAdvice: Advice = {
  title: 'Something went wrong here',
  todo: 'This is a fault of the viewer. Try again, and report it with the text below.',
}
