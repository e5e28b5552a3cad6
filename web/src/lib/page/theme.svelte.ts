// The theme: light, dark, or the system's setting. The choice is stored in local storage.
import { MediaQuery } from 'svelte/reactivity'
import { storage } from './storage'

export type Theme = 'system' | 'light' | 'dark'
const order: readonly Theme[] = ['system', 'light', 'dark']

class ThemeChoice {
  value = $state<Theme>(order.find((theme) => theme === storage.get('theme')) ?? 'system')

  constructor() {
    this.apply()
  }

  next() {
    this.value = order[(order.indexOf(this.value) + 1) % order.length] ?? 'system'
    storage.set('theme', this.value)
    this.apply()
  }

  private apply() {
    if (this.value === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = this.value
  }
}

export const theme = new ThemeChoice()

const systemIsDark = new MediaQuery('(prefers-color-scheme: dark)')

/** Whether the page is dark now. */
export const isDark = () => (theme.value === 'system' ? systemIsDark.current : theme.value === 'dark')
