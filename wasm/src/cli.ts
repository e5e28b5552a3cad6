#!/usr/bin/env node
// The command `ggufscope`.
import { report } from './cli/failure.js'
import { main } from './cli/main.js'

// A reader such as head or less closes the pipe when it has enough. That is not an error.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0)
  console.error(`ggufscope: standard output cannot be written: ${message}`)
  process.exit(1)
})

// Node would print the line of minified code that threw.
process.on('uncaughtException', (error) => process.exit(report(error, process.argv.includes('--json'))))

process.exitCode = await main(process.argv.slice(2))
