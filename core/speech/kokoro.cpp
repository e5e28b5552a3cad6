// Plans Kokoro's tensors, and turns its frames to sound.
#include "speech/kokoro.hpp"

#include <cmath>
#include <numbers>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "nn/finite.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxPart = 64;  // parts of one kind
constexpr uint32_t kMaxFft = 512, kMaxStride = 64, kMaxUp = 1 << 12;
constexpr size_t kBefore = 2;  // tokens before and after the phonemes
constexpr int32_t kEdge = 0;   // both of them

// A key that must be there, and may be 0.
uint32_t read_padding(Keys& keys, const std::string& name, uint32_t max) {
  uint32_t padding = 0;
  if (!keys.u32(name, padding, max) && !keys.failed())
    keys.refuse(ErrorCode::kNotFound, "kokoro." + name + " is missing");
  return padding;
}

std::string numbered(const char* prefix, size_t i) { return prefix + std::to_string(i); }

void plan_norm(Planner& p, Affine& to, const std::string& weight, const std::string& bias, uint64_t n) {
  to.present = p.vector(to.weight, weight, n);
  p.vector(to.bias, bias, n);
}

void plan_bert(Planner& p, Keys& keys, KokoroWeights& w) {
  KokoroBert& b = w.bert;
  uint32_t n_ctx = 0, n_layer = 1, n_head = 0, n_embd = 0, n_repeats = 0;
  keys.required("duration_predictor.albert.context_length", n_ctx, 1 << 16);
  keys.u32("duration_predictor.albert.layers", n_layer);
  keys.required("duration_predictor.albert.attn_heads", n_head);
  keys.required("duration_predictor.albert.hidden_size", n_embd);
  keys.required("duration_predictor.albert.recurrence", n_repeats, 1 << 10);
  if (keys.failed()) return;
  if (n_layer != 1 || n_head == 0 || n_embd % n_head != 0 || n_ctx <= kBefore)
    return keys.refuse(ErrorCode::kUnsupported, "the keys kokoro.duration_predictor.albert.* describe another encoder");
  b.n_embd = n_embd;
  b.n_head = n_head;
  b.n_repeats = n_repeats;
  w.n_ctx = n_ctx;
  const std::string base = "kokoro.albert.", layer = base + "layer.0.";
  const uint64_t n_narrow = dimension(p, base + "token_embd", 0);
  w.n_vocab = static_cast<size_t>(dimension(p, base + "token_embd", 1));
  b.n_ff = static_cast<size_t>(dimension(p, layer + "ffn", 1));
  plan_matrix(p, b.tokens, base + "token_embd", n_narrow, w.n_vocab);
  plan_matrix(p, b.positions, base + "position_embd", n_narrow, n_ctx);
  p.vector(b.token_type, base + "token_type_embd", n_narrow);
  plan_norm(p, b.norm, base + "norm", base + "norm_bias", n_narrow);
  plan_linear(p, b.widen, base + "embd", base + "embd_bias", n_narrow, n_embd);
  for (const auto& [to, name] : {std::pair{&b.q, "q"}, {&b.k, "k"}, {&b.v, "v"}, {&b.out, "o"}})
    plan_linear(p, *to, layer + name, layer + name + "_bias", n_embd, n_embd);
  plan_linear(p, b.up, layer + "ffn", layer + "ffn_bias", n_embd, b.n_ff);
  plan_linear(p, b.down, layer + "ffn_out", layer + "ffn_out_bias", b.n_ff, n_embd);
  // The converter calls the norm after the attention "ffn_norm", and the one at the end "attn_norm".
  plan_norm(p, b.attention_norm, layer + "ffn_norm", layer + "ffn_norm_bias", n_embd);
  plan_norm(p, b.out_norm, layer + "attn_norm", layer + "attn_norm_bias", n_embd);
}

void plan_blocks(SpeechPlan& plan, std::vector<AdaptiveBlock>& blocks, const char* name, uint64_t n, uint64_t n_style) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].plan(plan, "kokoro.duration_predictor." + numbered(name, i), n, n_style);
    n = blocks[i].n_out();
  }
}

void plan_prosody(SpeechPlan& plan, Keys& keys, KokoroWeights& w) {
  Planner& p = plan.planner;
  KokoroProsody& to = w.prosody;
  uint32_t n_hidden = 0, n_layer = 0, n_blocks = 0;
  keys.required("duration_predictor.hidden_size", n_hidden, 1 << 16);
  keys.required("duration_predictor.layers", n_layer, kMaxPart);
  keys.required("duration_predictor.f0_n_blocks", n_blocks, kMaxPart);
  if (keys.failed()) return;
  const std::string base = "kokoro.duration_predictor.";
  to.n_hidden = n_hidden;
  plan_linear(p, to.encode, base + "encode", base + "encode_bias", w.bert.n_embd, n_hidden);
  const uint64_t n_in = n_hidden + w.n_style;
  to.layers.resize(n_layer);
  for (size_t i = 0; i < n_layer; ++i) {
    to.layers[i].lstm.plan(p, base + numbered("layers.", 2 * i) + ".lstm", n_in);
    to.layers[i].norm.plan(p, base + numbered("layers.", 2 * i + 1) + ".", "", w.n_style, n_hidden);
    if (!p.failed() && to.layers[i].lstm.n_out() != n_hidden)
      p.refuse(ErrorCode::kBadShape,
               "the LSTM " + base + numbered("layers.", 2 * i) + " has another width than its norm");
  }
  to.durations_lstm.plan(p, base + "duration_lstm", n_in);
  to.shared.plan(p, base + "shared_lstm", n_in);
  plan_linear(p, to.durations, base + "duration_proj", base + "duration_proj_bias", to.durations_lstm.n_out(),
              dimension(p, base + "duration_proj", 1));
  to.pitch.resize(n_blocks);
  to.energy.resize(n_blocks);
  plan_blocks(plan, to.pitch, "f0_blocks.", to.shared.n_out(), w.n_style);
  plan_blocks(plan, to.energy, "n_blocks.", to.shared.n_out(), w.n_style);
  if (p.failed()) return;
  size_t doubled = 0;
  for (size_t i = 0; i < n_blocks; ++i) doubled += (to.pitch[i].pool ? 1 : 0) + (to.energy[i].pool ? 100 : 0);
  if (doubled != 101)
    return p.refuse(ErrorCode::kBadShape,
                    "of " + base + "f0_blocks and of n_blocks, one block each must have a pool_weight");
  plan_linear(p, to.pitch_out, base + "f0_proj_kernel", base + "f0_proj_bias", to.pitch.back().n_out(), 1);
  plan_linear(p, to.energy_out, base + "n_proj_kernel", base + "n_proj_bias", to.energy.back().n_out(), 1);
}

void plan_text(SpeechPlan& plan, Keys& keys, KokoroWeights& w) {
  Planner& p = plan.planner;
  uint32_t n_layer = 0;
  keys.required("text_encoder.layers", n_layer, kMaxPart);
  if (keys.failed()) return;
  const std::string base = "kokoro.text_encoder.";
  uint64_t n = dimension(p, base + "embedding_weight", 0);
  plan_matrix(p, w.text.embedding, base + "embedding_weight", n, w.n_vocab);
  w.text.layers.resize(n_layer);
  for (size_t i = 0; i < n_layer && !p.failed(); ++i) {
    auto& [convolution, norm] = w.text.layers[i];
    const std::string name = base + numbered("layers.", i);
    const uint64_t n_kernel = dimension(p, name + ".weight", 0);
    convolution.plan(plan, name, ".", n, static_cast<size_t>(n_kernel / 2));
    if (n_kernel % 2 == 0) p.refuse(ErrorCode::kBadShape, "tensor " + name + ".weight has a kernel of an even length");
    n = convolution.n_out();
    plan_norm(p, norm, name + ".gamma", name + ".beta", n);
  }
  w.text.lstm.plan(p, base + "lstm", n);
}

void plan_residual(SpeechPlan& plan, Keys& keys, const std::string& name, const std::string& key, uint64_t n,
                   uint64_t n_style, KokoroResidual& to) {
  Planner& p = plan.planner;
  for (size_t i = 0; i < to.parts.size() && !p.failed(); ++i) {
    KokoroResidual::Part& part = to.parts[i];
    const std::string number = "." + std::to_string(i) + ".", prefix = name + number;
    uint32_t dilation = 0;
    const uint32_t padding = read_padding(keys, key + number + "padding", 1 << 12);
    keys.required(key + number + "dilation", dilation, 1 << 10);
    if (keys.failed()) return;
    part.norm1.plan(p, prefix, "1", n_style, n);
    part.norm2.plan(p, prefix, "2", n_style, n);
    p.vector(part.alpha1, prefix + "alpha1", n);
    p.vector(part.alpha2, prefix + "alpha2", n);
    const uint64_t n_kernel = dimension(p, prefix + "convs2_weight", 0);
    part.conv1.plan(plan, prefix + "convs1", "_", n, padding, 1, dilation);
    part.conv2.plan(plan, prefix + "convs2", "_", n, static_cast<size_t>(n_kernel / 2));
    if (p.failed()) return;
    const bool same = part.conv1.n_rows(kMaxUp) == kMaxUp && part.conv2.n_rows(kMaxUp) == kMaxUp;
    if (!same || part.conv1.n_out() != n || part.conv2.n_out() != n)
      p.refuse(ErrorCode::kBadShape, "the convolutions of " + name + " give other rows than they read");
  }
}

// Rows that stage i has for n values of the pitch. The last stage has one more.
size_t stage_rows(const KokoroSound& w, size_t i, size_t n) {
  for (size_t k = 0; k <= i; ++k) n *= w.stages[k].up.stride;
  return n + (i + 1 == w.stages.size() ? 1 : 0);
}

// Returns the channels.
uint64_t plan_up(SpeechPlan& plan, Keys& keys, size_t i, uint64_t n_in, KokoroSound::Stage& to) {
  Planner& p = plan.planner;
  const std::string key = numbered("decoder.generator.up_convs.", i),
                    name = numbered("kokoro.decoder.generator.ups.", i);
  uint32_t stride = 0;
  keys.required(key + ".stride", stride, kMaxStride);
  const uint32_t padding = read_padding(keys, key + ".padding", kMaxStride);
  if (keys.failed() || p.failed()) return 0;
  const uint64_t n = stride == 0 ? 0 : plan.convolution(to.up, name, n_in, stride);
  to.padding = padding;
  if (!p.failed() && (!p.has(name + ".bias") || to.up.n_kernel != stride + 2 * size_t{padding} || stride == 0))
    p.refuse(ErrorCode::kBadShape, "the kernel, the bias or the keys of tensor " + name + ".weight do not fit");
  return n;
}

void plan_stages(SpeechPlan& plan, Keys& keys, uint64_t n, KokoroWeights& w) {
  Planner& p = plan.planner;
  KokoroSound& to = w.sound;
  const std::string base = "kokoro.decoder.generator.", key = "decoder.generator.";
  uint32_t n_stage = 0, n_kernels = 0;
  keys.required(key + "upsamples", n_stage, kMaxPart);
  keys.required(key + "kernels", n_kernels, kMaxPart);
  to.stages.resize(n_stage);
  for (size_t i = 0; i < n_stage && !keys.failed() && !p.failed(); ++i) {
    KokoroSound::Stage& stage = to.stages[i];
    n = plan_up(plan, keys, i, n, stage);
    to.n_up *= std::max<size_t>(stage.up.stride, 1);
    if (p.failed() || keys.failed()) return;
    if (to.n_up > kMaxUp) return p.refuse(ErrorCode::kBadShape, "the strides give too many samples for a frame");
    const std::string noise = numbered("noise_blocks.", i);
    uint32_t stride = 0;
    keys.required(key + noise + ".stride", stride, kMaxUp);
    const uint32_t padding = read_padding(keys, key + noise + ".padding", kMaxUp);
    if (keys.failed()) return;
    stage.source.plan(plan, base + noise + ".conv", "_", to.n_fft + 2, padding, stride);
    if (!p.failed() && stage.source.n_out() != n)
      p.refuse(ErrorCode::kBadShape, "tensor " + base + noise + ".conv_weight gives another number of channels");
    plan_residual(plan, keys, base + noise + ".resblock", key + noise + ".res_block", n, w.n_style, stage.source_block);
    stage.blocks.resize(n_kernels);
    for (size_t k = 0; k < n_kernels && !p.failed() && !keys.failed(); ++k) {
      const std::string number = std::to_string(i * n_kernels + k);
      plan_residual(plan, keys, base + "resblocks." + number, key + "res_blocks." + number, n, w.n_style,
                    stage.blocks[k]);
    }
  }
  if (p.failed() || keys.failed()) return;
  for (size_t i = 0; i < n_stage; ++i)
    for (const size_t values : {size_t{2}, size_t{6}})
      if (to.stages[i].source.n_rows(values * to.n_up + 1) != stage_rows(to, i, values))
        return p.refuse(ErrorCode::kBadShape, "the rows of the harmonic source do not fit those of the sound");
  const uint32_t padding = read_padding(keys, key + "padding", 1 << 10);
  to.out.plan(plan, base + "conv_post", "_", n, padding);
  if (!p.failed() && (to.out.n_out() != to.n_fft + 2 || to.out.n_rows(kMaxUp) != kMaxUp))
    p.refuse(ErrorCode::kBadShape, "tensor " + base + "conv_post_weight makes no spectra");
}

void plan_sound(SpeechPlan& plan, Keys& keys, KokoroWeights& w) {
  Planner& p = plan.planner;
  KokoroSound& to = w.sound;
  uint32_t n_blocks = 0, n_fft = 0, hop = 0, factor = 0;
  keys.required("decoder.generator.layers", n_blocks, kMaxPart);
  keys.required("decoder.generator.n_fft", n_fft, kMaxFft);
  keys.required("decoder.generator.hop", hop, kMaxFft);
  keys.required("decoder.generator.up_sampling_factor", factor);
  if (keys.failed() || p.failed()) return;
  if (n_fft < 4 || n_fft % 2 != 0 || hop == 0 || 2 * hop > n_fft)
    return keys.refuse(ErrorCode::kOutOfRange, "the keys kokoro.decoder.generator.n_fft and hop do not fit");
  to.n_fft = n_fft;
  to.hop = hop;
  const std::string base = "kokoro.decoder.";
  const uint64_t n_text = w.text.lstm.n_out();
  to.pitch.plan(plan, base + "f0_conv", "_", 1, 1, 2);
  to.energy.plan(plan, base + "n_conv", "_", 1, 1, 2);
  to.text.plan(plan, base + "asr_conv", "_", n_text, 0);
  to.encode.plan(plan, base + "encoder_block", n_text + 2, w.n_style);
  uint64_t n = to.encode.n_out();
  to.decode.resize(n_blocks);
  for (size_t i = 0; i < n_blocks && !p.failed(); ++i) {
    to.decode[i].plan(plan, base + numbered("decoder_blocks.", i), n + to.text.n_out() + 2, w.n_style);
    n = to.decode[i].n_out();
  }
  if (p.failed()) return;
  size_t doubled = to.encode.pool ? 2 : 0;
  for (size_t i = 0; i < n_blocks; ++i) doubled += to.decode[i].pool ? (i + 1 == n_blocks ? 1 : 2) : 0;
  if (doubled != 1 || to.pitch.n_rows(4) != 2 || to.energy.n_rows(4) != 2 || to.text.n_rows(4) != 4)
    return p.refuse(ErrorCode::kBadShape, "the rows of the tensors kokoro.decoder.* do not fit each other");
  plan_stages(plan, keys, n, w);
  if (p.failed() || keys.failed()) return;
  if (factor != 2 * to.n_samples())
    return keys.refuse(ErrorCode::kBadShape, sentence({"kokoro.decoder.generator.up_sampling_factor is ", factor,
                                                       ", but the strides give ", 2 * to.n_samples()}));
  const std::string source = base + "generator.m_source_weight";
  p.vector(to.source_weight, source, dimension(p, source, 0));
  p.vector(to.source_bias, base + "generator.m_source_bias", 1);
}

// Runs the two halves of a pass, in steps.
class KokoroDecoder final : public SpeechDecoder {
 public:
  KokoroDecoder(const KokoroWeights& weights, Pool& pool) : w_(weights), steps_(pool) {}
  Result<bool> decode(const SpeechFrames& frames, std::vector<float>& samples) override;
  void reset() override {
    steps_.clear();
    half_ = Half::kNone;
  }

 private:
  enum class Half : uint8_t { kNone, kProsody, kSound };
  [[nodiscard]] Result<std::vector<uint32_t>> count_frames(float speed) const;

  const KokoroWeights& w_;
  StepList steps_;
  Half half_ = Half::kNone;
  KokoroPhonemes phonemes_;
  std::vector<float> made_;
};

Result<std::vector<uint32_t>> KokoroDecoder::count_frames(float speed) const {
  if (!all_finite(phonemes_.durations))
    return fail(ErrorCode::kOutOfRange, "the durations that the model computes are not numbers");
  std::vector<uint32_t> frames;
  uint64_t sum = 0;
  for (const float duration : phonemes_.durations) {
    frames.push_back(static_cast<uint32_t>(std::max(std::nearbyint(duration / speed), 1.0f)));
    sum += frames.back();
  }
  if (sum > kKokoroMaxFrames)
    return fail(ErrorCode::kOutOfRange, "a part of the text takes " + counted(sum, "frame") +
                                            " of sound, more than the limit of " + std::to_string(kKokoroMaxFrames) +
                                            ": cut it into sentences, or speak faster");
  return frames;
}

Result<bool> KokoroDecoder::decode(const SpeechFrames& frames, std::vector<float>& samples) {
  if (frames.n == 0) return false;
  const KokoroInput in{frames.latents.data(), frames.codes, frames.seed};
  if (half_ == Half::kNone) {
    half_ = Half::kProsody;
    if (const Result<void> r = steps_.record([&] { record_prosody(steps_, w_, in, phonemes_); }); !r)
      return std::unexpected(r.error());
    return true;
  }
  if (steps_.run_next()) return true;
  if (half_ == Half::kProsody) {
    const Result<std::vector<uint32_t>> counted = count_frames(frames.latents.back());
    if (!counted) return std::unexpected(counted.error());
    half_ = Half::kSound;
    const auto write = [&] { record_sound(steps_, w_, in, phonemes_, *counted, made_); };
    if (const Result<void> r = steps_.record(write); !r) return std::unexpected(r.error());
    return true;
  }
  half_ = Half::kNone;
  samples.insert(samples.end(), made_.begin(), made_.end());
  made_ = {};
  return false;
}

}  // namespace

void Kokoro::read_alphabet(const Gguf& gguf, Keys& keys) {
  const auto tokens = get_strings(gguf, "tokenizer.ggml.tokens");
  if (!tokens) return keys.refuse(ErrorCode::kNotFound, "tokenizer.ggml.tokens is missing: it is the alphabet");
  if (tokens->size() > w_.n_vocab)
    return keys.refuse(ErrorCode::kBadShape, "the alphabet has more characters than the model has embeddings");
  for (size_t i = 0; i < tokens->size(); ++i)
    if (!(*tokens)[i].empty() && i != kEdge) alphabet_.emplace_back((*tokens)[i], static_cast<int32_t>(i));
  std::ranges::sort(alphabet_);
}

int32_t Kokoro::find(std::string_view character) const {
  const auto found =
      std::ranges::lower_bound(alphabet_, character, {}, [](const auto& row) { return std::string_view(row.first); });
  return found != alphabet_.end() && found->first == character ? found->second : -1;
}

void Kokoro::plan_voices(const Gguf& gguf, Planner& p, Keys& keys) {
  const auto names = get_strings(gguf, "kokoro.voices");
  if (!names || names->empty()) return keys.refuse(ErrorCode::kNotFound, "kokoro.voices is missing: there is no voice");
  const auto tensor = [](std::string_view name) { return "kokoro.voice_tensors." + std::string(name); };
  const uint64_t n_row = dimension(p, tensor(names->front()), 0);
  if (n_row % 2 != 0) p.refuse(ErrorCode::kBadShape, "tensor " + tensor(names->front()) + " has rows of an odd length");
  w_.n_style = static_cast<size_t>(n_row / 2);
  voices_.resize(names->size());
  max_phonemes_ = w_.n_ctx - kBefore;
  for (size_t i = 0; i < voices_.size() && !p.failed(); ++i) {
    const std::string name = tensor((*names)[i]);
    const uint64_t n_rows = dimension(p, name, 1);
    if (!p.failed() && dimension(p, name, 0) != n_row)
      p.refuse(ErrorCode::kBadShape, "tensor " + name + " has rows of another length than the other voices");
    voices_[i].name = (*names)[i];
    p.vector(voices_[i].styles, name, n_row * n_rows);
    max_phonemes_ = std::min(max_phonemes_, static_cast<size_t>(n_rows));
  }
}

void Kokoro::plan(const Gguf& gguf, SpeechPlan& plan, Keys& keys, uint64_t, bool) {
  Planner& p = plan.planner;
  plan_bert(p, keys, w_);
  const auto good = [&] { return !p.failed() && !keys.failed(); };
  if (good()) read_alphabet(gguf, keys);
  if (good()) plan_voices(gguf, p, keys);
  if (good()) plan_prosody(plan, keys, w_);
  if (good()) plan_text(plan, keys, w_);
  if (good()) plan_sound(plan, keys, w_);
}

Result<void> Kokoro::finish_load(Pool&) {
  KokoroSound& s = w_.sound;
  const size_t n = s.n_fft;
  s.window.resize(n);
  s.cosines.resize(s.n_bins() * n);
  s.sines.resize(s.n_bins() * n);
  for (size_t i = 0; i < n; ++i) {
    const double turn = 2 * std::numbers::pi / double(n);
    s.window[i] = float(0.5 - 0.5 * std::cos(turn * double(i)));
    for (size_t k = 0; k < s.n_bins(); ++k) {
      s.cosines[k * n + i] = float(std::cos(turn * double(i * k % n)));
      s.sines[k * n + i] = float(std::sin(turn * double(i * k % n)));
    }
  }
  return {};
}

Result<std::unique_ptr<SpeechDecoder>> Kokoro::create_decoder(Pool& pool) const {
  return std::make_unique<KokoroDecoder>(w_, pool);
}

uint64_t Kokoro::scratch_bytes(Pool& pool) const {
  StepList steps(pool);
  const size_t n = std::min(max_phonemes_, kKokoroMaxPhonemes) + kBefore;
  const std::vector<int32_t> ids(n);
  std::vector<uint32_t> frames(n, 1);
  frames[0] = static_cast<uint32_t>(kKokoroMaxFrames - n + 1);
  const KokoroInput in{nullptr, ids, 0};
  KokoroPhonemes phonemes;
  std::vector<float> samples;
  const uint64_t n_prosody = steps.count_bytes([&] { record_prosody(steps, w_, in, phonemes); });
  const uint64_t n_sound = steps.count_bytes([&] { record_sound(steps, w_, in, phonemes, frames, samples); });
  return std::max(n_prosody, n_sound);
}

std::unique_ptr<SpeechGenerator> create_kokoro() { return std::make_unique<Kokoro>(); }

}  // namespace ggufscope
