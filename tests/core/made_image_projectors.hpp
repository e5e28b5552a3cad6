// Tiny image projectors with generated weights.
#pragma once

#include "made_encoder.hpp"

namespace ggufscope::test {

inline const std::vector<ImageSize> kSizes{{52, 28}, {9, 30}};

inline MadeProjector made_kimivl() {
  MadeModel m = made_vit("kimivl", 16, 4, 16);
  m.integers["vision.projector.scale_factor"] = 2;
  add_kimi_projector(m);
  return {"kimivl", m, 1e-3, kSizes};
}

inline MadeProjector made_kimik25() {
  MadeModel m = made_vit("kimik25", 16, 4, 0);
  m.tensors["v.position_embd.weight"] = {32, 5, 3};
  m.integers["vision.projector.scale_factor"] = 2;
  m.booleans["use_gelu"] = true;
  bound_pixels(m, 500, 1500);
  add_kimi_projector(m);
  return {"kimik25", m, 5e-4, {{70, 34}, {9, 20}}};
}

inline MadeProjector made_llama4_projector() {
  MadeModel m = made_vit("llama4", 16, 4, 17);
  m.integers["vision.projector.scale_factor"] = 2;
  m.booleans["use_gelu"] = true;
  m.tensors["v.patch_embd.weight"] = {48, 32};
  m.tensors.erase("v.patch_embd.bias");
  m.tensors["v.class_embd"] = {32};
  add_norm(m, "v.pre_ln", 32);
  add_norm(m, "v.post_ln", 32);
  m.tensors["mm.model.mlp.1.weight"] = {128, 40};
  m.tensors["mm.model.mlp.2.weight"] = {40, 36};
  m.tensors["mm.model.fc.weight"] = {36, kMadeWidth};
  return {"llama4", m, 5e-4, {{40, 22}, {9, 12}}};
}

inline MadeProjector made_glm4v() {
  MadeModel m = made_vit("glm4v", 16, 4, 16);
  m.booleans["use_silu"] = true;
  m.tensors["v.patch_embd.weight.1"] = m.tensors["v.patch_embd.weight"];
  m.tensors["v.norm_embd.weight"] = m.tensors["v.post_ln.weight"] = {32};
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 96);
  gate_layers(m);
  m.tensors["mm.patch_merger.weight"] = {2, 2, 32, 40};
  m.tensors["mm.patch_merger.bias"] = {40};
  m.tensors["mm.model.fc.weight"] = {40, 36};
  add_norm(m, "mm.post_norm", 36);
  m.tensors["mm.up.weight"] = m.tensors["mm.gate.weight"] = {36, 44};
  m.tensors["mm.down.weight"] = {44, kMadeWidth};
  return {"glm4v", m, 4e-3, kSizes};
}

inline MadeProjector made_youtuvl() {
  MadeModel m = made_vit("youtuvl", 16, 4, 0);
  m.tensors["v.patch_embd.weight"] = {48, 32};
  m.integers["vision.window_size"] = 16;
  m.arrays["vision.wa_layer_indexes"] = {1};
  m.booleans["use_gelu"] = true;
  add_norm(m, "v.post_ln", 32);
  m.tensors["mm.input_norm.weight"] = {32};
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  return {"youtuvl", m, 5e-4, {{44, 26}, {9, 30}}};
}

inline MadeProjector made_cogvlm_projector() {
  MadeModel m = made_vit("cogvlm", 16, 4, 17);
  m.booleans["use_gelu"] = true;
  m.tensors["v.class_embd"] = {32};
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 96);
  m.tensors["mm.model.fc.weight"] = {32, 36};
  add_norm(m, "mm.post_fc_norm", 36);
  m.tensors["mm.up.weight"] = m.tensors["mm.gate.weight"] = {36, 44};
  m.tensors["mm.down.weight"] = {44, kMadeWidth};
  m.tensors["v.boi"] = m.tensors["v.eoi"] = {kMadeWidth};
  return {"cogvlm", m, 1e-4, {{40, 22}}};
}

inline MadeProjector made_lightonocr() {
  MadeModel m = made_vit("lightonocr", 60, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.spatial_merge_size"] = 2;
  gate_layers(m);
  m.tensors["v.pre_ln.weight"] = m.tensors["mm.input_norm.weight"] = {32};
  m.tensors["mm.patch_merger.weight"] = {128, 32};
  m.tensors["mm.1.weight"] = {32, 40};
  m.tensors["mm.2.weight"] = {40, kMadeWidth};
  return {"lightonocr", m, 2e-4, {{52, 28}, {40, 90}}};
}

inline MadeProjector made_ling3vl() {
  MadeModel m = made_vit("ling3vl", 16, 4, 16);
  m.floats["vision.attention.layer_norm_epsilon"] = 1e-2f;
  m.tensors["v.patch_embd.weight.1"] = m.tensors["v.patch_embd.weight"];
  add_norm(m, "v.post_ln", 32);
  add_norm(m, "mm.input_norm", 32);
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  return {"ling3vl", m, 1e-3, kSizes};
}

inline MadeProjector made_exaone4_5() {
  MadeModel m = made_vit("exaone4_5", 16, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.attention.head_count"] = 4;
  m.integers["vision.attention.head_count_kv"] = 2;
  m.integers["vision.n_wa_pattern"] = 2;
  m.integers["vision.patch_size"] = 14;
  bound_pixels(m, 14 * 14 * 4 * 8, 14 * 14 * 4 * 40);
  m.tensors["v.patch_embd.weight"] = m.tensors["v.patch_embd.weight.1"] = {14, 14, 3, 32};
  m.tensors.erase("v.patch_embd.bias");
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 64);
  gate_layers(m);
  m.tensors["v.post_ln.weight"] = {32};
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  return {"exaone4_5", m, 1e-4, {{230, 150}}};
}

inline MadeProjector made_mimovl() {
  MadeModel m = made_vit("mimovl", 16, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.block_count"] = 4;
  m.integers["vision.attention.head_count"] = 4;
  m.integers["vision.attention.head_count_kv"] = 2;
  m.integers["vision.window_size"] = 5;
  m.arrays["vision.wa_pattern_mode"] = {0, 1, -1, 1};
  bound_pixels(m, 600, 1500);
  m.tensors["v.patch_embd.weight.1"] = m.tensors["v.patch_embd.weight"];
  m.tensors.erase("v.patch_embd.bias");
  for (const std::string blk : {"v.blk.0.", "v.blk.1.", "v.blk.2.", "v.blk.3."}) {
    add_layer(m, blk, 32, 48);
    fuse_attention(m, blk, 8 * 12);
    m.tensors[blk + "attn_out.weight"] = {48, 32};
    m.tensors[blk + "attn_sinks"] = {4};
    m.tensors[blk + "ffn_gate.weight"] = {32, 48};
    m.tensors[blk + "ffn_gate.bias"] = {48};
    for (const char* norm : {"ln1.bias", "ln2.bias"}) m.tensors.erase(blk + norm);
  }
  m.tensors.erase("v.blk.2.attn_sinks");
  m.tensors["v.post_ln.weight"] = {32};
  m.tensors["mm.0.weight"] = {128, 40};
  m.tensors["mm.2.weight"] = {40, kMadeWidth};
  return {"mimovl", m, 2e-4, {{44, 26}, {9, 30}}};
}

inline MadeProjector made_dots_ocr() {
  MadeModel m = made_vit("dots_ocr", 16, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.projector.scale_factor"] = 2;
  bound_pixels(m, 600, 1500);
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 96);
  gate_layers(m);
  m.tensors["v.pre_ln.weight"] = m.tensors["mm.post_norm.weight"] = {32};
  add_norm(m, "mm.input_norm", 32);
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  return {"dots_ocr", m, 1e-4, {{44, 26}, {9, 30}}};
}

inline MadeProjector made_paddleocr() {
  MadeModel m = made_vit("paddleocr", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  bound_pixels(m, 600, 1500);
  add_kimi_projector(m);
  return {"paddleocr", m, 2e-3, {{44, 26}, {9, 30}}};
}

inline MadeProjector made_nemotron_v2_vl() {
  MadeModel m = made_vit("nemotron_v2_vl", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  m.integers["vision.projector.scale_factor"] = 2;
  m.tensors["v.class_embd"] = {32, 3};
  m.tensors["mm.model.mlp.0.weight"] = {128};
  m.tensors["mm.model.mlp.1.weight"] = {128, 40};
  m.tensors["mm.model.mlp.3.weight"] = {40, kMadeWidth};
  return {"nemotron_v2_vl", m, 1e-4, {{44, 26}, {9, 30}}};
}

inline MadeProjector made_nemotron_omni() {
  MadeProjector made = made_nemotron_v2_vl();
  MadeModel& m = made.file;
  m.strings["projector_type"] = made.name = "nemotron_omni";
  bound_pixels(m, 600, 1500);
  m.tensors["v.patch_embd.weight.1"] = {4, 4, 6, 32};  // of pairs of frames of a video
  made.tolerance = 1e-4;
  made.pictures = {{44, 26}, {9, 30}, {70, 50}, {200, 12}};
  return made;
}

inline MadeProjector made_janus_pro() {
  MadeModel m = made_vit("janus_pro", 16, 4, 16);
  add_norm(m, "v.post_ln", 32);
  add_linear(m, "mm.0", 32, 40);
  add_linear(m, "mm.1", 40, kMadeWidth);
  return {"janus_pro", m, 1e-4, {{40, 22}}};
}

inline MadeProjector made_phi4() {
  MadeModel m = made_vit("phi4", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  bound_pixels(m, 300, 600);
  add_linear(m, "mm.0", 32, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  return {"phi4", m, 1e-3, {{44, 26}, {9, 30}}};
}

inline MadeProjector made_cohere2v() {
  MadeModel m = made_vit("cohere2v", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  m.integers["vision.projector.scale_factor"] = 2;
  m.integers["vision.preproc_max_tiles"] = 6;
  add_norm(m, "v.post_ln", 32);
  add_linear(m, "mm.1", 128, 40);
  add_linear(m, "mm.2", 20, kMadeWidth);
  return {"cohere2v", m, 2e-3, {{40, 22}, {30, 100}, {17, 16}, {9, 12}}};
}

/// MobileVLM's encoder. libmtmd takes 24 x 24 patches only.
inline MadeModel made_mobilevlm(const std::string& type) {
  MadeModel m = made_vit(type, 48, 2, 577);
  m.integers["vision.block_count"] = 3;
  add_layer(m, "v.blk.2.", 32, 48);
  m.tensors["v.class_embd"] = {32};
  add_norm(m, "v.pre_ln", 32);
  return m;
}

inline MadeProjector made_ldp() {
  MadeModel m = made_mobilevlm("ldp");
  add_linear(m, "mm.model.mlp.1", 32, 40);
  add_linear(m, "mm.model.mlp.3", 40, kMadeWidth);
  for (const std::string blk : {"mm.model.mb_block.1.block.", "mm.model.mb_block.2.block."}) {
    m.tensors[blk + "0.0.weight"] = {3, 3, 1, kMadeWidth};
    m.halves.insert(blk + "0.0.weight");
    add_linear(m, blk + "1.fc1", kMadeWidth, 8);
    add_linear(m, blk + "1.fc2", 8, kMadeWidth);
    m.tensors[blk + "2.0.weight"] = {kMadeWidth, kMadeWidth};
    for (const char* norm : {"0.1", "2.1"}) {
      add_norm(m, blk + norm, kMadeWidth);
      m.around[blk + norm + ".weight"] = 1;
    }
  }
  return {"ldp", m, 5e-3, {{60, 31}}};
}

inline MadeProjector made_ldpv2() {
  MadeModel m = made_mobilevlm("ldpv2");
  add_linear(m, "mm.model.mlp.0", 32, 40);
  add_linear(m, "mm.model.mlp.2", 40, kMadeWidth);
  m.tensors["mm.model.peg.0.weight"] = {3, 3, 1, kMadeWidth};
  m.halves.insert("mm.model.peg.0.weight");
  m.tensors["mm.model.peg.0.bias"] = {kMadeWidth};
  return {"ldpv2", m, 3e-3, {{60, 31}}};
}

}  // namespace ggufscope::test
