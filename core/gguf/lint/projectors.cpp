// Rules on multimodal projectors: the keys and tensors that llama.cpp's loader (tools/mtmd/clip.cpp) requires.
#include <algorithm>
#include <optional>
#include <span>

#include "base/bytes.hpp"
#include "base/sort.hpp"
#include "gguf/lint/rules.hpp"

namespace ggufscope {
namespace {

using enum ValueType;

/// A kind of encoder. A file has one or more, and each is loaded separately. Its keys start with "clip.{name}." and its
/// blocks with "{tensors}.blk.N.".
struct Encoder {
  std::string_view name, flag, tensors;
};
constexpr Encoder kEncoders[] = {
    {"vision", "clip.has_vision_encoder", "v"},
    {"audio", "clip.has_audio_encoder", "a"},
    {"gen.audio", "clip.has_gen_audio_encoder", "a.gen.code"},
};

bool has_encoder(const LintFile& file, const Encoder& encoder) {
  return get_bool(file.gguf, encoder.flag).value_or(false);
}

/// True for complete CLIP models of old clip.cpp versions, which are not llama.cpp projectors.
bool has_text_encoder(const LintFile& file) { return get_bool(file.gguf, "clip.has_text_encoder").value_or(false); }

std::string encoder_key(const Encoder& encoder, std::string_view suffix) {
  return sentence({"clip.", encoder.name, ".", suffix});
}

/// An encoder in the file, with its projector type. The type is empty if the file does not state it.
struct FileEncoder {
  Encoder encoder;
  std::string_view kind;
};

/// The file's encoders; empty if the file is not a projector.
struct FileEncoders {
  FileEncoder all[std::size(kEncoders)];
  size_t count = 0;

  explicit FileEncoders(const LintFile& file) {
    if (file.kind != FileKind::kProjector || has_text_encoder(file)) return;
    for (const Encoder& encoder : kEncoders) {
      if (!has_encoder(file, encoder)) continue;
      std::string_view kind = get_string(file.gguf, "clip.projector_type").value_or("");
      if (kind.empty()) kind = get_string(file.gguf, encoder_key(encoder, "projector_type")).value_or("");
      if (kind == "qwen2.5o") kind = encoder.name == "vision" ? "qwen2.5vl_merger" : "qwen2a";
      all[count++] = {encoder, kind};
    }
  }
  [[nodiscard]] const FileEncoder* begin() const { return all; }
  [[nodiscard]] const FileEncoder* end() const { return all + count; }
};

/// The projector types of clip.cpp in October 2026.
constexpr std::string_view kProjectors =
    "adapter cogvlm cohere2v d1omni_a d1omni_v deepseek4v deepseekocr deepseekocr2 dots3note_a dots3note_v dots_ocr "
    "etet exaone4_5 gemma3"
    " gemma3na gemma3nv gemma4a gemma4ua gemma4uv gemma4v glm4v glm5v glma granite4_vision granite_speech"
    " hunyuanocr hunyuanvl idefics3 internvl janus_pro kimik25 kimivl ldp ldpv2 lfm2 lfm2a lightonocr ling3vl"
    " llama4 meralion mimo_audio mimovl minicpmv4_6 minicpmv4_7 minimax_m3 mlp muse-glimmer musicflamingo"
    " nemotron_omni nemotron_v2_vl paddleocr parakeet phi4 pixtral pockettts_gen pockettts_spkenc qwen2.5vl_merger"
    " qwen2a qwen2vl_merger qwen3a qwen3tts_gen qwen3tts_spkenc qwen3vl_merger resampler step3vl ultravox"
    " voxtral yasa2 youtuvl";

/// A key after "clip.{encoder}." that is read in exactly one type.
struct ProjectorKey {
  std::string_view suffix;
  std::string_view of;  ///< the encoders and projector types that have it; empty for all
  ValueType type = kU32;
  bool list = false;
};
using RowSpan = std::span<const ProjectorKey>;
constexpr ProjectorKey kProjectorNeeds[] = {
    {"embedding_length", ""},
    {"feed_forward_length", ""},
    {"block_count", ""},
    {"projection_dim", ""},
    {"attention.head_count", ""},
    {"attention.layer_norm_epsilon", "", kF32},
    {"image_size", "vision"},
    {"patch_size", "vision"},
    {"image_mean", "vision", kF32, true},
    {"image_std", "vision", kF32, true},
    {"num_mel_bins", "audio"},
    {"sam.block_count", "deepseekocr deepseekocr2"},
    {"sam.head_count", "deepseekocr deepseekocr2"},
    {"sam.embedding_length", "deepseekocr deepseekocr2"},
    {"window_size", "deepseekocr deepseekocr2 mimo_audio mimovl youtuvl"},
    {"attention.head_count_kv", "deepseekocr2 exaone4_5 mimovl"},
    {"spatial_merge_size", "dots3note_v"},
    {"image_min_pixels", "dots3note_v dots_ocr exaone4_5 mimovl paddleocr phi4 nemotron_omni"},
    {"image_max_pixels", "dots3note_v dots_ocr exaone4_5 mimovl paddleocr phi4 nemotron_omni"},
    {"expert_used_count", "dots3note_v"},
    {"projector.scale_factor", "cohere2v dots_ocr nemotron_omni"},
    {"preproc_max_tiles", "cohere2v"},
    {"projector.stack_factor", "glma meralion ultravox voxtral"},
    {"projector.spatial_offsets", "granite4_vision", kI32, true},
    {"projector.query_side", "granite4_vision"},
    {"projector.window_side", "granite4_vision"},
    {"chunk_size", "granite_speech"},
    {"conv_kernel_size", "granite_speech parakeet"},
    {"max_pos_emb", "granite_speech"},
    {"projector.window_size", "granite_speech"},
    {"projector.downsample_rate", "granite_speech"},
    {"projector.head_count", "granite_speech"},
    {"rvq.num_quantizers", "mimo_audio"},
    {"rvq.codebook_size", "mimo_audio", kI32, true},
    {"wa_pattern_mode", "mimo_audio mimovl", kI32, true},
    {"local_block_count", "mimo_audio"},
    {"local_group_size", "mimo_audio"},
    {"subsampling_factor", "parakeet"},
    {"n_wa_pattern", "qwen2.5vl_merger"},
    {"wa_layer_indexes", "youtuvl", kI32, true},
};

bool is_needed(const ProjectorKey& row, const FileEncoder& encoder) {
  return row.of.empty() || has_word(row.of, encoder.encoder.name) || has_word(row.of, encoder.kind);
}

void check_projector(const LintFile& file, FindingList& findings) {
  if (file.kind == FileKind::kProjector && !has_text_encoder(file) && FileEncoders(file).count == 0)
    findings.add(kNoPlace, "a projector with neither an image nor an audio encoder");
}

void check_projector_keys(const LintFile& file, FindingList& findings) {
  for (const FileEncoder& encoder : FileEncoders(file)) {
    for (const ProjectorKey& row : kProjectorNeeds) {
      const std::string key = encoder_key(encoder.encoder, row.suffix);
      if (is_needed(row, encoder) && find_key(file.gguf, key) == nullptr)
        findings.add(kNoPlace, {"a projector without ", key});
    }
    if (encoder.kind.empty())
      findings.add(kNoPlace, {"a projector without ", encoder_key(encoder.encoder, "projector_type")});
  }
}

void check_projector_type(const LintFile& file, FindingList& findings) {
  for (const FileEncoder& encoder : FileEncoders(file))
    if (!encoder.kind.empty() && !has_word(kProjectors, encoder.kind))
      findings.add(kNoPlace,
                   {"projector ", Quoted{encoder.kind}, " is not among those of llama.cpp that this build knows"});
}

/// Optional keys, read for every projector or for each encoder (after "clip.{encoder}.").
constexpr ProjectorKey kOptional[] = {
    {"has_vision_encoder", "clip", kBool},
    {"has_audio_encoder", "clip", kBool},
    {"has_gen_audio_encoder", "clip", kBool},
    {"projector_type", "clip", kString},
    {"use_gelu", "clip", kBool},
    {"use_silu", "clip", kBool},
    {"vision.image_grid_pinpoints", "clip", kI32, true},
    {"vision.mm_patch_merge_type", "clip", kString},
    {"minicpmv_version", "clip", kI32},
    {"minicpmv_query_num", "clip"},
    {"max_slice_nums", "resampler minicpmv4_6 minicpmv4_7"},
    {"wa_layer_indexes", "minicpmv4_6 minicpmv4_7", kI32, true},
    {"projector.scale_factor", "minicpmv4_6 minicpmv4_7 gemma4v gemma4uv"},
    {"feature_layer", "", kI32, true},
    {"projector_type", "", kString},
};

void check_key_types(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kProjector) return;
  for (const ProjectorKey& row : kOptional)
    if (!row.of.empty()) check_key_type(file, findings, sentence({"clip.", row.suffix}), row.type, row.list);
  for (const FileEncoder& encoder : FileEncoders(file))
    for (const RowSpan rows : {RowSpan(kOptional), RowSpan(kProjectorNeeds)})
      for (const ProjectorKey& row : rows)
        if (is_needed(row, encoder))
          check_key_type(file, findings, encoder_key(encoder.encoder, row.suffix), row.type, row.list);
}

/// Ranges that the loader accepts, for keys after "clip.{encoder}.". Other 32-bit numbers must be below 2^31.
struct ProjectorRange {
  std::string_view suffix;
  uint64_t min, max;
};
constexpr ProjectorRange kRanges[] = {
    {"embedding_length", 1, INT32_MAX},
    {"image_size", 0, 8192},
    {"patch_size", 1, 65535},
    {"spatial_merge_size", 1, 65535},
    {"projector.scale_factor", 1, 65535},
    {"window_size", 0, 4096},
    {"chunk_size", 1, 8192},
    {"local_group_size", 1, INT32_MAX},
};

/// The keys of one encoder, for the rule on values.
struct EncoderValues {
  const LintFile& file;
  FindingList& findings;
  const FileEncoder& encoder;

  [[nodiscard]] std::string key(std::string_view suffix) const { return encoder_key(encoder.encoder, suffix); }
  [[nodiscard]] std::optional<uint64_t> number(std::string_view suffix) const {
    return get_u64(file.gguf, key(suffix));
  }
  [[nodiscard]] const KeyValue* list(std::string_view suffix) const {
    const KeyValue* kv = find_key(file.gguf, key(suffix));
    return kv != nullptr && kv->type == kArray ? kv : nullptr;
  }
  void say(std::string_view suffix, std::string_view rest) const {
    findings.add(key_offset(file.gguf, key(suffix)), {key(suffix), " ", rest});
  }
  void range(std::string_view suffix, uint64_t min, uint64_t max) const {
    const auto value = number(suffix);
    if (value && (*value < min || *value > max))
      say(suffix, sentence({"is ", *value, ": llama.cpp takes ", min, " to ", max}));
  }
  /// Checks that the key's array has the wanted length, if both are known.
  void length(std::string_view suffix, std::optional<uint64_t> wanted) const {
    const KeyValue* kv = list(suffix);
    if (kv != nullptr && wanted && kv->count != *wanted)
      say(suffix, sentence({"has ", Counted{kv->count, "element"}, ", not ", *wanted}));
  }
};

void check_encoder_values(const EncoderValues& v) {
  const std::string_view kind = v.encoder.kind;
  for (const ProjectorRange& row : kRanges) v.range(row.suffix, row.min, row.max);
  for (const ProjectorKey& row : kProjectorNeeds)
    if (row.type == kU32 && is_needed(row, v.encoder) &&
        std::ranges::find(kRanges, row.suffix, &ProjectorRange::suffix) == std::end(kRanges))
      v.range(row.suffix, 0, INT32_MAX);
  // Encoders that take the waveform itself have no mel bands.
  if (v.encoder.encoder.name == "audio" && kind != "gemma4ua" && kind != "pockettts_spkenc")
    v.range("num_mel_bins", 1, 256);
  if (kind == "parakeet") v.range("subsampling_factor", 8, 8);
  if (const auto factor = v.number("projector.scale_factor"); kind.starts_with("minicpmv4_") && factor && *factor != 4)
    v.range("projector.scale_factor", 2, 2);
  const auto version = get_u64(v.file.gguf, "clip.minicpmv_version");
  if (kind == "resampler" && version && !has_word("0 2 3 4 5 6 100045", sentence({*version})))
    v.findings.add(key_offset(v.file.gguf, "clip.minicpmv_version"),
                   {"clip.minicpmv_version is ", *version, ": llama.cpp takes 2 to 6 and 100045"});

  for (const std::string_view suffix : {"image_mean", "image_std"})
    if (const KeyValue* kv = v.list(suffix); kv != nullptr && kv->count < 3)
      v.say(suffix, "has fewer than three elements: one each for red, green and blue");
  const auto fewest = v.number("image_min_pixels"), max = v.number("image_max_pixels");
  if (fewest && max && *max < *fewest) v.say("image_max_pixels", "is below image_min_pixels");
  const KeyValue* layers = v.list("feature_layer");
  v.length("wa_pattern_mode", v.number("block_count"));
  v.length("rvq.codebook_size", v.number("rvq.num_quantizers"));
  v.length("projector.spatial_offsets", layers != nullptr ? std::optional(layers->count) : std::nullopt);
  if (const KeyValue* kv = v.list("image_grid_pinpoints"); kv != nullptr && kv->count % 2 != 0)
    v.say("image_grid_pinpoints", "has an odd count of elements: they are widths and heights");
  if (layers != nullptr && layers->element_type == kI32) {
    const uint64_t blocks = v.number("block_count").value_or(INT32_MAX);
    bool beyond = false;
    for (uint64_t i = 0; i < layers->count; ++i) {
      const auto layer =
          load<int32_t>(v.file.gguf.bytes.data() + layers->value.offset + 4 * i, v.file.gguf.header.big_endian);
      beyond = beyond || (layer > 0 && static_cast<uint64_t>(layer) > blocks);
    }
    if (beyond) v.say("feature_layer", "names a block beyond the last one");
  }
}

void check_projector_values(const LintFile& file, FindingList& findings) {
  for (const FileEncoder& encoder : FileEncoders(file)) check_encoder_values({file, findings, encoder});
  if (file.kind == FileKind::kProjector && get_bool(file.gguf, "clip.use_gelu").value_or(false) &&
      get_bool(file.gguf, "clip.use_silu").value_or(false))
    findings.add(key_offset(file.gguf, "clip.use_silu"), "clip.use_gelu and clip.use_silu are both true");
}

/// Encoders with a different block structure.
constexpr std::string_view kOtherBlocks = "gemma3nv qwen3tts_spkenc pockettts_gen";

/// Tensors that some projector types have once: each of the names combined with the ending, and with another if it is
/// there.
struct ProjectorTensors {
  std::string_view of, names, ending, other = {};
};
constexpr std::string_view kWeight = ".weight", kBias = ".bias";
constexpr std::string_view kInnerMerger = "minicpmv4_6/4";  ///< minicpmv4_6 with the scale factor 4, the default
constexpr ProjectorTensors kProjectorTensors[] = {
    {"qwen2vl_merger qwen2.5vl_merger qwen3vl_merger exaone4_5 mimovl youtuvl yasa2 dots_ocr dots3note_v hunyuanvl "
     "phi4 ling3vl",
     "mm.0 mm.2", kWeight},
    {"qwen2vl_merger qwen2.5vl_merger qwen3vl_merger exaone4_5 youtuvl dots_ocr dots3note_v hunyuanvl phi4 "
     "ling3vl",
     "mm.0 mm.2", kBias},
    {"muse-glimmer step3vl janus_pro", "mm.0 mm.1", kWeight},
    {"janus_pro", "mm.0 mm.1", kBias},
    {"minimax_m3 lfm2 kimivl paddleocr kimik25 pixtral lightonocr cohere2v", "mm.1 mm.2", kWeight},
    {"minimax_m3 lfm2 kimivl paddleocr kimik25 cohere2v", "mm.1 mm.2", kBias},
    {"minimax_m3", "mm.merger.fc1 mm.merger.fc2", kWeight, kBias},
    {"muse-glimmer", "mm.2", kWeight},
    {"step3vl glm4v idefics3 llama4 cogvlm hunyuanvl deepseekocr deepseekocr2", "mm.model.fc", kWeight},
    {"hunyuanvl deepseekocr deepseekocr2", "mm.model.fc", kBias},
    {"youtuvl kimivl paddleocr kimik25 dots_ocr dots3note_v ling3vl", "mm.input_norm", kWeight},
    {"kimivl paddleocr kimik25 dots_ocr dots3note_v ling3vl", "mm.input_norm", kBias},
    {"glm4v dots_ocr dots3note_v hunyuanvl", "mm.post_norm", kWeight},
    {"glm4v cogvlm", "mm.up mm.gate mm.down", kWeight},
    {"glm4v", "mm.patch_merger", kWeight, kBias},
    {"cogvlm", "mm.post_fc_norm", kWeight, kBias},
    {"cogvlm glma", "v.boi v.eoi", ""},
    {"gemma3 gemma3nv gemma4v gemma4uv", "mm.input_projection", kWeight},
    {"gemma3 gemma3nv", "mm.soft_emb_norm", kWeight},
    {"gemma4v gemma4uv resampler minicpmv4_6 minicpmv4_7", "v.patch_embd v.position_embd", kWeight},
    {"gemma4uv", "v.patch_norm.1 v.patch_norm.2 v.patch_norm.3", kWeight},
    {"gemma4uv", "v.patch_norm.1 v.patch_norm.2 v.patch_norm.3 v.patch_embd", kBias},
    {"minicpmv4_6 minicpmv4_7", "mm.input_norm mm.up mm.down", kWeight},
    {"minicpmv4_7", "v.tok_embd_sep", ""},
    {kInnerMerger, "v.vit_merger.ln1 v.vit_merger.ds_ln", kBias},
    {kInnerMerger, "v.vit_merger.ln1 v.vit_merger.attn_q v.vit_merger.attn_k v.vit_merger.attn_v v.vit_merger.attn_out",
     kWeight},
    {kInnerMerger, "v.vit_merger.ds_ln v.vit_merger.ds_ffn_up v.vit_merger.ds_ffn_down", kWeight},
    {"pixtral", "v.token_embd.img_break", ""},
    {"yasa2", "v.patch_embd", kWeight},
    {"internvl nemotron_v2_vl nemotron_omni", "mm.model.mlp.0 mm.model.mlp.1 mm.model.mlp.3", kWeight},
    {"internvl", "mm.model.mlp.0 mm.model.mlp.1 mm.model.mlp.3", kBias},
    {"llama4", "mm.model.mlp.1 mm.model.mlp.2", kWeight},
    {"ldp", "mm.model.mlp.1 mm.model.mlp.3", kWeight, kBias},
    {"ldpv2", "mm.model.mlp.0 mm.model.mlp.2 mm.model.peg.0", kWeight, kBias},
    {"resampler", "resampler.pos_embed_k resampler.query", ""},
    {"resampler", "resampler.proj resampler.kv", kWeight},
    {"resampler", "resampler.attn.q resampler.attn.k resampler.attn.v resampler.attn.out", kWeight, kBias},
    {"resampler", "resampler.ln_q resampler.ln_kv resampler.ln_post", kWeight, kBias},
    {"ultravox meralion qwen2a mimo_audio voxtral musicflamingo glma", "a.conv1d.1 a.conv1d.2", kWeight, kBias},
    {"qwen3a dots3note_a", "a.conv2d.1 a.conv2d.2 a.conv2d.3 a.conv_out", kWeight},
    {"qwen3a dots3note_a", "a.conv2d.1 a.conv2d.2 a.conv2d.3", kBias},
    {"ultravox meralion qwen3a mimo_audio voxtral musicflamingo glma", "mm.a.mlp.1 mm.a.mlp.2", kWeight},
    {"meralion qwen3a musicflamingo glma", "mm.a.mlp.1 mm.a.mlp.2", kBias},
    {"ultravox meralion dots3note_a glma", "mm.a.norm_pre", kWeight},
    {"meralion dots3note_a glma", "mm.a.norm_pre", kBias},
    {"meralion", "mm.a.mlp.0 mm.a.mlp.3", kWeight, kBias},
    {"ultravox", "mm.a.norm_mid", kWeight},
    {"qwen2a", "mm.a.fc", kWeight, kBias},
    {"lfm2a parakeet", "a.conv1d.0 a.conv1d.2 a.conv1d.3 a.conv1d.5 a.conv1d.6 a.pre_encode.out", kWeight, kBias},
    {"lfm2a", "mm.a.mlp.0 mm.a.mlp.1 mm.a.mlp.3", kWeight, kBias},
    {"parakeet", "mm.a.norm_pre mm.a.mlp.1 mm.a.mlp.2 mm.model.mlp.0 mm.model.mlp.1 mm.model.mlp.3", kWeight},
    {"parakeet", "a.mel_filters a.window", ""},
    {"gemma4a", "a.conv1d.0 a.conv1d.1", kWeight},
    {"gemma4a granite_speech", "a.input_projection", kWeight},
    {"gemma4a gemma4ua", "mm.a.input_projection", kWeight},
    {"granite_speech", "a.enc_ctc_out a.enc_ctc_out_mid a.proj_norm a.proj_linear", kWeight},
    {"granite_speech", "a.input_projection a.enc_ctc_out a.enc_ctc_out_mid a.proj_norm a.proj_linear", kBias},
    {"granite_speech", "a.proj_query", ""},
    {"mimo_audio", "a.downsample.conv a.downsample.norm a.rvq.codebook mm.a.code_embd mm.a.local_norm", kWeight},
    {"mimo_audio", "a.downsample.norm", kBias},
};

/// Tensors that some projector types have in each block, beside those of all types.
constexpr ProjectorTensors kBlockTensors[] = {
    {"lfm2a parakeet gemma4a granite_speech", "ffn_norm ffn_norm_1 ffn_up_1 ffn_down_1 conv_dw conv_pw1 conv_pw2",
     kWeight},
    {"lfm2a parakeet granite_speech", "norm_conv conv_norm", kWeight},
    {"lfm2a parakeet granite_speech", "ffn_norm ffn_norm_1 norm_conv conv_norm", kBias},
    {"lfm2a granite_speech", "ffn_up_1 ffn_down_1 conv_pw1 conv_pw2", kBias},
    {"lfm2a", "conv_dw", kBias},
    {"lfm2a parakeet", "linear_pos", kWeight},
    {"lfm2a parakeet", "pos_bias_u pos_bias_v", ""},
    {"parakeet", "conv_norm_mean conv_norm_var", ""},
    {"granite_speech", "attn_rel_pos_emb", ""},
};

/// The same for the blocks of projectors that have some themselves.
constexpr std::string_view kQFormerTensors =
    "self_attn_q self_attn_k self_attn_v self_attn_out self_attn_norm cross_attn_q cross_attn_k cross_attn_v"
    " cross_attn_out cross_attn_norm ffn_up ffn_down ffn_norm";
constexpr ProjectorTensors kQFormerBlocks[] = {{"granite_speech", kQFormerTensors, kWeight, kBias}};
constexpr ProjectorTensors kLdpBlocks[] = {{"ldp", "0.0 0.1 1.fc1 1.fc2 2.0 2.1", kWeight},
                                           {"ldp", "0.1 1.fc1 1.fc2 2.1", kBias}};
constexpr ProjectorTensors kLocalBlocks[] = {
    {"mimo_audio", "attn_q attn_k attn_v attn_out ffn_gate ffn_up ffn_down ln1 ln2", kWeight},
    {"mimo_audio", "attn_q attn_k attn_v", kBias},
};

/// An index of the tensor names.
struct TensorNames {
  const Gguf& gguf;
  std::vector<uint32_t> order;

  [[nodiscard]] std::string_view at(uint32_t i) const { return gguf.text(gguf.header.tensors[i].name); }
  [[nodiscard]] bool has(std::string_view name) const {
    const auto found = std::ranges::lower_bound(order, name, {}, [&](uint32_t i) { return at(i); });
    return found != order.end() && at(*found) == name;
  }
  /// Adds a finding if the tensor is missing.
  void need(const std::string& name, FindingList& findings) const {
    if (!has(name)) findings.add(kNoPlace, {"a projector without tensor ", name});
  }
};

/// Each block needs the attention's output matrix and the feed-forward layer (a dense one unless there are experts).
/// The projector's own tensors are also checked.
void check_projector_tensors(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kProjector || is_shard(file)) return;
  TensorNames names{file.gguf, {}};
  const size_t n_tensors = file.gguf.header.tensors.size();
  names.order = sorted_order(n_tensors, [&](uint32_t a, uint32_t b) { return names.at(a) < names.at(b); });
  for (const FileEncoder& encoder : FileEncoders(file)) {
    // Counts come from the file. If one exceeds the number of tensors, some blocks are missing, and the first of those
    // are reported.
    const auto count = [&](std::string_view suffix) {
      return std::min<uint64_t>(get_u64(file.gguf, encoder_key(encoder.encoder, suffix)).value_or(0), n_tensors + 1);
    };
    const auto need_all = [&](std::span<const ProjectorTensors> rows, std::string_view prefix) {
      for (const ProjectorTensors& row : rows) {
        const bool inner = row.of == kInnerMerger && encoder.kind.starts_with("minicpmv4_") &&
                           (count("projector.scale_factor") | 4) == 4;  // the default, 4, or 4 itself
        if (!inner && !has_word(row.of, encoder.kind)) continue;
        for (const std::string_view name : WordList(row.names))
          names.need(sentence({prefix, name, row.ending}), findings);
        if (row.other.empty()) continue;
        for (const std::string_view name : WordList(row.names))
          names.need(sentence({prefix, name, row.other}), findings);
      }
    };
    need_all(kProjectorTensors, "");
    for (uint64_t i = 0; i < 2; ++i) {
      need_all(kQFormerBlocks, sentence({"a.proj_blk.", i, "."}));
      need_all(kLdpBlocks, sentence({"mm.model.mb_block.", i + 1, ".block."}));
    }
    for (uint64_t i = 0; i < count("local_block_count"); ++i)
      need_all(kLocalBlocks, sentence({"mm.a.local_blk.", i, "."}));
    if (!has_word(kProjectors, encoder.kind) || has_word(kOtherBlocks, encoder.kind)) continue;
    const uint64_t blocks = count("block_count");
    for (uint64_t i = 0; i < blocks; ++i) {
      const std::string block = sentence({encoder.encoder.tensors, ".blk.", i, "."});
      names.need(block + "attn_out.weight", findings);
      if (names.has(block + "ffn_gate_exps.weight")) continue;
      names.need(block + "ffn_up.weight", findings);
      names.need(block + "ffn_down.weight", findings);
      need_all(kBlockTensors, block);
    }
  }
}

constexpr LintRule kProjectorRules[] = {
    {"projector", FindingLevel::kError, check_projector},
    {"projector-keys", FindingLevel::kError, check_projector_keys},
    {"projector-type", FindingLevel::kNote, check_projector_type},
    {"projector-key-type", FindingLevel::kError, check_key_types},
    {"projector-values", FindingLevel::kError, check_projector_values},
    {"projector-tensors", FindingLevel::kError, check_projector_tensors},
};

}  // namespace

RuleSpan projector_rules() { return kProjectorRules; }

}  // namespace ggufscope
