// Safari 17 cannot iterate a stream, and its bodies have no bytes(). TypeScript's DOM library has both: here they are given
// types that nothing can use. Read a stream by its reader, and a body by arrayBuffer().
interface ReadableStream<R = any> {
  [Symbol.asyncIterator](): never
}
interface Body {
  bytes(): 'not in Safari 17'
}
interface Blob {
  bytes(): 'not in Safari 17'
}
