#!/usr/bin/env node
// The command `ggufscope`.
import { main } from './cli/main.js'

// A reader such as head or less closes the pipe when it has enough. That is not an error.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0)
  console.error(`ggufscope: standard output cannot be written: ${message}`)
  process.exit(1)
})

process.exitCode = await main(process.argv.slice(2))
