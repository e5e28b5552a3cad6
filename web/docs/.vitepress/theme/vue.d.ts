// The type of components for the compiler, which does not read them.
declare module '*.vue' {
  import type { Component } from 'vue'
  const component: Component
  export default component
}
