// Written by scripts/make-known-layouts.ts.
import type { HeaderLayout } from './walk.js'

// prettier-ignore
export const kKnownLayouts: Readonly<Record<string, HeaderLayout>> = {
  '1dds-zdw1a7': [[0,828144],[828189,256000],[1084238,256000]], // baichuan
  'nju-1i06pvt': [[0,504591],[504640,122088]], // bert-bge
  '270g-jks2yx': [[0,1753835],[1753884,409600],[2163529,1805739]], // deepseek-llm
  '1e68-1kjocit': [[0,982233],[982282,260096],[1242423,1044601]], // falcon
  '12s1-1jds1z': [[0,758791],[758840,201028],[959913,806304]], // gpt-2
  '12ww-1pc9h8y': [[0,762287],[762336,201728],[964109,806647]], // mpt
  'oow-qjf0cs': [[0,466919],[466964,128000],[595013,128000]], // llama-spm
  'oqo-qjf0cs': [[0,468108],[468153,128256],[596458,128256]], // phi-3
  '11xc-11q684r': [[0,738071],[738120,196608],[934773,783795]], // starcoder
  '2qyo-we9waj': [[0,2099493],[2099542,513024],[2612611,2197941]], // llama-bpe.derived
}
