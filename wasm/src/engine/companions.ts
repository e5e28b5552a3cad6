// The files beside a model: its projector, draft model and adapters. A file of another kind is refused by its name.
import { GgufError } from '../api/errors.js'
import type { FileKind } from '../api/file.js'
import type { OpenFile } from '../file/file.js'
import { printable } from '../file/opened.js'

/** The error that names the file and its kind; undefined: it is of that kind. */
export function kindError(
  file: OpenFile,
  expected: FileKind,
  code: 'invalid-argument' | 'unsupported',
): GgufError | undefined {
  const { kind, architecture } = file.summary()
  if (kind === expected) return undefined
  const { name } = file.parts[0]!.source
  const what = kind === 'model' && architecture ? `${kind} (${printable(architecture)})` : kind
  const message = name
    ? `The file ${printable(name)} is of the kind ${what}, not ${expected}.`
    : `The file is of the kind ${what}, not ${expected}.`
  return new GgufError(code, message)
}
