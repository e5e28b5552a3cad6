// Options with which tests, benchmarks and screenshots start a browser: Debian's Chromium, or the one that CHROMIUM names.
import { existsSync } from 'node:fs'

const kDisabled = [
  // The popups of the address bar are pages, which every window would load.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'PreloadTopChromeWebUI',
  // Playwright's own, whose list this one replaces.
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'AimEnabled',
]

/** Without windows first: the process of the browser computes half as much. */
const kInstalled = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

export const kBrowser = {
  executablePath: process.env['CHROMIUM'] ?? kInstalled.find((path) => existsSync(path)) ?? 'chromium',
  args: [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `--disable-features=${kDisabled.join(',')}`,
    '--enable-precise-memory-info',
    '--js-flags=--expose-gc',
  ],
}

/** The same with WebGPU, by software. As gpu-toggles.ts, without clearing workgroup memory, which takes most of a compilation. */
export const kBrowserWithGpu = {
  ...kBrowser,
  args: [
    ...kBrowser.args.filter((flag) => flag !== '--disable-gpu'),
    '--enable-unsafe-webgpu',
    '--use-webgpu-adapter=swiftshader',
    '--enable-dawn-features=disable_workgroup_init',
  ],
  ignoreDefaultArgs: ['--disable-gpu'],
}

export const kHasBrowser = existsSync(kBrowser.executablePath)
