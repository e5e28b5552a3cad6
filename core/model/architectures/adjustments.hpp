// Adjustments that a row of the registry cannot express. Each function runs after its architecture's common keys are
// read.
#pragma once

#include "model/hparams.hpp"

namespace ggufscope {

/// Reads the limits of SwiGLU, if the file has them.
void read_clamps(Hparams& h, Keys& keys);
/// Reads the soft cap of logits; cap: the default. 0: none.
void read_logit_cap(Hparams& h, Keys& keys, float cap);
/// rope.scaling.yarn_log_multiplier, or 0 if absent.
float yarn_multiplier(Keys& keys);
/// Latent attention: YaRN's magnitude is applied to the scale of the scores instead of the rotation. own_magnitude: the
/// multiplier also applies to the rotation.
void latent_yarn(Hparams& h, Keys& keys, float log_multiplier, bool own_magnitude);
/// Sets layers without key heads to this kind.
void set_mixers(Hparams& h, MixerKind recurrent);
void no_rope_every_fourth(Hparams& h);
void rope_in_windowed_only(Hparams& h);
void plain_windowed_rope(Hparams& h, Keys&);
void granite_swa(Hparams& h, Keys& keys);
void olmo2(Hparams& h, Keys& keys);
void one_base_where_windowed(Hparams& h, Keys&);
void mellum(Hparams& h, Keys& keys);
void nemotron_h(Hparams& h, Keys&);
void interleaved_sections(Hparams& h, Keys&);
void qwen3vl(Hparams& h, Keys& keys);
void qwen3tts(Hparams& h, Keys& keys);
void hunyuan(Hparams& h, Keys& keys);
void granite(Hparams& h, Keys& keys);
void granite_switch(Hparams& h, Keys& keys);
void nanbeige(Hparams& h, Keys& keys);
void minicpm_scales(Hparams& h);
void lfm2(Hparams& h, Keys& keys);
void minicpm(Hparams& h, Keys& keys);
void gemma_scale(Hparams& h, uint32_t n_layer_27b);
void gemma2(Hparams& h, Keys& keys);
void gemma4(Hparams& h, Keys& keys);
void gemma3n(Hparams& h, Keys& keys);
void llama4(Hparams& h, Keys&);
void mistral3(Hparams& h, Keys& keys);
void deepseek2(Hparams& h, Keys& keys);
void deepseek32(Hparams& h, Keys& keys);
void glm_dsa(Hparams& h, Keys& keys);
void deepseek4(Hparams& h, Keys& keys);
void dots3note(Hparams& h, Keys& keys);
void minimax_m3(Hparams& h, Keys& keys);
void mistral4(Hparams& h, Keys& keys);
void deci(Hparams& h, Keys&);
void grok(Hparams& h, Keys& keys);
void modern_bert(Hparams& h, Keys& keys);
void apertus(Hparams& h, Keys& keys);
void exaone4(Hparams& h, Keys&);
void smallthinker(Hparams& h, Keys&);
void delta_net(Hparams& h, Keys& keys);
void t5(Hparams& h, Keys& keys);
void t5_decoder(Hparams& h, Keys& keys);
void no_rope_factors(Hparams& h, Keys&);
void chameleon(Hparams& h, Keys& keys);
void cohere2moe(Hparams& h, Keys& keys);
void grovemoe(Hparams& h, Keys& keys);
void kimi_linear(Hparams& h, Keys& keys);
void kimi_k3(Hparams& h, Keys& keys);
void bailingmoe3(Hparams& h, Keys& keys);
void step35(Hparams& h, Keys& keys);
void minimax01(Hparams& h, Keys& keys);
void muse_glimmer(Hparams& h, Keys& keys);
void cogvlm(Hparams& h, Keys&);
void pockettts(Hparams& h, Keys&);
void eagle3(Hparams& h, Keys& keys);
/// Leaves only the first MTP head of the layers.
void keep_mtp_head(Hparams& h, Keys& keys);
void wavtokenizer(Hparams& h, Keys& keys);
void maple(Hparams& h, Keys& keys);
void maion_coder(Hparams& h, Keys& keys);
void spark2_5(Hparams& h, Keys& keys);
void hrm_text(Hparams& h, Keys& keys);
void k2_horizon(Hparams& h, Keys& keys);
void gemma_embedding2(Hparams& h, Keys& keys);
void glm5_next(Hparams& h, Keys& keys);
void hy_v4(Hparams& h, Keys& keys);
void qwen35(Hparams& h, Keys& keys);
void qwen4exp(Hparams& h, Keys& keys);
void clef(Hparams& h, Keys& keys);
void vllm_decision2(Hparams& h, Keys& keys);

}  // namespace ggufscope
