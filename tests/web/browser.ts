// Options with which tests and screenshots start a browser: Debian's Chromium, or the one that CHROMIUM names.
import { existsSync } from 'node:fs'

export const kBrowser = {
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--enable-precise-memory-info',
    '--js-flags=--expose-gc',
  ],
}

export const kHasBrowser = existsSync(kBrowser.executablePath)
