// The package finds its WebAssembly files where it was installed, so servers do not bundle it.
export default { serverExternalPackages: ['ggufscope'] }
