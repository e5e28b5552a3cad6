// What the builds define: see vite.config.ts and element.config.ts.
interface ImportMetaEnv {
  /** the address of the published documentation, in the element */
  readonly VITE_DOCS?: string
}
