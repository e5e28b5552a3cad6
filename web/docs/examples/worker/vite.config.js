// A worker that loads parts of the package later must be a module.
export default { worker: { format: 'es' } }
