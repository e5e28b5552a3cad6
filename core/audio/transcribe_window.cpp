// The tokens of one window: the prompt, then greedy decoding, sampling or beam search, and the checks of the result.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "audio/transcribe.hpp"

namespace ggufscope {
namespace {

constexpr float kHistoryBelow = 0.5f;  // from this temperature on, the prompt leaves out the previous text
constexpr double kWorst = -std::numeric_limits<double>::infinity();

}  // namespace

size_t Transcriber::n_sequences() const {
  const bool drawn = temperatures_[temperature_] > 0;
  return std::max<size_t>(1, drawn ? options_.best_of : options_.beam_size);
}

std::vector<int32_t> Transcriber::make_prompt() const {
  std::vector<int32_t> prompt;
  const size_t max = model_.hparams().decoder.n_ctx / 2;
  const bool fixed = options_.carry_prompt && !fixed_context_.empty();
  if (temperatures_[temperature_] < kHistoryBelow && (fixed || !context_.empty())) {
    prompt.push_back(vocabulary_.previous());
    if (fixed) prompt.insert(prompt.end(), fixed_context_.begin(), fixed_context_.end());
    const size_t n = std::min(max - std::min(max, prompt.size()), context_.size());
    prompt.insert(prompt.end(), context_.end() - static_cast<std::ptrdiff_t>(n), context_.end());
  }
  prompt.insert(prompt.end(), task_.begin(), task_.end());
  return prompt;
}

uint32_t Transcriber::take_cell() {
  const auto free = std::find(cell_users_.begin(), cell_users_.end(), 0);
  *free = 1;  // start_prompt() reserved enough cells for all sequences
  return static_cast<uint32_t>(free - cell_users_.begin());
}

void Transcriber::retain(std::span<const uint32_t> cells, int n) {
  for (const uint32_t cell : cells) cell_users_[cell] = static_cast<uint16_t>(cell_users_[cell] + n);
}

std::vector<CellRun> Transcriber::runs_of(std::span<const uint32_t> cells) {
  std::vector<CellRun> runs;
  for (const uint32_t cell : cells) {
    if (!runs.empty() && runs.back().end == cell)
      ++runs.back().end;
    else
      runs.push_back({cell, cell + 1});
  }
  return runs;
}

Result<void> Transcriber::start_prompt() {
  const size_t n = n_sequences(), n_ctx = model_.hparams().decoder.n_ctx;
  while (sequences_.size() < n) {
    sequences_.emplace_back();
    sequences_.back().random.seed(static_cast<uint32_t>(sequences_.size() - 1));
  }
  prompt_ = make_prompt();
  // All sequences share the prompt's cells. Each sequence adds at most half a context.
  const size_t n_cells = std::max(n_ctx, prompt_.size() + n * (n_ctx / 2));
  if (const Result<void> room = state_.reserve_cells(static_cast<uint32_t>(n_cells)); !room) return room;
  cell_users_.assign(state_.n_cells(), 0);
  // The logits at the start-of-transcript token give the probability of no speech. The logits at the prompt's end
  // predict the first token.
  const auto last = static_cast<uint32_t>(prompt_.size() - 1), sot = last + 1 - static_cast<uint32_t>(task_.size());
  const uint32_t rows[] = {sot, last};
  const std::span<const uint32_t> output_rows = std::span(rows).subspan(sot == last ? 1 : 0);
  phase_ = Phase::kPrompted;
  return ask(state_.request_text(prompt_, output_rows));
}

void Transcriber::end_prompt() {
  const size_t n = n_sequences(), n_vocab = static_cast<size_t>(vocabulary_.n_vocab());
  const std::span<const float> logits = request_.logits;
  std::vector<float> log_p(n_vocab);
  log_softmax(logits.first(n_vocab), log_p);
  no_speech_p_ = std::exp(log_p[static_cast<size_t>(vocabulary_.no_speech())]);
  const std::span<const float> first = logits.last(n_vocab);

  std::vector<uint32_t> cells(prompt_.size());
  for (uint32_t i = 0; i < cells.size(); ++i) cells[i] = i;
  for (size_t j = 0; j < n; ++j) {
    DecodedSequence& s = sequences_[j];
    const std::mt19937 random = s.random;
    s = DecodedSequence();
    s.random = random;
    s.seek_delta = window_ticks();
    s.mean_log_p = s.score = kWorst;
    s.cells = cells;
    retain(cells, 1);
    s.logits.assign(first.begin(), first.end());
    apply_rules(vocabulary_, options_, suppressed_, temperatures_[temperature_], s);
  }
  n_tokens_ = 0;
}

// Beam search: collects the continuations of every beam and keeps the n with the highest summed log probabilities.
void Transcriber::choose_beams(size_t i) {
  struct Candidate {
    size_t from;
    TokenData token;
    double sum;
  };
  std::vector<Candidate> candidates;
  const size_t n = n_sequences();
  for (size_t j = 0; j < n; ++j) {
    DecodedSequence& s = sequences_[j];
    if (s.completed || s.failed) continue;
    for (const TokenData& token : sample_several(vocabulary_, s, options_.beam_size))
      candidates.push_back({j, token, s.sum_log_p + double(token.log_p)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.sum > b.sum; });
  const auto same = [&](const Candidate& a, const Candidate& b) {
    const auto equal = [](const TokenData& x, const TokenData& y) { return x.id == y.id; };
    const auto &x = sequences_[a.from].tokens, &y = sequences_[b.from].tokens;
    return a.token.id == b.token.id && std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  std::vector<DecodedSequence> next(n);
  size_t at = 0;
  for (size_t j = 0; j < n; ++j) {
    if (sequences_[j].completed || sequences_[j].failed) continue;
    if (at >= candidates.size()) at = 0;
    const Candidate& chosen = candidates[at++];
    while (at < candidates.size() && same(candidates[at], chosen) && i > 0) ++at;
    const DecodedSequence& from = sequences_[chosen.from];
    next[j].tokens = from.tokens;
    next[j].tokens.push_back(chosen.token);
    next[j].cells = from.cells;
    next[j].seek_delta = from.seek_delta;
    next[j].has_timestamp = from.has_timestamp;
    next[j].sum_log_p = chosen.sum;
    next[j].n_result = from.n_result;
  }
  for (size_t j = 0; j < n; ++j) {
    DecodedSequence& s = sequences_[j];
    if (s.completed || s.failed) continue;
    retain(next[j].cells, 1);
  }
  for (size_t j = 0; j < n; ++j) {
    DecodedSequence& s = sequences_[j];
    if (s.completed || s.failed) continue;
    retain(s.cells, -1);
    s.tokens = std::move(next[j].tokens);
    s.cells = std::move(next[j].cells);
    s.seek_delta = next[j].seek_delta;
    s.has_timestamp = next[j].has_timestamp;
    s.n_result = next[j].n_result;
    s.sum_log_p = next[j].sum_log_p;
  }
}

// Evaluates the token that was just sampled. It may set how far the window moves, complete the sequence, or fail it.
void Transcriber::update(DecodedSequence& s, size_t i) {
  const TokenData& token = s.tokens.back();
  const int64_t n = static_cast<int64_t>(i);
  if (token.id > vocabulary_.first_timestamp()) {
    const int delta = 2 * (token.id - vocabulary_.first_timestamp());
    if (s.has_timestamp && s.seek_delta > delta && s.n_result < n) {
      s.failed = true;  // the timestamp goes back in time
      return;
    }
    s.seek_delta = delta;
    s.n_result = static_cast<int>(i + 1);
    s.has_timestamp = true;
  }
  const bool at_end = seek_ + s.seek_delta + kShortest >= seek_end_;
  if (token.id == vocabulary_.eot() || (options_.max_tokens > 0 && i >= options_.max_tokens) ||
      (s.has_timestamp && at_end)) {
    if (s.n_result == 0 && options_.timestamps) {
      if (!at_end) {
        s.failed = true;
        return;
      }
      s.n_result = static_cast<int>(i + 1);
    }
    if (options_.single_segment || !options_.timestamps) {
      s.n_result = static_cast<int>(i + 1);
      s.seek_delta = window_ticks();
    }
    s.completed = true;
    return;
  }
  const size_t max = model_.hparams().decoder.n_ctx / 2 - 4;
  if (i + 1 == max && (s.n_result == 0 || s.seek_delta < window_ticks() / 2))
    s.failed = true;  // the model repeats itself
}

Result<void> Transcriber::next_token() {
  const size_t n = n_sequences(), i = n_tokens_;
  const bool beams = temperatures_[temperature_] <= 0 ? options_.beam_size > 1 : false;
  if (beams) {
    choose_beams(i);
  } else {
    for (size_t j = 0; j < n; ++j) {
      DecodedSequence& s = sequences_[j];
      if (s.completed || s.failed) continue;
      s.tokens.push_back(sample(vocabulary_, s, temperatures_[temperature_] < 1e-6f));
      s.sum_log_p += double(s.tokens.back().log_p);
    }
  }
  bool all = true;
  for (size_t j = 0; j < n; ++j) {
    DecodedSequence& s = sequences_[j];
    if (!s.completed && !s.failed) update(s, i);
    all = all && (s.completed || s.failed);
  }
  if (all || n_tokens_ + 1 >= model_.hparams().decoder.n_ctx / 2 - 4) return finish_temperature();
  const Result<void> asked = ask_next();
  ++n_tokens_;
  phase_ = Phase::kToken;
  return asked;
}

Result<void> Transcriber::ask_next() {
  DecodeRequest request;
  going_.clear();
  for (size_t j = 0; j < n_sequences(); ++j) {
    DecodedSequence& s = sequences_[j];
    if (s.completed || s.failed) continue;
    const uint32_t cell = take_cell();
    s.cells.push_back(cell);
    const auto position = static_cast<uint32_t>(prompt_.size() + n_tokens_);
    request.tokens.push_back({s.tokens.back().id, position, cell, {}, true});
    request.runs.push_back(runs_of(s.cells));
    going_.push_back(j);
  }
  return ask(std::move(request));
}

// What was computed of the tokens of ask_next().
void Transcriber::take_logits() {
  const auto n_vocab = static_cast<size_t>(vocabulary_.n_vocab());
  for (size_t t = 0; t < going_.size(); ++t) {
    DecodedSequence& s = sequences_[going_[t]];
    const float* const row = request_.logits.data() + t * n_vocab;
    s.logits.assign(row, row + n_vocab);
    apply_rules(vocabulary_, options_, suppressed_, temperatures_[temperature_], s);
  }
}

void Transcriber::rate(DecodedSequence& s) const {
  if (s.n_result == 0) return;
  double sum = 0;
  for (int i = 0; i < s.n_result; ++i) sum += double(s.tokens[static_cast<size_t>(i)].log_p);
  s.mean_log_p = sum / s.n_result;
  double penalty = s.n_result;
  if (options_.length_penalty > 0) penalty = std::pow((5 + penalty) / 6, double(options_.length_penalty));
  s.score = sum / penalty;
  std::map<int32_t, int> counts;
  const int first = std::max(0, s.n_result - 32);
  for (int i = first; i < s.n_result; ++i) ++counts[s.tokens[static_cast<size_t>(i)].id];
  s.entropy = 0;
  for (const auto& [id, count] : counts) {
    const double p = count / double(s.n_result - first);
    s.entropy -= p * std::log(p);
  }
}

Result<void> Transcriber::finish_temperature() {
  double best_score = kWorst;
  for (size_t j = 0; j < n_sequences(); ++j) {
    DecodedSequence& s = sequences_[j];
    if (s.failed) continue;
    s.tokens.resize(static_cast<size_t>(s.n_result));
    rate(s);
    if (s.n_result > 32 && s.entropy < double(options_.entropy_threshold)) {
      s.failed = true;
      continue;
    }
    if (best_score < s.score) {
      best_score = s.score;
      best_ = j;
    }
  }
  const DecodedSequence& best = sequences_[best_];
  const bool bad = best.failed || (best.mean_log_p < double(options_.log_probability_threshold) &&
                                   no_speech_p_ < options_.no_speech_threshold);
  if (bad && temperature_ + 1 < temperatures_.size()) {
    ++temperature_;
    phase_ = Phase::kPrompt;
    return {};
  }
  return finish_window();
}

}  // namespace ggufscope
