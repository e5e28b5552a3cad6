import { svelte } from '@sveltejs/vite-plugin-svelte'

// With these headers the engine may use several threads.
const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
export default { plugins: [svelte()], server: { headers }, preview: { headers } }
