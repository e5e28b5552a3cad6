// Kokoro's harmonic source (neural source-filter, Wang et al. 2019), and the two transforms between sound and spectra.
#include <cmath>
#include <numbers>

#include "nn/vec.hpp"
#include "speech/kokoro.hpp"

namespace ggufscope {
namespace {

constexpr double kVoiced = 10;  // Hz: lower is a sound without a voice
constexpr double kAmplitude = 0.1, kVoicedNoise = 0.003, kUnvoicedNoise = kAmplitude / 3;
constexpr size_t kSamplesOfStep = size_t{1} << 14, kSpectraOfStep = size_t{1} << 13, kAtOnce = 256;

// A random number of a place, so that threads may come in any order (Steele et al. 2014: SplitMix64).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A number of a normal distribution for each place.
double noise_at(uint32_t seed, size_t place) {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
  const uint64_t start = mix(kStep * (uint64_t{seed} + 1)) + kStep * (2 * uint64_t{place});
  const auto uniform = [](uint64_t bits) { return (double(bits >> 11) + 0.5) / 9007199254740992.0; };
  return std::sqrt(-2 * std::log(uniform(mix(start)))) * std::cos(2 * std::numbers::pi * uniform(mix(start + kStep)));
}

double fraction(double x) { return x - std::floor(x); }

struct Source {
  const KokoroSound& w;
  size_t n, n_harmonics;
  double* phases;  ///< [n_harmonics, n]: turns at the middle of each value of the pitch
  const float* pitch;
  float* sound;  ///< [n * n_samples]
  double noise_scale;
};

void find_phases(const Source& s) {
  for (size_t h = 0; h < s.n_harmonics; ++h) {
    double turns = 0;
    for (size_t i = 0; i < s.n; ++i) {
      turns += fraction(double(s.pitch[i]) * double(h + 1) / double(kSpeechRate));
      s.phases[h * s.n + i] = turns * double(s.w.n_samples());
    }
  }
}

// Between the middles of two values, phases are interpolated. A sum of independent noises is one noise.
void write_source(const Source& s, uint32_t seed, size_t first, size_t n) {
  const auto n_each = double(s.w.n_samples());
  for (size_t j = first; j < first + n; ++j) {
    const double at = std::max((double(j) + 0.5) / n_each - 0.5, 0.0);
    const auto before = static_cast<size_t>(at);
    const size_t after = std::min(before + 1, s.n - 1);
    const double share = at - double(before);
    const bool voiced = double(s.pitch[j / s.w.n_samples()]) > kVoiced;
    double sum = double(s.w.source_bias.data()[0]);
    for (size_t h = 0; h < s.n_harmonics && voiced; ++h) {
      const double* phases = s.phases + h * s.n;
      const double turns = phases[before] + share * (phases[after] - phases[before]);
      sum += double(s.w.source_weight.data()[h]) * kAmplitude *
             double(std::sin(float(2 * std::numbers::pi * fraction(turns))));
    }
    sum += s.noise_scale * (voiced ? kVoicedNoise : kUnvoicedNoise) * noise_at(seed, j);
    s.sound[j] = float(std::tanh(sum));
  }
}

// The spectrum of a windowed part; at the ends, the sound is mirrored, so that the first and the last part are
// symmetric, and their spectra real: the sign of what rounding leaves would choose between the phases pi and -pi.
void transform_row(const KokoroSound& w, const float* sound, size_t n, size_t t, float* y) {
  const auto n_fft = static_cast<ptrdiff_t>(w.n_fft), last = static_cast<ptrdiff_t>(n) - 1;
  const size_t n_bins = w.n_bins();
  const bool is_symmetric = t == 0 || t * w.hop == n;
  float part[512];
  for (ptrdiff_t i = 0; i < n_fft; ++i) {
    ptrdiff_t at = std::abs(static_cast<ptrdiff_t>(t * w.hop) + i - n_fft / 2);
    if (at > last) at = 2 * last - at;
    part[i] = sound[at] * w.window[static_cast<size_t>(i)];
  }
  for (size_t k = 0; k < n_bins; ++k) {
    const float real = vec::dot(part, w.cosines.data() + k * w.n_fft, w.n_fft);
    // The first and the last value of a real sound's spectrum are real.
    const bool is_real = k == 0 || k + 1 == n_bins || is_symmetric;
    const float imaginary = is_real ? 0.0f : -vec::dot(part, w.sines.data() + k * w.n_fft, w.n_fft);
    y[k] = std::sqrt(real * real + imaginary * imaginary);
    y[n_bins + k] = std::atan2(imaginary, real);
  }
}

// A spectrum to a windowed part of the sound [n_fft], over the spectrum.
void invert_row(const KokoroSound& w, float* row) {
  const size_t n_bins = w.n_bins();
  float real[257], imaginary[257];
  for (size_t k = 0; k < n_bins; ++k) {
    const bool is_single = k == 0 || k + 1 == n_bins;
    const float magnitude = std::exp(row[k]) * (is_single ? 1.0f : 2.0f) / float(w.n_fft);
    const float phase = std::sin(row[n_bins + k]);
    real[k] = magnitude * std::cos(phase);
    imaginary[k] = is_single ? 0.0f : magnitude * std::sin(phase);
  }
  for (size_t i = 0; i < w.n_fft; ++i) {
    float sum = 0;
    for (size_t k = 0; k < n_bins; ++k)
      sum += real[k] * w.cosines[k * w.n_fft + i] - imaginary[k] * w.sines[k * w.n_fft + i];
    row[i] = sum * w.window[i];
  }
}

// Sample i of the sum of overlapping parts, divided by that of the squared windows.
float overlap(const KokoroSound& w, const float* parts, size_t n_rows, size_t width, size_t i) {
  const size_t at = i + w.n_fft / 2, last = std::min(at / w.hop, n_rows - 1);
  const size_t first = at < w.n_fft ? 0 : (at - w.n_fft) / w.hop + 1;
  float sum = 0, weight = 0;
  for (size_t t = first; t <= last; ++t) {
    const size_t inside = at - t * w.hop;
    sum += parts[t * width + inside];
    weight += w.window[inside] * w.window[inside];
  }
  return weight > 1e-11f ? std::clamp(sum / weight, -1.0f, 1.0f) : 0.0f;
}

}  // namespace

void add_source(StepList& s, const KokoroSound& w, uint32_t seed, const float* pitch, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_harmonics = w.source_weight.n, n_sound = n * w.n_samples();
  auto* phases = reinterpret_cast<double*>(s.arena.take(2, n_harmonics, n));
  float* sound = s.arena.take(n_sound);
  double squares = 0;
  if (!s.counting())
    for (size_t h = 0; h < n_harmonics; ++h)
      squares += double(w.source_weight.data()[h]) * double(w.source_weight.data()[h]);
  const Source source{w, n, n_harmonics, phases, pitch, sound, std::sqrt(squares)};
  Pool& pool = s.pool;
  s.add([=] { find_phases(source); });
  s.add_parts(n_sound, kSamplesOfStep, [=, &pool](size_t first, size_t count) {
    pool.parallel_for(count, kAtOnce, [&](size_t begin, size_t end, size_t) {
      write_source(source, seed, first + begin, end - begin);
    });
  });
  s.add_parts(n * w.n_up + 1, kSpectraOfStep, [=, &pool, &w](size_t first, size_t rows) {
    pool.parallel_for(rows, kAtOnce, [&](size_t begin, size_t end, size_t) {
      for (size_t t = first + begin; t < first + end; ++t) transform_row(w, sound, n_sound, t, y + t * (w.n_fft + 2));
    });
  });
}

void add_samples(StepList& s, const KokoroSound& w, float* spectra, size_t n_rows, std::vector<float>& samples) {
  const size_t width = w.n_fft + 2;
  float* to = s.counting() ? nullptr : samples.data();
  Pool& pool = s.pool;
  s.add_parts(n_rows, kSpectraOfStep, [=, &pool, &w](size_t first, size_t rows) {
    pool.parallel_for(rows, kAtOnce, [&](size_t begin, size_t end, size_t) {
      for (size_t t = first + begin; t < first + end; ++t) invert_row(w, spectra + t * width);
    });
  });
  s.add_parts((n_rows - 1) * w.hop, 8 * kSamplesOfStep, [=, &pool, &w](size_t first, size_t count) {
    pool.parallel_for(count, kAtOnce, [&](size_t begin, size_t end, size_t) {
      for (size_t i = first + begin; i < first + end; ++i) to[i] = overlap(w, spectra, n_rows, width, i);
    });
  });
}

}  // namespace ggufscope
