// Builds the custom element <gguf-viewer> from the viewer's sources into the package: wasm/dist/element.js, which is small, and
// wasm/dist/element/ with what it loads later. The package's own modules are imported from there, not bundled again.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { build as bundle, type Plugin as BundlePlugin } from 'esbuild'
import { basename, join, relative } from 'node:path'
import { defineConfig, type Plugin } from 'vite'
import { kDocs } from './docs/.vitepress/site.ts'
import { thirdPartyNotices } from './notices.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'wasm/dist')

/** Modules that belong to the viewer's page: they read its address, its storage, and change its document. */
const ofPage =
  /\/web\/src\/(?:App\.svelte|main\.ts|lib\/(?:file\/(?:session|recent)|page\/(?:theme|offline|screen)|hub)\b.*)$/

/** The element's place in a page has another size than the window. */
const inFrame = (css: string): string =>
  css.replaceAll(/@media (?=\((?:max|min)-(?:width|height))/g, '@container ')

/**
 * The viewer's style sheet in a shadow root. Its variables, e.g. --accent, get their values from those of the page with the prefix
 * "gguf-", if there are any.
 */
const inShadow = (css: string): string =>
  inFrame(css)
    .replace(/:root \{[^}]*\}/, (rule) =>
      rule.replaceAll(/--([a-z\d-]+):\s*([^;]+);/g, '--$1: var(--gguf-$1, $2);'),
    )
    .replaceAll(/:root\b|\bbody\b|#app\b/g, '.gguf')
    // Without a theme of its own, the element has that of the page.
    .replace('color-scheme: light dark;', '')
    .concat(".gguf[data-theme='system'] { color-scheme: light dark; }")

const styles: Plugin = {
  name: 'element-styles',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/app.css?inline') ? { code: inShadow(code), map: null } : undefined),
}

/** Components bring their styles to the element's shadow roots instead of the document. */
const adopted: Plugin = {
  name: 'element-adopted-styles',
  transform(code, id) {
    if (!id.endsWith('.svelte') || !code.includes('$.append_styles(')) return undefined
    const adopt = JSON.stringify(join(import.meta.dirname, 'src/element/styles.ts'))
    // At the end, so that the map of the lines stays right.
    return {
      code: `${code.replace(/\$\.append_styles\(\$\$anchor, /, '$$$$adopt(')}\nimport { adopt as $$adopt } from ${adopt}\n`,
      map: null,
    }
  },
}

/** In a worker: of the package, only what reads tensors is loaded later, and it is part of the file. */
const inWorker: BundlePlugin = {
  name: 'package-in-worker',
  setup({ onResolve }) {
    onResolve({ filter: /^ggufscope$/ }, () => ({ path: join(dist, 'index.js') }))
    onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) =>
      kind === 'dynamic-import' && !/\btensors\/|\/quant\.js$/.test(path)
        ? { path: `../${relative(dist, join(resolveDir, path))}`, external: true }
        : undefined,
    )
  },
}

/**
 * Workers are one file each, without imports: bundlers copy such files as they are, and a browser may load them from another origin.
 * An import of "x.ts?worker&url" gives the address.
 */
const workers: Plugin = {
  name: 'element-workers',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id.endsWith('?worker&url') && importer
      ? `\0worker:${join(importer, '..', id.split('?')[0]!)}`
      : undefined,
  async load(id) {
    if (!id.startsWith('\0worker:')) return undefined
    const path = id.slice('\0worker:'.length)
    const name = `${relative(join(import.meta.dirname, 'src/lib'), path)
      .replace(/\.ts$/, '')
      .replaceAll('/', '-')}.js`
    await bundle({
      entryPoints: [path],
      outfile: join(dist, 'element', name),
      bundle: true,
      minify: true,
      sourcemap: true,
      format: 'esm',
      target: 'es2022',
      logLevel: 'error',
      plugins: [inWorker],
    })
    // In a text, so that Vite does not look for the file.
    return `export default new URL(/* @vite-ignore */ ${JSON.stringify(`./${name}`)}, import.meta.url).href`
  },
}

/** Addresses that this build leaves alone are those that the bundlers of applications follow. */
const followed: Plugin = {
  name: 'element-addresses',
  generateBundle(_, bundled) {
    for (const file of Object.values(bundled))
      if (file.type === 'chunk')
        file.code = file.code.replaceAll('/* @vite-ignore */', (comment) => ' '.repeat(comment.length))
  },
}

const check: Plugin = {
  name: 'element-modules',
  generateBundle(_, bundled) {
    const wrong = Object.values(bundled)
      .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      .filter((id) => ofPage.test(id))
    if (wrong.length > 0)
      throw new Error(`the element contains what belongs to the viewer's page: ${wrong.join(', ')}`)
  },
}

/** "Tensors.svelte" -> "element/tensors.js": the package's files have no hashes, because its version is in their address. */
const fileName = ({ name }: { name: string }): string =>
  `element/${basename(name)
    .replace(/\..*$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')}.js`

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  plugins: [
    styles,
    workers,
    svelte({
      configFile: false,
      emitCss: false,
      preprocess: { style: ({ content }) => ({ code: inFrame(content) }) },
      compilerOptions: { css: 'injected' },
    }),
    adopted,
    followed,
    check,
    thirdPartyNotices('Packages that the custom element contains').write,
  ],
  define: { 'import.meta.env.VITE_DOCS': JSON.stringify(kDocs) },
  build: {
    target: 'es2022',
    cssTarget: ['chrome125', 'firefox125', 'safari17.5'],
    outDir: dist,
    emptyOutDir: false,
    sourcemap: true,
    reportCompressedSize: false,
    lib: { entry: { element: join(import.meta.dirname, 'src/element/element.ts') }, formats: ['es'] },
    rollupOptions: {
      external: /^ggufscope/,
      output: {
        minify: true,
        entryFileNames: '[name].js',
        chunkFileNames: fileName,
        paths: (id) => `../${id === 'ggufscope' ? '' : `${id.slice('ggufscope/'.length)}/`}index.js`,
      },
    },
  },
})
