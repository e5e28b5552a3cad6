// The samplers, in the order in which they are applied to the candidates.
#include "engine/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/simd.hpp"
#include "gguf/access.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMaxAdjusted = 1e38f;  // differences of two such logits are finite

// What to subtract from logits before they are divided by a temperature: 0, or the largest one if its quotient has no
// float. The softmax is the same, and a tiny temperature prefers the best, as 0 does.
float shift_before(float largest, float temperature) {
  return std::isfinite(largest) && !std::isfinite(largest / temperature) ? largest : 0.0f;
}

bool better(const Candidate& a, const Candidate& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; }

bool is_number(float logit) { return logit > -kInfinity; }  // false for NaN too

// A penalty makes a token unlikely. It does not forbid it.
float finite(float logit) { return std::clamp(logit, -kMaxAdjusted, kMaxAdjusted); }

// top-n-sigma: removes logits more than n standard deviations below the best.
void cut_sigma(Candidates& candidates, float n) {
  double sum = 0;
  for (const Candidate& c : candidates.items()) sum += static_cast<double>(c.logit);
  const double mean = sum / static_cast<double>(candidates.size());
  double squares = 0;
  for (const Candidate& c : candidates.items())
    squares += (static_cast<double>(c.logit) - mean) * (static_cast<double>(c.logit) - mean);
  const float sigma = static_cast<float>(std::sqrt(squares / static_cast<double>(candidates.size())));
  const float min = candidates.sorted(0).logit - n * sigma;
  candidates.filter([min](const Candidate& c) { return c.logit >= min; });
}

// Locally typical sampling (Meister et al. 2022): keeps the candidates whose surprise is nearest to the entropy, until
// their probabilities add up to p. VocabularyScan does the same for a whole vocabulary.
void cut_typical(Candidates& candidates, float p) {
  candidates.normalize();
  double entropy = 0;
  for (const Candidate& c : candidates.items())
    if (c.p > 0) entropy -= static_cast<double>(c.p) * std::log(static_cast<double>(c.p));
  struct Shifted {
    double distance;
    Candidate candidate;
  };
  std::vector<Shifted> order;
  order.reserve(candidates.size());
  for (const Candidate& c : candidates.items())
    if (c.p > 0) order.push_back({std::abs(-std::log(static_cast<double>(c.p)) - entropy), c});
  std::stable_sort(order.begin(), order.end(),
                   [](const Shifted& a, const Shifted& b) { return a.distance < b.distance; });
  std::vector<Candidate> kept;
  double mass = 0;
  for (const Shifted& s : order) {
    kept.push_back(s.candidate);
    mass += static_cast<double>(s.candidate.p);
    if (mass > static_cast<double>(p)) break;
  }
  candidates.refill([&](std::vector<Candidate>& items) { items = std::move(kept); });
}

// Keeps the most likely candidates whose probabilities, computed before, add up to p.
void keep_top_p(Candidates& candidates, float p) {
  float mass = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    mass += candidates.sorted(i).p;
    if (mass >= p) return candidates.keep_best(i + 1);
  }
}

void cut_top_p(Candidates& candidates, float p) {
  candidates.normalize();
  keep_top_p(candidates, p);
}

// Keeps the candidates whose surprise is at most mu bits, at least the most likely one. Sorting all of a large
// vocabulary would take 40 ms, and a logarithm of each 2 ms: only those near the bound need one.
void keep_expected(Candidates& candidates, float mu) {
  const auto is_expected = [mu](float p) { return -std::log2(p) <= mu; };
  float max = 0;
  for (const Candidate& c : candidates.items()) max = std::max(max, c.p);
  if (!is_expected(max)) return candidates.keep_best(1);
  constexpr float kMargin = 1e-4f;
  const float bound = std::exp2(-mu);
  const float yes = bound * (1 + kMargin), no = bound * (1 - kMargin);
  candidates.filter([&](const Candidate& c) { return c.p >= yes || (c.p >= no && is_expected(c.p)); });
}

void cut_min_p(Candidates& candidates, float p) {
  const float min = candidates.sorted(0).logit + std::log(p);
  candidates.filter([min](const Candidate& c) { return c.logit >= min; });
}

// True if one of 16 logits is above the smallest one that is kept. For most groups of 16 none is.
bool any_above(const float* logits, float min) {
  const v128_t bound = wasm_f32x4_splat(min);
  const auto above = [&](size_t i) { return wasm_f32x4_gt(wasm_v128_load(logits + i), bound); };
  return wasm_v128_any_true(wasm_v128_or(wasm_v128_or(above(0), above(4)), wasm_v128_or(above(8), above(12))));
}

}  // namespace

void Candidates::assign(std::span<const float> logits) {
  items_.clear();
  n_sorted_ = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    if (is_number(logits[i])) items_.push_back({static_cast<int32_t>(i), logits[i], 0});
}

void Candidates::assign_top(std::span<const float> logits, size_t k) {
  items_.clear();
  n_sorted_ = 0;
  const size_t room = 2 * k + 64;
  float min = -kInfinity;  // an item at or below it cannot be among the best, because k earlier items are as good
  constexpr size_t kTogether = 16;
  for (size_t i = 0; i < logits.size();) {
    const size_t end = std::min(i + kTogether, logits.size());
    if (end - i == kTogether && !any_above(logits.data() + i, min)) {
      i = end;
      continue;
    }
    for (; i < end; ++i) {
      if (!(logits[i] > min)) continue;
      items_.push_back({static_cast<int32_t>(i), logits[i], 0});
      if (items_.size() < room) continue;
      std::nth_element(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(k - 1), items_.end(), better);
      items_.resize(k);
      min = items_[k - 1].logit;
    }
  }
  keep_best(k);
}

void Candidates::sort_until(size_t n) {
  // The sorted part doubles, so that the total time is nearly linear in the number of items read.
  const size_t until = std::min(items_.size(), std::max<size_t>({n, 64, 2 * n_sorted_}));
  const auto at = [this](size_t i) { return items_.begin() + static_cast<ptrdiff_t>(i); };
  if (until < items_.size()) std::nth_element(at(n_sorted_), at(until), items_.end(), better);
  std::sort(at(n_sorted_), at(until), better);
  n_sorted_ = until;
}

void Candidates::keep_best(size_t n) {
  if (n < items_.size()) {
    if (n_sorted_ < n)
      std::nth_element(items_.begin() + static_cast<ptrdiff_t>(n_sorted_), items_.begin() + static_cast<ptrdiff_t>(n),
                       items_.end(), better);
    items_.resize(n);
  }
  n_sorted_ = std::min(n_sorted_, items_.size());
}

void Candidates::drop_best(size_t n) {
  if (n > n_sorted_) sort_until(n);
  items_.erase(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(n));
  n_sorted_ -= n;
}

void Candidates::divide_logits(float divisor) {
  if (items_.empty()) return;
  const float shift = shift_before(largest(), divisor);
  for (Candidate& c : items_) c.logit = (c.logit - shift) / divisor;
}

float Candidates::largest() {
  constexpr size_t kMany = 4096;  // so many are not sorted for it
  if (n_sorted_ != 0 || items_.size() <= kMany) return sorted(0).logit;
  return std::max_element(items_.begin(), items_.end(), [](const auto& a, const auto& b) { return a.logit < b.logit; })
      ->logit;
}

void Candidates::normalize() {
  if (items_.empty()) return;
  const float max = largest();
  if (max == kInfinity) {  // infinite ones share all probability
    filter([](const Candidate& c) { return c.logit == kInfinity; });
    for (Candidate& c : items_) c.p = 1.0f / static_cast<float>(items_.size());
    return;
  }
  double sum = 0;
  for (size_t i = 0; i < items_.size(); i += 4) {
    float four[4] = {};
    const size_t n = std::min<size_t>(4, items_.size() - i);
    for (size_t k = 0; k < n; ++k) four[k] = items_[i + k].logit - max;
    wasm_v128_store(four, vec::exp4(wasm_v128_load(four)));
    for (size_t k = 0; k < n; ++k) {
      items_[i + k].p = four[k];
      sum += static_cast<double>(four[k]);
    }
  }
  const double share = 1 / sum;
  for (Candidate& c : items_) c.p = static_cast<float>(static_cast<double>(c.p) * share);
}

namespace {

// A range as the table of options writes it. It is parsed when this is compiled.
struct OptionRange {
  double min = -1e9, max = INT32_MAX;
  bool above = false;  // the minimum itself is out of it
  bool ends = false;   // only the two numbers are in it
};

consteval OptionRange range_of(std::string_view text) {
  OptionRange range;
  size_t at = 0;
  const auto number = [&] {
    const bool negative = text[at] == '-';
    double value = 0;
    for (at += negative; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      value = 10 * value + (text[at] - '0');
    return negative ? -value : value;
  };
  if (text.empty()) return range;
  range.min = number();
  range.above = text[at] == '<';
  at += range.above;
  range.ends = text[at] == '|';
  at += range.ends ? 1 : 2;
  if (at < text.size()) range.max = number();
  return range;
}

// The file's number, if it is in the range.
std::optional<double> default_of(const Gguf& gguf, std::string_view key, const OptionRange& range) {
  const std::optional<double> value = get_f64(gguf, key);
  if (!value || !(*value >= range.min && *value <= range.max) || (range.above && *value == range.min) ||
      (range.ends && *value != range.min && *value != range.max))
    return std::nullopt;
  return value;
}

void read_default(const Gguf& gguf, std::string_view key, const OptionRange& range, float& out) {
  if (const auto value = default_of(gguf, key, range)) out = static_cast<float>(*value);
}

void read_default(const Gguf& gguf, std::string_view key, const OptionRange& range, int32_t& out) {
  const auto value = default_of(gguf, key, range);
  if (value && get_i64(gguf, key)) out = static_cast<int32_t>(*value);
}

}  // namespace

SamplerOptions sampler_defaults(const Gguf& gguf) {
  SamplerOptions o;
#define SAMPLER_OPTION(type, member, name, value, key, request, range, ...) \
  if constexpr (key[0] != '\0') {                                           \
    static constexpr OptionRange kRange = range_of(range);                  \
    read_default(gguf, "general.sampling." key, kRange, o.member);          \
  }
#include "engine/sampler_options.inc"
  return o;
}

Sampler::Sampler(SamplerOptions options, DryBreakers breakers)
    : options_(std::move(options)),
      breakers_(std::move(breakers)),
      random_(options_.seed),
      mirostat_mu_(std::min(2 * options_.mirostat_tau, kMaxAdjusted)) {}

double Sampler::uniform() { return (static_cast<double>(random_()) + 0.5) * 0x1p-32; }

void Sampler::adjust_logits(std::span<const float> logits, const std::vector<bool>& allowed) {
  work_.assign(logits.begin(), logits.end());
  for (const auto& [id, bias] : options_.logit_bias)
    if (id >= 0 && static_cast<size_t>(id) < work_.size()) work_[static_cast<size_t>(id)] += bias;
  apply_penalties();
  apply_dry();
  if (!allowed.empty())
    for (size_t i = 0; i < work_.size(); ++i)
      if (i >= allowed.size() || !allowed[i]) work_[i] = -kInfinity;
}

void Sampler::apply_penalties() {
  const SamplerOptions& o = options_;
  if (o.penalty_last_n == 0 || (o.repeat_penalty == 1.0f && o.frequency_penalty == 0.0f && o.presence_penalty == 0.0f))
    return;
  const size_t n =
      o.penalty_last_n < 0 ? history_.size() : std::min(history_.size(), static_cast<size_t>(o.penalty_last_n));
  std::unordered_map<int32_t, int32_t> counts;
  for (const int32_t id : std::span(history_).last(n)) ++counts[id];
  for (const auto& [id, count] : counts) {
    if (id < 0 || static_cast<size_t>(id) >= work_.size()) continue;
    float& logit = work_[static_cast<size_t>(id)];
    if (!std::isfinite(logit)) continue;
    // The paper always divides, which would favour negative logits, so these are multiplied instead.
    logit = finite(logit <= 0 ? logit * o.repeat_penalty : logit / o.repeat_penalty);
    logit = finite(logit - (static_cast<float>(count) * o.frequency_penalty + o.presence_penalty));
  }
}

// DRY ("Don't repeat yourself", p-e-w): the logit of a token that would extend a repetition of allowed_length tokens or
// more is reduced by multiplier * base ^ (length - allowed_length).
void Sampler::apply_dry() {
  const SamplerOptions& o = options_;
  if (o.dry_multiplier == 0.0f || o.dry_base < 1.0f || o.dry_last_n == 0) return;
  const size_t n = o.dry_last_n < 0 ? history_.size() : std::min(history_.size(), static_cast<size_t>(o.dry_last_n));
  const size_t allowed = static_cast<size_t>(std::max(o.dry_allowed_length, 0));
  if (n <= allowed) return;
  const auto breaks = [&](int32_t id) {
    return id >= 0 && static_cast<size_t>(id) < breakers_.breaks.size() && breakers_.breaks[static_cast<size_t>(id)];
  };
  // back(i): the i-th token from the end.
  const std::span<const int32_t> last = std::span<const int32_t>(history_).last(n);
  const auto back = [&](size_t i) { return last[n - 1 - i]; };
  size_t longest = 0;  // a repetition does not extend beyond a breaker
  while (longest < n && !breaks(back(longest))) ++longest;
  if (longest < allowed) return;
  // matches[i]: how many tokens up to and including back(i) equal the end of the text (the Z function of the reversed
  // text).
  std::vector<size_t> matches(n, 0);
  size_t left = 0, right = 0;
  std::unordered_map<int32_t, size_t> repeats;  // next token -> longest repetition that it would extend
  for (size_t i = 1; i < n; ++i) {
    size_t m = i < right ? std::min(right - i, matches[i - left]) : 0;
    while (i + m < n && back(m) == back(i + m)) ++m;
    matches[i] = m;
    if (i + m > right) left = i, right = i + m;
    const size_t length = std::min(m, longest);
    if (length >= allowed) {
      size_t& max = repeats[back(i - 1)];
      max = std::max(max, length);
    }
  }
  // llama.cpp's cap, so that the power stays a float.
  const double cap = o.dry_base > 1.000001f ? std::log(static_cast<double>(std::numeric_limits<float>::max())) /
                                                  std::log(static_cast<double>(o.dry_base))
                                            : 0;
  for (const auto& [id, length] : repeats) {
    if (id < 0 || static_cast<size_t>(id) >= work_.size() || breaks(id)) continue;
    double exponent = static_cast<double>(length - allowed);
    if (cap > 0) exponent = std::min(exponent, std::floor(cap));
    float& logit = work_[static_cast<size_t>(id)];
    if (!std::isfinite(logit)) continue;
    logit = finite(logit - o.dry_multiplier * static_cast<float>(std::pow(static_cast<double>(o.dry_base), exponent)));
  }
}

// Mirostat 2 (Basu et al. 2021), as in llama.cpp: removes candidates whose surprise is above mu.
void Sampler::run_mirostat() {
  Candidates& c = candidates_;
  if (options_.temperature > 0) {
    const int32_t best = argmax(work_);
    const float shift = best < 0 ? 0 : shift_before(work_[static_cast<size_t>(best)], options_.temperature);
    for (float& logit : work_) logit = (logit - shift) / options_.temperature;
  }
  if (options_.temperature > 0 && scan_.read(work_)) {
    // The logit with a surprise of mu bits, minus a margin, because rounded probabilities are compared below.
    const double min = static_cast<double>(scan_.max()) + scan_.log_sum() -
                       std::log(2.0) * static_cast<double>(std::max(mirostat_mu_, 0.0f)) - 1e-3;
    const float bound = std::min(static_cast<float>(min), scan_.max());
    c.refill([&](std::vector<Candidate>& items) { scan_.collect_above(bound, items); });
  } else {
    c.assign(work_);
    if (c.empty()) return;
    if (options_.temperature <= 0) c.keep_best(1);
    c.normalize();
  }
  keep_expected(c, mirostat_mu_);
  c.normalize();
}

// Applies typical sampling, top-p and min-p to the logits of the whole vocabulary. Returns false if all are off.
bool Sampler::cut_vocabulary() {
  const SamplerOptions& o = options_;
  const bool typical = o.typical_p < 1;
  if (!typical && o.min_p <= 0 && o.top_p >= 1) return false;
  if (!scan_.read(work_)) return false;
  Candidates& c = candidates_;
  c.refill([&](std::vector<Candidate>& items) {
    if (typical) {  // nearest to the entropy first, until the sum exceeds p
      scan_.collect_nearest(scan_.expected_logit(), static_cast<double>(o.typical_p), false, items);
    } else if (o.min_p > 0) {  // top-p and min-p both keep the best: the smaller number of candidates
      scan_.collect_above(scan_.max() + std::log(std::min(o.min_p, 1.0f)), items);
    } else {
      scan_.collect_nearest(static_cast<double>(scan_.max()), static_cast<double>(o.top_p), true, items);
    }
  });
  if (!typical && o.min_p > 0 && o.top_p < 1) keep_top_p(c, o.top_p);
  if (typical) {
    // Both keep the best. Min-p needs no order, so it goes first; top-p counts the mass of what it removed, too.
    if (o.top_p < 1) c.normalize();
    if (o.min_p > 0) cut_min_p(c, o.min_p);
    if (o.top_p < 1) keep_top_p(c, o.top_p);
  }
  return true;
}

void Sampler::run_chain() {
  const SamplerOptions& o = options_;
  Candidates& c = candidates_;
  if (o.mirostat == 2) return run_mirostat();
  const bool best_only = o.temperature <= 0 && o.xtc_probability <= 0 && o.typical_p >= 1;
  size_t k = o.top_k <= 0 ? work_.size() : static_cast<size_t>(o.top_k);
  if (best_only) k = 1;
  const bool whole = k >= work_.size() && o.top_n_sigma <= 0;
  if (!(whole && cut_vocabulary())) {
    if (o.top_n_sigma > 0 || k >= work_.size())
      c.assign(work_);
    else
      c.assign_top(work_, k);
    if (c.empty()) return;
    if (o.top_n_sigma > 0) {
      cut_sigma(c, o.top_n_sigma);
      c.keep_best(k);
    }
    if (o.typical_p < 1) cut_typical(c, o.typical_p);
    if (o.top_p < 1) cut_top_p(c, o.top_p);
    if (o.min_p > 0) cut_min_p(c, o.min_p);
  }
  if (o.xtc_probability > 0 && o.xtc_threshold <= 0.5f && c.size() >= 2 &&
      uniform() <= static_cast<double>(o.xtc_probability)) {
    c.normalize();  // XTC ("exclude top choices"): of those above the threshold, only the least likely is kept
    size_t above = 0;
    while (above < c.size() && c.sorted(above).p >= o.xtc_threshold) ++above;
    if (above >= 2) c.drop_best(above - 1);
  }
  if (o.temperature <= 0)
    c.keep_best(1);
  else
    c.divide_logits(o.temperature);
  c.normalize();
}

const Candidates& Sampler::distribution(std::span<const float> logits, const std::vector<bool>& allowed) {
  adjust_logits(logits, allowed);
  run_chain();
  if (!candidates_.empty()) (void)candidates_.sorted(candidates_.size() - 1);
  return candidates_;
}

Result<Candidate> Sampler::sample(std::span<const float> logits, const std::vector<bool>& allowed) {
  adjust_logits(logits, allowed);
  run_chain();
  if (candidates_.empty()) {
    if (!allowed.empty()) return fail(ErrorCode::kOutOfRange, "no token may follow here");
    return fail(ErrorCode::kOutOfRange, argmax(logits) < 0 ? "The model's logits are not numbers. Its weights may be "
                                                             "damaged: check their values, or fetch the file again."
                                                           : "the logit bias forbids every token");
  }
  Candidate chosen = candidates_.items().back();
  double left = uniform();
  for (const Candidate& c : candidates_.items()) {
    left -= static_cast<double>(c.p);
    if (left < 0) {
      chosen = c;
      break;
    }
  }
  if (options_.mirostat == 2 && chosen.p > 0) {
    const float change = options_.mirostat_eta * (-std::log2(chosen.p) - options_.mirostat_tau);
    mirostat_mu_ = std::clamp(mirostat_mu_ - change, -kMaxAdjusted, kMaxAdjusted);
  }
  return chosen;
}

LogProbabilities log_probabilities(std::span<const float> logits, int32_t token, size_t n_best) {
  Candidates candidates;
  candidates.assign_top(logits, std::max<size_t>(n_best, 1));
  if (candidates.empty()) return {-kInfinity, {}};
  const float max = candidates.sorted(0).logit;
  double sum = 0;
  for (const float logit : logits)
    if (is_number(logit)) sum += std::exp(static_cast<double>(logit) - static_cast<double>(max));
  const float log_sum = max + static_cast<float>(std::log(sum));
  LogProbabilities out{-kInfinity, {}};
  if (token >= 0 && static_cast<size_t>(token) < logits.size())
    out.token = logits[static_cast<size_t>(token)] - log_sum;
  for (size_t i = 0; i < std::min(n_best, candidates.size()); ++i)
    out.best.push_back({candidates.sorted(i).id, candidates.sorted(i).logit - log_sum});
  return out;
}

int32_t argmax(std::span<const float> logits) {
  int32_t best = -1;
  float max = -kInfinity;
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > max) max = logits[i], best = static_cast<int32_t>(i);
  return best;
}

}  // namespace ggufscope
