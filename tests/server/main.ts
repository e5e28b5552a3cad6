// node tests/server/main.ts [--port N] [--delay MS] [--bandwidth BYTES_PER_S] [--isolated] [--no-cors] [--minutes N]
//   [PREFIX=FOLDER ...]: serves folders on the loopback interface for some minutes (60), or until it gets a signal.
import { parseArgs } from 'node:util'
import { startServer } from './server.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '0' },
    delay: { type: 'string', default: '0' },
    bandwidth: { type: 'string', default: 'Infinity' },
    isolated: { type: 'boolean', default: false },
    'no-cors': { type: 'boolean', default: false },
    minutes: { type: 'string', default: '60' },
  },
})

const server = await startServer({
  port: Number(values.port),
  delay: Number(values.delay),
  bandwidth: Number(values.bandwidth),
  isolated: values.isolated,
  cors: !values['no-cors'],
})
for (const argument of positionals) {
  const [prefix, folder] = argument.includes('=') ? argument.split('=', 2) : ['/', argument]
  server.mount(prefix!, folder!)
}
console.log(server.url)
setTimeout(() => process.exit(0), Number(values.minutes) * 60_000)
