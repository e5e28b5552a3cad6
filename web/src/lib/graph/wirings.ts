// How models connect their tensors: a row for each part of a model, in the order of the data. A part whose tensors have
// no row is listed without arrows.
import type { Plain } from '../../texts/text.ts'

export interface Wiring {
  /** what its blocks' names begin with; absent: tensors outside the blocks */
  blocks?: string
  /** the blocks that it stands before or after: it is drawn if they are */
  of?: string
  title?: Plain
  /** "a b > c": a and b lead to c. Names with a star are operations. Absent: the flow of llama.cpp's text models. */
  flow?: string
  /** Tensors outside the blocks that it has to name, because the flow is another one with more of them. */
  scope?: RegExp
}

// The blocks of llama.cpp's encoders of pictures and sound.
const vision = `
  *in > ln1 > attn_q attn_k attn_v attn_qkv
  attn_q > attn_q_norm > *attention
  attn_k > attn_k_norm > *attention
  attn_v attn_qkv > *attention > attn_out > ls1 > *add1
  *in > *add1 > ln2 > ffn_gate ffn_up > *act > ffn_down > ls2 > *add2
  *add1 > *add2 > *out
`
const listens = `
  *in > attn_ln > attn.query attn.key attn.value > *attention > attn.out > *add1
  *in > *add1 > *addcross > mlp_ln > mlp.0 > *act > mlp.2 > *add2
  *addcross > *add2 > *out
`
const speaks = `
  *add1 > cross_attn_ln > cross_attn.query > *cross > cross_attn.out > *addcross
  *encoder > cross_attn.key cross_attn.value > *cross
`
// Each vector time_mix mixes a token's values with those of the token before it.
const rwkvAll = `
  *in > ln0 > ln1
  ln0 > *add1
  att.output > *add1 > ln2
  *add1 > *add2 > *out
`
const rwkvChannels = `
  ln2 > ffn.time_mix_k > ffn.key > ffn.value > *multiply2 > *add2
  ln2 > ffn.time_mix_r > ffn.receptance > *multiply2
`
const rwkv4 = `
  ln1 > att.time_mix_k > att.key > *wkv > *multiply1 > att.output
  ln1 > att.time_mix_v > att.value > *wkv
  att.time_first att.time_decay > *wkv
  ln1 > att.time_mix_r > att.receptance > *multiply1
`
const rwkv5 = `
  ln1 > att.time_mix_r > att.receptance > *wkv
  ln1 > att.time_mix_k > att.key > *wkv
  ln1 > att.time_mix_v > att.value > *wkv > att.ln_x > *multiply1 > att.output
  att.time_first att.time_faaaa att.time_decay > *wkv
  ln1 > att.time_mix_g > att.gate > *multiply1
`
const rwkv7 = `
  ln1 > att.x_rwkvag > att.receptance att.key att.value att.w1 att.a1 att.g1 att.v1
  att.receptance > *wkv > att.ln_x > *addbonus > *multiply1 > att.output
  att.w1 > att.w2 > *adddecay > *wkv
  att.w0 > *adddecay
  att.a1 > att.a2 > *addrate > *wkv
  att.a0 > *addrate > att.k_a
  att.key > att.k_k > *wkv
  att.key > att.k_a > *wkv
  att.v1 > att.v2 > *addshare > *addvalue
  att.v0 > *addshare
  att.value > *addvalue > *wkv
  att.receptance att.k_a *addvalue > att.r_k > *addbonus
  att.g1 > att.g2 > *multiply1
  ln2 > ffn.x_k > ffn.key > ffn.value > *add2
`

/** llama.cpp's names of the steps of RWKV, by the original ones. */
const rwkvNames: readonly (readonly [RegExp, string])[] = [
  [/ln1/g, 'attn_norm'],
  [/ln2/g, 'attn_norm_2'],
  [/ln0 > |ln0/g, ''],
  [/att\.x_rwkvag/g, 'time_mix_lerp_fused'],
  [/att\.ln_x/g, 'time_mix_ln'],
  [/att\./g, 'time_mix_'],
  [/ffn\.x_k/g, 'channel_mix_lerp_k'],
  [/ffn\./g, 'channel_mix_'],
]
const renamed = (flow: string) => rwkvNames.reduce((text, [from, to]) => text.replace(from, to), flow)

const rwkv6 = `
  *in > attn_norm > time_mix_lerp_x > time_mix_w1 > time_mix_w2
  time_mix_w2 attn_norm > time_mix_lerp_fused
  time_mix_lerp_fused > time_mix_receptance time_mix_key time_mix_value time_mix_gate time_mix_decay_w1
  time_mix_w2 attn_norm > time_mix_lerp_r > time_mix_receptance
  time_mix_w2 attn_norm > time_mix_lerp_k > time_mix_key
  time_mix_w2 attn_norm > time_mix_lerp_v > time_mix_value
  time_mix_w2 attn_norm > time_mix_lerp_g > time_mix_gate
  time_mix_w2 attn_norm > time_mix_lerp_w > time_mix_decay_w1
  time_mix_decay_w1 > time_mix_decay_w2 > *adddecay > *wkv
  time_mix_decay > *adddecay
  time_mix_receptance time_mix_key time_mix_value time_mix_first > *wkv > time_mix_ln > *multiply1
  time_mix_gate > *multiply1 > time_mix_output > *add1
  *in > *add1 > attn_norm_2 > channel_mix_lerp_k > channel_mix_key > channel_mix_value > *multiply2 > *add2
  attn_norm_2 > channel_mix_lerp_r > channel_mix_receptance > *multiply2
  *add1 > *add2 > *out
`

const before = 'Before the blocks'
const after = 'After the blocks'

export const wirings: readonly Wiring[] = [
  {
    of: 'v.blk',
    title: before,
    scope: /^v\.(?!blk\.|post_ln)/,
    flow: `
      v.patch_embd v.patch_embd.weight.1 > *addframes > *class > *addposition > v.pre_ln
      v.class_embd > *class
      v.position_embd > *addposition`,
  },
  { blocks: 'v.blk', flow: vision },
  { of: 'v.blk', title: after, flow: 'v.post_ln > *out' },
  {
    of: 'a.blk',
    title: before,
    scope: /^a\.(?!blk\.|post_ln)/,
    flow: `
      a.conv1d.1 > *act1 > a.conv1d.2 > *act2 > *addposition
      a.position_embd > *addposition`,
  },
  { blocks: 'a.blk', flow: vision },
  { of: 'a.blk', title: after, flow: 'a.post_ln > *out' },
  { of: 'v.blk', title: 'Projector', scope: /^mm\.(?!a\.)/, flow: 'mm.0 > *act > mm.2' },
  { of: 'v.blk', title: 'Projector', scope: /^mm\.(?!a\.)/, flow: 'mm.1 > *act > mm.2' },
  { of: 'v.blk', title: 'Projector', scope: /^mm\.(?!a\.)/, flow: 'mm.soft_emb_norm > mm.input_projection' },
  { of: 'v.blk', title: 'Projector', scope: /^mm\.(?!a\.)/, flow: 'mm.model.fc > *out' },
  {
    of: 'v.blk',
    title: 'Projector',
    scope: /^mm\.(?!a\.)/,
    flow: 'mm.model.mlp.0 > mm.model.mlp.1 > *act > mm.model.mlp.3',
  },
  {
    of: 'encoder.blocks',
    title: 'Before the encoder',
    scope: /^encoder\.(?!blocks\.|ln_post)/,
    flow: `
      encoder.conv1 > *act1 > encoder.conv2 > *act2 > *addposition
      encoder.positional_embedding > *addposition`,
  },
  { blocks: 'encoder.blocks', flow: listens },
  { of: 'encoder.blocks', title: 'After the encoder', flow: 'encoder.ln_post > *out' },
  {
    of: 'decoder.blocks',
    title: 'Before the decoder',
    scope: /^decoder\.(?!blocks\.|ln\.)/,
    flow: 'decoder.token_embedding decoder.positional_embedding > *addposition',
  },
  { blocks: 'decoder.blocks', flow: listens + speaks },
  { of: 'decoder.blocks', title: 'After the decoder', flow: 'decoder.ln > *out' },
  {
    of: '(enc\\.|dec\\.)?blk',
    title: before,
    flow: 'token_embd token_types position_embd > *addposition > token_embd_norm',
  },
  { of: 'blocks', title: before, flow: 'emb > *out' },
  ...[rwkv4 + rwkvChannels, rwkv5 + rwkvChannels, rwkv7].map((flow) => ({
    blocks: 'blocks',
    flow: rwkvAll + flow,
  })),
  { of: 'blocks', title: after, flow: 'ln_out > head' },
  { blocks: 'blk', flow: rwkv6 },
  {
    blocks: 'blk',
    flow: renamed(`*in > ln1\n *in > *add1\n att.output > *add1 > ln2\n *add1 > *add2 > *out ${rwkv7}`),
  },
  { blocks: 'enc.blk' },
  { of: 'enc.blk', title: after, flow: 'enc.output_norm > *out' },
  { blocks: 'blk' },
  { blocks: 'dec.blk' },
  {
    of: '(dec\\.)?blk',
    title: after,
    flow: `
      output_norm dec.output_norm > output
      output_norm > cls > cls.norm > cls.output
      output_norm > dense_2 > dense_3`,
  },
]
