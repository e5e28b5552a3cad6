// ggufscope/element: importing it defines the custom element <gguf-viewer>, which shows a GGUF file in any page: the panels of the
// viewer that read a file, in a shadow root.
import type { GgufFile, OpenOptions, OpenProgress, Source } from './index.js'

/** A panel of the element. The lens is in the details of a tensor: panel="tensors" with its name as `item`. */
export type GgufPanel = 'overview' | 'metadata' | 'tensors' | 'graph' | 'findings'

/**
 * page: the colours that the page has at this place (its CSS property color-scheme); system: those of the operating system.
 */
export type GgufTheme = 'page' | 'system' | 'light' | 'dark'

/** The events of the element. They bubble, and leave shadow roots. */
export interface GgufViewerEventMap {
  /** A file is open. The element closes it when it shows another one, or is removed. */
  'gguf-open': CustomEvent<{ readonly file: GgufFile; readonly name: string }>
  /** A file could not be opened. The element says so, and lets the user try again. */
  'gguf-error': CustomEvent<{ readonly error: unknown }>
  'gguf-progress': CustomEvent<OpenProgress>
  /** The user turned to another panel, or selected something in it: a key, a tensor, or a picture of the graph. */
  'gguf-panel': CustomEvent<{ readonly panel: GgufPanel; readonly item: string | undefined }>
  /** The file was closed. */
  'gguf-close': CustomEvent<undefined>
}

export declare class GgufViewerElement extends HTMLElement {
  /**
   * Attribute `src`: the address of the file, absolute or relative to the page; the page of a file or of a repository on a
   * model hub; or a short form such as "hf:owner/name:Q4_K_M" or "ollama:name:tag". Of a repository, the default model is shown.
   */
  src: string
  /** Attribute `panel`: the panel that is shown. Any other text is the same as 'overview', the default. */
  panel: GgufPanel
  /** Attribute `item`: what is selected in the panel, a key or a tensor; null: nothing. */
  item: string | null
  /** Attribute `theme`. Default: 'page'. */
  theme: GgufTheme
  /**
   * Attribute `loading`. 'lazy', the default, waits until the element is almost in the visible part of the page; 'eager' does not.
   */
  loading: 'lazy' | 'eager'
  /** A file, its bytes, or another source, instead of `src`. undefined: the file is that of `src`. */
  source: Source | readonly Source[] | undefined
  /** Options for opening the file, e.g. `headers`. They apply to the next file. */
  options: Omit<OpenOptions, 'signal' | 'onProgress' | 'onKeys'>
  /** The open file; undefined before 'gguf-open'. The element closes it. */
  readonly file: GgufFile | undefined
  /** Opens the file again, e.g. after an error. */
  reload(): void

  addEventListener<Type extends keyof GgufViewerEventMap>(
    type: Type,
    listener: (this: GgufViewerElement, event: GgufViewerEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener<Type extends keyof HTMLElementEventMap>(
    type: Type,
    listener: (this: GgufViewerElement, event: HTMLElementEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
}

declare global {
  interface HTMLElementTagNameMap {
    'gguf-viewer': GgufViewerElement
  }
}
