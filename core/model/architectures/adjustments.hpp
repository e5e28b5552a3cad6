// Adjustments that a row of the registry cannot express. Each function runs after its architecture's common keys are
// read.
#pragma once

#include "model/architectures/architecture.hpp"

namespace ggufscope {

/// Reads the limits of SwiGLU, if the file has them.
Adjustment read_clamps;
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
void minicpm_scales(Hparams& h);
void gemma_scale(Hparams& h, uint32_t n_layer_27b);
/// Leaves only the first MTP head of the layers.
Adjustment keep_mtp_head;
// Those of one architecture or family, which their names say.
Adjustment plain_windowed_rope, granite_swa, olmo2, one_base_where_windowed, mellum, nemotron_h, interleaved_sections,
    qwen3vl, qwen3tts, hunyuan, granite, granite_switch, nanbeige, lfm2, minicpm, gemma2, gemma4, gemma3n, llama4,
    mistral3, deepseek2, deepseek32, glm_dsa, deepseek4, dots3note, minimax_m3, mistral4, deci, grok, modern_bert,
    apertus, exaone4, smallthinker, delta_net, t5, t5_decoder, no_rope_factors, chameleon, cohere2moe, grovemoe,
    kimi_linear, kimi_k3, bailingmoe3, step35, minimax01, muse_glimmer, cogvlm, pockettts, eagle3, wavtokenizer, maple,
    maion_coder, spark2_5, hrm_text, k2_horizon, gemma_embedding2, glm5_next, hy_v4, qwen35, qwen4exp, clef,
    vllm_decision2, gemma4_assistant, dflash;

}  // namespace ggufscope
