// What a file is that is no model in a format of this family: as its first bytes say, or else its name.
import { advice, type Advice } from './advice'

export interface Foreign extends Advice {
  /** a model in another format, of which a hub may have a GGUF version */
  readonly isModel?: boolean
}

interface Row extends Foreign {
  /** the beginning of the file, a character for each byte */
  readonly begins?: RegExp
  /** names of such files, whose bytes say nothing */
  readonly named?: RegExp
}

/** How much of the beginning is looked at. */
const headBytes = 4096

const chooseGguf = 'Choose the file that ends in .gguf.'
const findGguf = 'It holds a model in another format. Look for a GGUF version of the model.'

/* oxlint-disable no-control-regex -- signatures have such characters */
/** The first that matches counts. */
const rows: readonly Row[] = [
  {
    title: 'This file was not written as a whole',
    todo: 'It begins with zeros: its download or copy was interrupted. Download it again.',
    begins: /^\0{64}/,
  },
  {
    ...advice.pickle,
    isModel: true,
    begins:
      /^\x80[\x02-\x05][^]|^PK\x03\x04[^]{0,400}?(?:\/data\.pkl|\/\.?(?:format_version|byteorder)|\.data\/)/,
  },
  {
    title: 'This is an ONNX model',
    todo: findGguf,
    isModel: true,
    begins: /^\x08[\x01-\x20]\x12[\x01-\x40][\w. -]+/,
    named: /\.onnx$/i,
  },
  {
    title: 'This is a model of TensorFlow or Keras',
    todo: findGguf,
    isModel: true,
    begins: /^[^]{4}TFL3|^\x89HDF\r\n|^PK\x03\x04[^]{26}(?:metadata|config)\.json[^]{0,400}"keras/,
    named: /\.(?:tflite|keras|h5|pb)$/i,
  },
  {
    title: 'This is an array of NumPy, not a model',
    todo: chooseGguf,
    begins: /^\x93NUMPY|^PK\x03\x04[^]{26}[^\0]{1,80}\.npy/,
  },
  {
    title: 'This looks like an importance matrix, not a model',
    todo: 'Open the model that it belongs to. Convert takes the matrix to quantize it.',
    begins: /^[^]{2}\0\0[\x04-\x7f]\0\0\0(?:blk\.\d+\.|output|token_embd)[\w.]*\.weight/,
    named: /\bimatrix\b.*\.dat$|\.imatrix$/i,
  },
  {
    title: 'This is a drawing (SVG), not a model',
    todo: chooseGguf,
    begins:
      /^(?:\xef\xbb\xbf)?\s*(?:<svg[\s>]|<(?:\?xml|!--|!DOCTYPE svg)(?![^]*<(?:!doctype )?html)[^]*<svg[\s>])/i,
  },
  {
    title: 'This looks like an image, not a model',
    todo: 'Open a model that reads images. Run takes the image with a message.',
    begins:
      /^(?:\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}WEBP|BM[^]{4}\0{4}|\0\0\x01\0[\x01-\x40]\0|II\*\0|MM\0\*|[^]{4}ftyp(?:avi[fs]|hei[cx]|mif1))/,
    named: /\.(?:png|jpe?g|webp|gif|bmp|avif)$/i,
  },
  {
    title: 'This looks like a recording, not a model',
    todo: 'Open a speech model. Transcribe takes the recording.',
    begins:
      /^(?:RIFF[^]{4}WAVE|ID3[\x02-\x04]|\xff[\xf1-\xf3\xf9-\xfb]|OggS|fLaC|FORM[^]{4}AIF[FC]|[^]{4}ftypM4A)/,
    named: /\.(?:wav|mp3|ogg|flac|m4a|opus)$/i,
  },
  {
    title: 'This is a video, not a model',
    todo: chooseGguf,
    begins: /^(?:[^]{4}ftyp|\x1a\x45\xdf\xa3|RIFF[^]{4}AVI )/,
  },
  {
    title: 'This is a document, not a model',
    todo: chooseGguf,
    begins:
      /^(?:%PDF-|\{\\rtf|\xd0\xcf\x11\xe0|PK\x03\x04[^]{26}(?:\[Content_Types\]|_rels\/|word\/|mimetypeapplication\/))/,
  },
  {
    title: 'This is a program, not a model',
    todo: chooseGguf,
    begins: /^(?:\x7fELF|MZ[^]{58}[^]{2}\0\0|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe|\0asm|#!)/,
  },
  {
    title: 'This is an XML file, not a model',
    todo: chooseGguf,
    begins: /^(?:\xef\xbb\xbf)?\s*<\?xml\s(?![^]*<(?:!doctype )?html)/i,
  },
  // A page, whose advice depends on where it comes from, JSON, which has its own, and a Git LFS pointer are texts, too.
  {
    title: 'This is a text, not a model',
    todo: chooseGguf,
    begins: /^(?!(?:\xef\xbb\xbf)?\s*[<{[]|version https:)[\t\n\r\x20-\x7e\x80-\xff]{16,}$/,
  },
]
/* oxlint-enable no-control-regex */

/** Whether it is text in UTF-8. The end may be in the middle of a character. */
function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** What the first bytes are those of, or what the name says where they say nothing. */
export function foreignOf(bytes: Uint8Array, name: string): Foreign | undefined {
  // TextDecoder has no encoding that keeps the bytes from 80 to 9f as they are.
  const head = String.fromCharCode(...bytes.subarray(0, headBytes))
  const found = rows.find(({ begins }) => begins?.test(head))
  if (found && (found !== rows.at(-1) || isText(bytes))) return found
  return rows.find(({ named }) => named?.test(name))
}

/** The first bytes of a file of this computer or of an address. Empty: they cannot be read. */
export async function firstBytes(
  source: unknown,
  headers: Record<string, string> | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    if (source instanceof Blob) return new Uint8Array(await source.slice(0, headBytes).arrayBuffer())
    if (typeof source !== 'string') return new Uint8Array()
    const range = { Range: `bytes=0-${headBytes - 1}` }
    const response = await fetch(source, { headers: { ...headers, ...range }, signal })
    const reader = response.body?.getReader()
    // A server without ranges sends the whole file, of which the first part suffices.
    const { value } = (await reader?.read()) ?? {}
    await reader?.cancel()
    return value ?? new Uint8Array()
  } catch {
    return new Uint8Array()
  }
}
