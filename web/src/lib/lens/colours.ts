// A diverging colour map: two ends of the same lightness and chroma, and straight lines in CIELAB from both to a neutral
// middle (K. Moreland, "Diverging Color Maps for Scientific Visualization", 2009; P. Kovesi, "Good Colour Maps: How to
// Design Them", 2015). So the map is symmetric, and equal steps look equal. Blue and orange differ for all kinds of
// colour blindness.

export type Rgb = readonly [red: number, green: number, blue: number]
type Lab = readonly [lightness: number, a: number, b: number]

interface Ends {
  negative: Lab
  middle: Lab
  positive: Lab
  /** the colour of NaN and infinity */
  invalid: Rgb
}

const polar = (lightness: number, chroma: number, hue: number): Lab => [
  lightness,
  chroma * Math.cos((hue * Math.PI) / 180),
  chroma * Math.sin((hue * Math.PI) / 180),
]

export const ends: Record<'light' | 'dark', Ends> = {
  light: {
    negative: polar(42, 46, 276),
    middle: [94, 0, 0],
    positive: polar(42, 46, 66),
    invalid: [208, 0, 128],
  },
  dark: {
    negative: polar(74, 39, 268),
    middle: [16, 0, 0],
    positive: polar(74, 39, 70),
    invalid: [255, 64, 190],
  },
}

/** Converts CIELAB (D65) to sRGB, 0..255, not rounded. Values outside the gamut are clipped. */
function labToRgb([lightness, a, b]: Lab): Rgb {
  const fy = (lightness + 16) / 116
  const cube = (t: number) => (t > 6 / 29 ? t ** 3 : 3 * (6 / 29) ** 2 * (t - 4 / 29))
  const x = 0.95047 * cube(fy + a / 500)
  const y = cube(fy)
  const z = 1.08883 * cube(fy - b / 200)
  const gamma = (linear: number) => {
    const value = Math.max(0, Math.min(1, linear))
    return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055)
  }
  return [
    gamma(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
    gamma(-0.969266 * x + 1.8760108 * y + 0.041556 * z),
    gamma(0.0556434 * x - 0.2040259 * y + 1.0572252 * z),
  ]
}

/** The colour of a value in -1..1. */
export function colourOf(theme: 'light' | 'dark', t: number): Rgb {
  const { negative, middle, positive } = ends[theme]
  const end = t < 0 ? negative : positive
  const share = Math.min(1, Math.abs(t))
  return labToRgb([0, 1, 2].map((i) => middle[i]! + share * (end[i]! - middle[i]!)) as unknown as Lab)
}

const half = 255

/** The map as pixels in little-endian RGBA: 2 * 255 + 1 steps from -1 to 1, and one for NaN and infinity. */
function pixels(theme: 'light' | 'dark'): Uint32Array {
  const pixel = ([red, green, blue]: Rgb) =>
    ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0
  const table = Uint32Array.from({ length: 2 * half + 1 }, (_, i) => pixel(colourOf(theme, i / half - 1)))
  return Uint32Array.of(...table, pixel(ends[theme].invalid))
}

const tables: Partial<Record<'light' | 'dark', Uint32Array>> = {}

/** Makes one pixel for each value. Values of magnitude `reach` or larger get the full colour. */
export function paint(
  values: Float32Array,
  reach: number,
  theme: 'light' | 'dark',
): Uint32Array<ArrayBuffer> {
  const table = (tables[theme] ??= pixels(theme))
  const invalid = table.length - 1
  const factor = half / (reach || 1)
  const out = new Uint32Array(values.length)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    // Infinity is invalid too, because no weight has that value.
    if (!(value - value === 0)) {
      out[i] = table[invalid]!
      continue
    }
    const at = value * factor
    out[i] = table[half + Math.round(at > half ? half : at < -half ? -half : at)]!
  }
  return out
}
