// Valid files that are not language models, as public tools write them. Lint must find no error in any.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "gguf/lint/lint.hpp"
#include "gguf/parse.hpp"
#include "lint_recipes.hpp"
#include "text/pretokenizer.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

namespace {

/// A file of one kind: its architecture, the tool's keys, and consecutive F32 tensors.
struct Kind {
  std::string what;
  std::string architecture;  ///< empty: the tool writes none
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, uint32_t>> numbers;
  std::vector<std::pair<std::string, std::vector<uint64_t>>> tensors;
  std::vector<std::pair<std::string, std::vector<int32_t>>> lists;
};

Recipe recipe_of(const Kind& kind) {
  Recipe r;
  r.name = "";
  if (!kind.architecture.empty()) r.text("general.architecture", kind.architecture);
  for (const auto& [key, value] : kind.texts) r.text(key, value);
  for (const auto& [key, value] : kind.numbers) r.u32(key, value);
  for (const auto& [key, values] : kind.lists) r.array<int32_t>(key, kI32, values);
  uint64_t at = 0;
  for (const auto& [name, shape] : kind.tensors) {
    uint64_t bytes = 4;
    for (const uint64_t extent : shape) bytes *= extent;
    r.tensors.push_back({name, shape, 0, at});
    at += (bytes + 31) / 32 * 32;
  }
  r.data = static_cast<size_t>(at);
  return r;
}

std::vector<Finding> findings_of(const Recipe& r) {
  const Bytes bytes = r.bytes();
  ParseState state;
  const auto progress = parse_header(bytes, bytes.size(), state);
  BOOST_REQUIRE(progress.has_value() && progress->complete);
  return lint({state.header, bytes}, bytes.size(), r.name);
}

const std::string kLongName = "model.diffusion_model.joint_transformer_blocks.0.ff_context.linear_projection.weight";

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"Flux",
       "flux",
       {},
       {{"general.quantization_version", 2}, {"general.file_type", 0}},
       {{"double_blocks.0.img_attn.proj.weight", {64, 64}}, {"img_in.bias", {64}}},
       {}},
      {"Stable Diffusion 1",
       "sd1",
       {},
       {{"general.quantization_version", 2}},
       {{"input_blocks.0.0.weight", {256, 9}}},
       {{"comfy.gguf.orig_shape.input_blocks.0.0.weight", {64, 4, 3, 3}}}},
      {"Stable Diffusion XL", "sdxl", {}, {}, {{"label_emb.0.0.weight", {64, 32}}}, {}},
      {"Stable Diffusion 3", "sd3", {}, {}, {{"joint_blocks.0.x_block.attn.qkv.weight", {64, 192}}}, {}},
      {"AuraFlow", "aura", {}, {}, {{"double_layers.3.modX.1.weight", {32, 32}}}, {}},
      {"HiDream", "hidream", {}, {}, {{"caption_projection.0.linear.weight", {32, 32}}}, {}},
      {"Cosmos", "cosmos", {}, {}, {{"blocks.0.mlp.layer1.weight", {32, 32}}}, {}},
      {"LTX Video", "ltxv", {}, {}, {{"transformer_blocks.27.scale_shift_table", {32, 6}}}, {}},
      {"Hunyuan Video", "hyvid", {}, {}, {{"img_in.proj.weight", {2, 2, 1, 16, 32}}}, {}},
      {"Wan", "wan", {}, {}, {{"patch_embedding.weight", {2, 2, 1, 16, 32}}, {"head.modulation", {32, 2, 1}}}, {}},
      {"Lumina 2", "lumina2", {}, {}, {{"cap_embedder.1.weight", {32, 32}}}, {}},
      {"Qwen Image", "qwen_image", {}, {}, {{"transformer_blocks.0.attn.to_q.weight", {32, 32}}}, {}},
      {"of gguf-connector", "pig", {}, {}, {{"decoder.conv_in.weight", {3, 3, 16, 32}}}, {}},
      {"stable-diffusion.cpp, without keys", "", {}, {}, {{kLongName, {32, 32}}}, {}},
      {"a VAE", "", {}, {}, {{"first_stage_model.decoder.conv_in.weight", {3, 3, 4, 32}}}, {}},
      {"a CLIP text encoder of stable-diffusion.cpp",
       "",
       {},
       {},
       {{"text_encoders.clip_l.transformer.text_model.final_layer_norm.weight", {32}}},
       {}},
      {"Kokoro",
       "kokoro",
       {},
       {{"kokoro.duration_predictor.albert.layers", 1}},
       {{"kokoro.albert.token_embd", {32, 8}}},
       {}},
      {"Dia",
       "dia",
       {},
       {{"dia.encoder.layers", 1}, {"dac.up_scaling_factor", 512}},
       {{"dia.encoder.embedding", {32, 8}}},
       {}},
      {"Parler", "parler-tts", {}, {{"parler-tts.decoder.block_count", 2}}, {{"decoder.embed_positions", {32, 8}}}, {}},
      {"Orpheus", "orpheus", {}, {{"orpheus.layers", 2}}, {{"orpheus.layers.0.self_attn.k_proj", {32, 32}}}, {}},
      {"a phonemizer", "tts-phonemizer", {}, {{"phonemizer.type", 0}}, {{"phonemizer.x", {8}}}, {}},
      {"Whisper",
       "whisper",
       {},
       {{"whisper.encoder.context_length", 1500}, {"whisper.encoder.block_count", 1}},
       {{"encoder.blocks.0.attn.query.weight", {32, 32}}},
       {}},
      {"speech recognition of CrispASR", "parakeet", {}, {{"parakeet.n_layers", 1}}, {{"enc.0.w", {8}}}, {}},
      {"a voice converter", "rvc", {}, {}, {{"enc_p.emb_phone.weight", {32, 8}}}, {}},
      {"RWKV 4", "rwkv", {}, {{"rwkv.architecture_version", 4}}, {{"blocks.0.att.key.weight", {32, 32}}}, {}},
      {"upscaling", "esrgan", {}, {{"esrgan.scale", 4}}, {{"conv_first.weight", {3, 3, 3, 32}}}, {}},
      {"CLIP of clip.cpp", "clip", {}, {{"clip.text.block_count", 1}}, {{"t.blk.0.attn_q.weight", {32, 32}}}, {}},
      {"of a tool that nobody knows", "magicnet", {}, {{"magicnet.depth", 4}}, {{"blk.0.magic", {8}}}, {}},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lint_of_kinds)

BOOST_AUTO_TEST_CASE(valid_files_of_other_programs_have_no_errors) {
  BOOST_TEST(kinds().size() >= 15u);
  for (const Kind& kind : kinds()) {
    Recipe r = recipe_of(kind);
    if (kind.architecture == "clip")
      r.number("clip.has_text_encoder", kBool, uint8_t{1}), r.number("clip.has_vision_encoder", kBool, uint8_t{1});
    for (const Finding& f : findings_of(r))
      if (f.level == FindingLevel::kError) BOOST_ERROR(kind.what << ": " << f.code << ": " << f.message);
  }
}

BOOST_AUTO_TEST_CASE(findings_name_the_program_that_reads_the_file) {
  for (const auto& [architecture, reader] :
       std::initializer_list<std::pair<const char*, const char*>>{{"flux", "ComfyUI-GGUF"},
                                                                  {"dia", "TTS.cpp"},
                                                                  {"silero", "whisper.cpp"},
                                                                  {"rwkv", "rwkv.cpp"},
                                                                  {"", "general.architecture is missing"}}) {
    const auto findings = findings_of(recipe_of({"", architecture, {}, {}, {{"x", {8}}}, {}}));
    const auto note = std::ranges::find(findings, "architecture-other", &Finding::code);
    BOOST_REQUIRE(note != findings.end());
    BOOST_TEST(note->message.find(reader) != std::string::npos, note->message);
  }
  // This package runs them.
  for (const char* architecture : {"whisper", "kokoro"}) {
    const auto findings = findings_of(recipe_of({"", architecture, {}, {}, {{"x", {8}}}, {}}));
    for (const char* code : {"architecture-other", "architecture-unknown"})
      BOOST_TEST((std::ranges::find(findings, code, &Finding::code) == findings.end()), architecture);
  }
}

BOOST_AUTO_TEST_CASE(text_model_without_architecture_is_an_error) {
  Recipe r = sound();
  r.keys.erase("general.architecture");
  const auto findings = findings_of(r);
  BOOST_TEST(std::ranges::count(findings, "architecture-missing", &Finding::code) == 1);
}

BOOST_AUTO_TEST_CASE(every_pre_tokenizer_of_the_tokenizer_is_known) {
  for (const PreTokenizer& row : all_pre_tokenizers()) {
    Recipe r = merging();
    r.text("tokenizer.ggml.pre", std::string(row.name));
    for (const Finding& f : findings_of(r)) BOOST_TEST(f.code != "pre-tokenizer-unknown", f.message);
  }
}

BOOST_AUTO_TEST_SUITE_END()
