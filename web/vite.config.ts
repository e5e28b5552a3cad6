import { svelte } from '@sveltejs/vite-plugin-svelte'
import { join } from 'node:path'
import { defineConfig } from 'vite'
import { serviceWorker } from './service-worker.ts'

const root = join(import.meta.dirname, '..')

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    svelte({ configFile: false }),
    serviceWorker(),
    {
      // The development server puts styles into the page, which its content policy forbids.
      name: 'development-styles',
      apply: 'serve',
      transformIndexHtml: (html) => html.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'"),
    },
  ],
  resolve: {
    alias: [
      { find: /^ggufscope$/, replacement: join(root, 'wasm/dist/index.js') },
      { find: /^ggufscope\/engine$/, replacement: join(root, 'wasm/dist/engine/index.js') },
    ],
  },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    cssTarget: ['chrome125', 'firefox125', 'safari17.5'],
    // Everything is a file of its own: the page's content policy forbids data: addresses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    fs: { allow: [root] },
    headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
  },
})
