// Stands in for the glue of an engine that the first npm start has not built yet (scripts/build-package.sh inserts its NAME):
// loads the glue from the server, which answers when it is built.
export default async (options) => {
  const { default: create } = await import(/* @vite-ignore */ new URL('NAME.js', location.href).href)
  return await create(options)
}
