// Checks of numbers that the engine keeps as 32-bit floats: what is too large or too small for them is refused.
import { number, type Check } from '../api/checks.js'

const kMaxFloat = 2 ** 127 * (2 - 2 ** -23)

export const float = (min = -kMaxFloat): Check => number(min, kMaxFloat)
/** A number above 0 whose reciprocal is a float, too. */
export const floatAbove0 = number(1 / kMaxFloat, kMaxFloat)
