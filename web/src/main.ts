// The start of the viewer: the policy for workers, the language, the page, the offline store.
import { mount } from 'svelte'
import App from './App.svelte'
import { language } from './lib/language/language.svelte'
import { nextTask } from './lib/page/later'
import { workOffline } from './lib/page/offline.svelte'
import './app.css'

// Workers may only be loaded from this page's origin.
const { trustedTypes } = globalThis as unknown as {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL(url: string): string }): unknown }
}
trustedTypes?.createPolicy('default', {
  createScriptURL(url) {
    if (new URL(url, location.href).origin !== location.origin) throw new TypeError(`no script from ${url}`)
    return url
  },
})

// A link to a file shows this panel, unless it names another one: its code is fetched beside the file.
if (new URLSearchParams(location.search).has('url'))
  void nextTask()
    .then(() => import('./panels/Overview.svelte'))
    .catch(() => {})

const target = document.getElementById('app')
if (target)
  void language
    .start()
    .then(nextTask)
    .then(() => mount(App, { target }))
    .then(nextTask)
    // For the file that is chosen on the start page.
    .then(() => import('ggufscope'))
    .catch(() => {})
void workOffline()
