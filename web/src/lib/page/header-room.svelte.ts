// On a phone, the page's header leaves its room to a panel that is scrolled down, and returns when the panel is scrolled up or the header gets the focus.
import { narrow } from './screen'

/** Pixels after which it leaves or returns. A panel grows by its height then, and what is at its end moves by as much. */
const kDown = 24
const kUp = 64
/** Time after the last move of a finger or a wheel for which scrolling is theirs, in ms. */
const kByHand = 1000
/** Pixels that a panel scrolls at least, so that it still does when it has more room. */
const kLeast = 150

export class HeaderRoom {
  isAway = $state(false)
  /** of each box: the farthest place since the header left or returned */
  private readonly places = new WeakMap<Element, number>()

  /** when a finger or a wheel last moved */
  private moved = -Infinity

  show() {
    this.isAway = false
  }

  /** A finger or a wheel moves. What scrolls otherwise, to a field for example, is about to be used and must not move. */
  move() {
    this.moved = performance.now()
  }

  /** A box within the page was scrolled. */
  scrolled(box: Element) {
    const { scrollTop: top, scrollHeight, clientHeight } = box
    const place = this.places.get(box) ?? 0
    // At less height, the page scrolls as a whole.
    const isOffered = narrow.current && innerHeight > 420 && box.tagName !== 'TEXTAREA'
    const isByHand = performance.now() - this.moved < kByHand
    if (!isOffered || top < 8 || (this.isAway && top < place - kUp)) this.isAway = false
    else if (!this.isAway && isByHand && top > place + kDown && scrollHeight - clientHeight > kLeast)
      this.isAway = true
    else {
      this.places.set(box, this.isAway ? Math.max(place, top) : Math.min(place, top))
      return
    }
    this.places.set(box, top)
  }
}
