// Reads the headers of containers from before GGUF.
import type { LegacyReader } from '../edit.js'
import type { AssetOptions } from '../api/assets.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import { Header } from './header.js'
import type { InspectModule } from '../inspect.js'
import { editModule } from '../runtime/module.js'
import type { Container } from '../api/file.js'
import type { ByteSource } from '../api/source.js'

// The first window is large enough for a usual vocabulary. Data is between the tensor headers: small tensors are
// read, large ones skipped.
const kFirstWindow = 1 << 19
const kWindow = 1 << 16
const kHop = 1 << 9

/** Reads the header of a container from before GGUF, without its tensor data. */
export async function readLegacy(
  source: ByteSource,
  module: InspectModule,
  signal: AbortSignal | undefined,
  hosting: AssetOptions | undefined,
): Promise<Header> {
  const { size } = source
  if (size === undefined) {
    throw new GgufError(
      'unsupported',
      'This is a model container from before GGUF, which ends where the file ends, and the size of the file is not known.',
    )
  }
  const edit = await editModule(hosting)
  const reader = new edit.LegacyReader()
  try {
    let loaded = 0
    let wanted = kFirstWindow
    for (let needed = 1; needed > 0;) {
      signal?.throwIfAborted()
      const from = reader.position()
      const length = Math.min(Math.max(wanted, needed), size - from)
      const window = await source.read(from, length, { signal })
      signal?.throwIfAborted()
      loaded += length
      const pointer = reader.reserve(window.length) >>> 0
      edit.HEAPU8.set(window, pointer)
      needed = reader.advance(size)
      if (needed < 0) throw failureOf(reader)
      wanted = reader.position() - from - length > kWindow ? kHop : kWindow
    }
    const [pointer, length] = reader.header()
    const bytes = edit.HEAPU8.slice(pointer >>> 0, (pointer >>> 0) + length)
    const header = new Header(module, {
      container: reader.container() as Container,
      version: reader.version(),
      bytesRead: loaded,
    })
    header.append(bytes, undefined)
    return header
  } finally {
    reader.delete()
  }
}

function failureOf(reader: LegacyReader): GgufError {
  const { code, message, offset } = reader.failure()
  return new GgufError(code as GgufErrorCode, message, { offset })
}
