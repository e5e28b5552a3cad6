// Kokoro's second half: pitch, energy and sound of phonemes whose lengths are known.
#include <cstring>
#include <numeric>

#include "nn/vec.hpp"
#include "speech/kokoro.hpp"

namespace ggufscope {
namespace {

constexpr size_t kFramesOfStep = 1024;

// y[t] = x of the phoneme that frame t belongs to.
void add_repeated(StepList& s, const float* x, std::span<const uint32_t> frames, size_t width, float* y) {
  s.add([=, frames = std::vector(frames.begin(), frames.end())] {
    float* to = y;
    for (size_t i = 0; i < frames.size(); ++i)
      for (uint32_t k = 0; k < frames[i]; ++k, to += width) std::memcpy(to, x + i * width, width * sizeof(float));
  });
}

// A chain of blocks, then one value for each row: y [2 n].
void add_curve(StepList& s, const std::vector<AdaptiveBlock>& blocks, const Linear& last, const float* style,
               const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  for (const AdaptiveBlock& block : blocks) {
    float* made = s.arena.take(block.n_rows(n), block.n_out());
    add_block(s, block, style, x, n, made);
    n = block.n_rows(n);
    x = made;
  }
  Pool& pool = s.pool;
  s.add([=, &pool, &last] { apply(pool, last, x, n, y); });
}

/// A matrix of which a row's parts are those of others.
struct JoinedPart {
  const float* rows;
  size_t width;
};

void add_joined(StepList& s, std::initializer_list<JoinedPart> parts, size_t n, float* y) {
  size_t width = 0, at = 0;
  for (const JoinedPart& part : parts) width += part.width;
  for (const JoinedPart& part : parts) {
    s.add([=] {
      for (size_t t = 0; t < n; ++t)
        std::memcpy(y + t * width + at, part.rows + t * part.width, part.width * sizeof(float));
    });
    at += part.width;
  }
}

// x += y, or x = y.
void add_to(StepList& s, float* x, const float* y, size_t n, size_t width, bool replaces = false) {
  Pool& pool = s.pool;
  s.add_parts(n, 16 * kFramesOfStep, [=, &pool](size_t first, size_t rows) {
    if (replaces)
      std::memcpy(x + first * width, y + first * width, rows * width * sizeof(float));
    else
      add_rows(pool, x + first * width, y + first * width, rows, width);
  });
}

// x [n, width] in place.
void add_residual(StepList& s, const KokoroResidual& w, const float* style, float* x, size_t n) {
  const ArenaScope scope(s.arena);
  const size_t width = w.parts[0].conv1.n_out();
  float* normed = s.arena.take(n, width);
  float* made = s.arena.take(n, width);
  for (const KokoroResidual::Part& part : w.parts) {
    add_adaptive_norm(s, part.norm1, style, x, n, part.alpha1.data(), normed);
    add_convolution(s, part.conv1, normed, n, made);
    add_adaptive_norm(s, part.norm2, style, made, n, part.alpha2.data(), normed);
    add_convolution(s, part.conv2, normed, n, made);
    add_to(s, x, made, n, width);
  }
}

// y [n_rows, channels]: the source's part, plus x with more rows. The last stage repeats its second row at the
// beginning, which mirrors the sound there.
void add_stage_input(StepList& s, const KokoroSound::Stage& w, bool is_last, const float* style, float* x, size_t n,
                     const float* source, size_t n_source, float* y) {
  const ArenaScope scope(s.arena);
  const size_t width = w.up.n_out, n_up = n * w.up.stride;
  add_leaky(s, 0.1f, x, n * w.up.n_in);
  add_convolution(s, w.source, source, n_source, y);
  add_residual(s, w.source_block, style, y, n_up + (is_last ? 1 : 0));
  float* up = s.arena.take(n_up, width);
  add_transposed(s, w.up, w.padding, x, n, up);
  if (!is_last) return add_to(s, y, up, n_up, width);
  s.add([=] { vec::add(y, up + width, width); });
  add_to(s, y + width, up, n_up, width);
}

// Spectra [n * n_up + 1, n_fft + 2] of x [n, channels].
void add_generator(StepList& s, const KokoroSound& w, const float* style, float* x, size_t n, const float* source,
                   size_t n_source, float* spectra) {
  const ArenaScope scope(s.arena);
  for (size_t i = 0; i < w.stages.size(); ++i) {
    const KokoroSound::Stage& stage = w.stages[i];
    const bool is_last = i + 1 == w.stages.size();
    const size_t n_rows = n * stage.up.stride + (is_last ? 1 : 0), width = stage.up.n_out;
    float* sum = s.arena.take(n_rows, width);
    const ArenaScope inner(s.arena);
    float* in = s.arena.take(n_rows, width);
    add_stage_input(s, stage, is_last, style, x, n, source, n_source, in);
    float* block = s.arena.take(n_rows, width);
    for (size_t k = 0; k < stage.blocks.size(); ++k) {
      float* to = k == 0 ? sum : block;
      add_to(s, to, in, n_rows, width, true);
      add_residual(s, stage.blocks[k], style, to, n_rows);
      if (k != 0) add_to(s, sum, block, n_rows, width);
    }
    Pool& pool = s.pool;
    const float share = 1.0f / float(stage.blocks.size());
    s.add_parts(n_rows, 16 * kFramesOfStep, [=, &pool](size_t first, size_t rows) {
      each_token(pool, Operation::kAdd, rows, [&](size_t t) { vec::scale(sum + (first + t) * width, share, width); });
    });
    x = sum;
    n = n_rows;
  }
  add_leaky(s, 0.01f, x, n * w.stages.back().up.n_out);
  add_convolution(s, w.out, x, n, spectra);
}

// Frames [2 n, channels] for the generator.
void add_decoder(StepList& s, const KokoroSound& w, const float* style, const float* text, const float* pitch,
                 const float* energy, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_text = w.text.taps.n_in, n_short = w.text.n_out();
  float* short_pitch = s.arena.take(n);
  float* short_energy = s.arena.take(n);
  float* short_text = s.arena.take(n, n_short);
  add_convolution(s, w.pitch, pitch, 2 * n, short_pitch);
  add_convolution(s, w.energy, energy, 2 * n, short_energy);
  add_convolution(s, w.text, text, n, short_text);
  float* joined = s.arena.take(n, n_text + 2);
  add_joined(s, {{text, n_text}, {short_pitch, 1}, {short_energy, 1}}, n, joined);
  const float* x = s.arena.take(n, w.encode.n_out());
  add_block(s, w.encode, style, joined, n, const_cast<float*>(x));
  size_t width = w.encode.n_out();
  for (const AdaptiveBlock& block : w.decode) {
    float* all = s.arena.take(n, block.n_in);
    add_joined(s, {{x, width}, {short_text, n_short}, {short_pitch, 1}, {short_energy, 1}}, n, all);
    float* made = block.pool ? y : s.arena.take(n, block.n_out());
    add_block(s, block, style, all, n, made);
    x = made;
    width = block.n_out();
  }
}

}  // namespace

void record_sound(StepList& s, const KokoroWeights& w, const KokoroInput& in, const KokoroPhonemes& from,
                  std::span<const uint32_t> frames, std::vector<float>& samples) {
  const KokoroProsody& p = w.prosody;
  const KokoroSound& sound = w.sound;
  const size_t n = std::reduce(frames.begin(), frames.end(), size_t{0});
  const size_t n_text = w.text.lstm.n_out(), n_hidden = p.n_hidden + w.n_style;
  const size_t n_rows = 2 * n * sound.n_up + 1, n_spectrum = sound.n_fft + 2, n_frame = sound.decode.back().n_out();
  float* styles = s.arena.take(2 * w.n_style);
  float* pitch = s.arena.take(2 * n);
  float* energy = s.arena.take(2 * n);
  float* text = s.arena.take(n, n_text);
  float* decoded = s.arena.take(2 * n, n_frame);
  float* spectra = s.arena.take(n_rows, n_spectrum);
  if (!s.counting()) {
    std::memcpy(styles, in.style, 2 * w.n_style * sizeof(float));
    samples.assign(2 * n * sound.n_samples(), 0.0f);
  }
  {
    const ArenaScope scope(s.arena);
    float* hidden = s.arena.take(n, n_hidden);
    float* shared = s.arena.take(n, p.shared.n_out());
    add_repeated(s, from.hidden.data(), frames, n_hidden, hidden);
    add_lstm(s, p.shared, hidden, n, shared);
    add_curve(s, p.pitch, p.pitch_out, styles + w.n_style, shared, n, pitch);
    add_curve(s, p.energy, p.energy_out, styles + w.n_style, shared, n, energy);
  }
  add_repeated(s, from.text.data(), frames, n_text, text);
  add_decoder(s, sound, styles, text, pitch, energy, n, decoded);
  {
    const ArenaScope scope(s.arena);
    float* source = s.arena.take(n_rows, n_spectrum);
    add_source(s, sound, in.seed, pitch, 2 * n, source);
    add_generator(s, sound, styles, decoded, 2 * n, source, n_rows, spectra);
  }
  add_samples(s, sound, spectra, n_rows, samples);
}

}  // namespace ggufscope
