// VitePress's default theme with the viewer's colours and system fonts.
import DefaultTheme from 'vitepress/theme-without-fonts'
import './viewer.css'

export default DefaultTheme
