// An extension's pages may only run scripts that are files of the extension.
export default { build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } } }
