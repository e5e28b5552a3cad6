// Playwright for the tests of the viewer: its browser, its limits, its second try.
import { defineConfig } from '@playwright/test'
import { kBrowser } from './browser.ts'

export default defineConfig({
  testDir: '.',
  outputDir: '../results',
  fullyParallel: true,
  workers: 2,
  // The last line counts what passed only at the second try (scripts/test.sh).
  retries: 1,
  timeout: 180_000,
  // Where many fail, the first ones say enough.
  maxFailures: 12,
  globalTimeout: 1_800_000,
  // Machines that run tests are often busy.
  expect: { timeout: 60_000 },
  use: {
    launchOptions: kBrowser,
    // Each test is a first visit, on which it would store the whole viewer. Tests of it allow it.
    serviceWorkers: 'block',
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  },
})
