import react from '@vitejs/plugin-react'

// With these headers the engine may use several threads.
const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
export default { plugins: [react()], server: { headers }, preview: { headers } }
