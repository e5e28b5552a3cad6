// How the viewer is built: samples, early requests, notices, service worker.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vite'
import { earlyRequests } from './early-requests.ts'
import { thirdPartyNotices } from './notices.ts'
import { serviceWorker } from './service-worker.ts'
import { kRecording, kSample, kSpeechSample, kVoiceSample } from './src/lib/file/samples.ts'

const root = join(import.meta.dirname, '..')

// The built-in samples: the models that scripts/sample trains, and a recording.
// The documentation's snippets name the models by the short names.
const samples = [
  ['stories.gguf', kSample],
  ['stories.gguf', 'sample.gguf'],
  ['commands.gguf', kSpeechSample],
  ['commands.gguf', 'speech.gguf'],
  ['voice.gguf', kVoiceSample],
  ['voice.gguf', 'voice.gguf'],
  ['commands.wav', kRecording],
] as const
for (const [fixture, name] of samples)
  cpSync(join(root, 'tests/fixtures', fixture), join(import.meta.dirname, 'public', name), {
    preserveTimestamps: true,
  })

const notices = thirdPartyNotices(readFileSync(join(root, 'wasm/THIRD_PARTY_NOTICES.txt'), 'utf8'))

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    svelte({ configFile: false }),
    earlyRequests(),
    serviceWorker(),
    notices.write,
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
  worker: { format: 'es', plugins: () => [notices.collect] },
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
