// The default theme with the viewer's colours, and without a font to fetch.
import DefaultTheme from 'vitepress/theme-without-fonts'
import './viewer.css'

export default DefaultTheme
