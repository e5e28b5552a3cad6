// VitePress's default theme with the viewer's colours and system fonts, pictures, and an install line on the first page.
import { onContentUpdated, withBase, type Router, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h, onMounted } from 'vue'
import { openFolds } from './folds.js'
import { followMoved } from './moved.js'
import { showMore } from './more.js'
import Install from './Install.vue'
import LiveViewer from './LiveViewer.vue'
import Picture from './Picture.vue'
import { useOwnSamples } from './own-samples.js'
import RunnableSnippet from './snippets/RunnableSnippet.vue'
import './viewer.css'
import './home.css'
import './snippets/snippets.css'

/** The theme's first page, and that of missing addresses, have no landmark for their content, unlike its others. */
function markMain(): void {
  const content = document.querySelector('#VPContent')
  if (content?.querySelector('main')) content.removeAttribute('role')
  else content?.setAttribute('role', 'main')
}

/** The site's root shows the page of missing addresses, too. VitePress would take an address outside its folder for the first page. */
function keepMissing(router: Router): void {
  const next = router.onBeforeRouteChange
  router.onBeforeRouteChange = async (to) => {
    // Only of the address that the page was loaded with; links lead where they say.
    router.onBeforeRouteChange = next
    const isInside = new URL(to, 'http://localhost').pathname.startsWith(withBase('/'))
    return isInside ? await next?.(to) : false
  }
}

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, undefined, {
      'home-hero-actions-after': () => h(Install),
      'home-hero-image': () => h(Picture, { name: 'viewer' }),
    }),
  setup() {
    onMounted(markMain)
    onContentUpdated(() => {
      markMain()
      useOwnSamples()
      openFolds()
      followMoved()
      showMore()
    })
  },
  enhanceApp({ app, router }) {
    // Pages are made with addresses that lack the folder.
    if (!import.meta.env.SSR) keepMissing(router)
    app
      .component('LiveViewer', LiveViewer)
      .component('Picture', Picture)
      .component('RunnableSnippet', RunnableSnippet)
  },
}
export default theme
