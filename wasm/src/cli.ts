#!/usr/bin/env node
// The command `ggufscope`.
import { main } from './cli/main.js'

// A reader such as head or less closes the pipe when it has enough. That is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await main(process.argv.slice(2))
