// VitePress's default theme with the viewer's colours and system fonts, pictures, and an install line on the first page.
import { onContentUpdated, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { openFolds } from './folds.js'
import Install from './Install.vue'
import Picture from './Picture.vue'
import { useOwnSamples } from './own-samples.js'
import RunnableSnippet from './snippets/RunnableSnippet.vue'
import './viewer.css'
import './home.css'
import './snippets/snippets.css'

/** The theme's first page has no landmark for its content, unlike its others. */
function markMain(): void {
  const content = document.querySelector('#VPContent')
  if (content?.classList.contains('is-home')) content.setAttribute('role', 'main')
  else content?.removeAttribute('role')
}

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, undefined, { 'home-hero-actions-after': () => h(Install) }),
  setup: () =>
    onContentUpdated(() => {
      markMain()
      useOwnSamples()
      openFolds()
    }),
  enhanceApp: ({ app }) => app.component('Picture', Picture).component('RunnableSnippet', RunnableSnippet),
}
export default theme
