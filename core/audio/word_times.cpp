// Token times by alignment, as in OpenAI's code: the text is decoded once more, and the cross-attention of the
// alignment heads shows which frames belong to which token. Dynamic time warping finds the path through them.
#include <algorithm>
#include <array>
#include <cmath>

#include "audio/transcribe.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMedian = 7;  // width of the filter over frames

// Divides each frame's weights by their deviation over the tokens, after subtracting their mean.
void standardize(float* weights, size_t n_tokens, size_t n_frames, size_t stride) {
  for (size_t f = 0; f < n_frames; ++f) {
    double sum = 0, squares = 0;
    for (size_t t = 0; t < n_tokens; ++t) sum += double(weights[t * stride + f]);
    const double mean = sum / double(n_tokens);
    for (size_t t = 0; t < n_tokens; ++t) {
      const double d = double(weights[t * stride + f]) - mean;
      squares += d * d;
    }
    const double deviation = std::sqrt(squares / double(n_tokens)) + 1e-12;
    for (size_t t = 0; t < n_tokens; ++t)
      weights[t * stride + f] = static_cast<float>((double(weights[t * stride + f]) - mean) / deviation);
  }
}

// Adds the medians of kMedian neighbours, mirrored at the ends.
void add_medians(const float* row, size_t n, float* sum) {
  const auto count = static_cast<std::ptrdiff_t>(n), half = static_cast<std::ptrdiff_t>(kMedian / 2);
  for (std::ptrdiff_t f = 0; f < count; ++f) {
    std::array<float, kMedian> near{};
    for (std::ptrdiff_t k = -half; k <= half; ++k) {
      std::ptrdiff_t at = std::abs(f + k);
      if (at >= count) at = std::max<std::ptrdiff_t>(0, 2 * (count - 1) - at);
      near[static_cast<size_t>(k + half)] = row[std::min(at, count - 1)];
    }
    std::nth_element(near.begin(), near.begin() + half, near.end());
    sum[f] += near[kMedian / 2];
  }
}

}  // namespace

std::vector<uint32_t> warp(std::span<const float> similarity, size_t n_rows, size_t n_columns) {
  enum : uint8_t { kBoth, kRow, kColumn };
  std::vector<uint8_t> steps(n_rows * n_columns);
  std::vector<double> above(n_columns + 1, 1e300), row(n_columns + 1, 1e300);
  above[0] = 0;
  for (size_t i = 0; i < n_rows; ++i) {
    row[0] = 1e300;
    for (size_t j = 0; j < n_columns; ++j) {
      const double both = above[j], one = above[j + 1], other = row[j];
      const uint8_t step = both < one && both < other ? kBoth : one < both && one < other ? kRow : kColumn;
      steps[i * n_columns + j] = step;
      row[j + 1] = (step == kBoth ? both : step == kRow ? one : other) - double(similarity[i * n_columns + j]);
    }
    std::swap(above, row);
  }
  std::vector<uint32_t> first(n_rows, 0);
  for (size_t i = n_rows, j = n_columns; i > 0 && j > 0;) {
    first[i - 1] = static_cast<uint32_t>(j - 1);
    const uint8_t step = steps[(i - 1) * n_columns + j - 1];
    if (step != kColumn) --i;
    if (step != kRow) --j;
  }
  return first;
}

// The tokens of the window's text.
std::vector<TokenData*> Transcriber::said() {
  std::vector<TokenData*> said;
  for (TokenData& token : sequences_[best_].tokens)
    if (token.id < vocabulary_.eot()) said.push_back(&token);
  return said;
}

size_t Transcriber::n_aligned_frames() const {
  const int64_t ticks = std::min<int64_t>(window_ticks(), seek_end_ - seek_);
  return std::min(size_t{state_.n_audio()}, static_cast<size_t>(ticks / 2));
}

// Asks for the text once more. False: there is nothing to align.
Result<bool> Transcriber::ask_alignment() {
  const std::vector<TokenData*> said = this->said();
  std::vector<int32_t> ids = task_;
  if (options_.timestamps) ids.push_back(vocabulary_.no_timestamps());
  for (const TokenData* token : said) ids.push_back(token->id);
  ids.push_back(vocabulary_.eot());
  if (said.empty() || n_aligned_frames() == 0 || ids.size() > model_.hparams().decoder.n_ctx) return false;
  DecodeRequest request = state_.request_text(ids, {});
  request.watches = true;
  const Result<void> asked = ask(std::move(request));
  return asked ? Result<bool>(true) : std::unexpected(asked.error());
}

void Transcriber::align() {
  const std::vector<TokenData*> said = this->said();
  const size_t stride = state_.n_audio(), n_frames = n_aligned_frames(), n_ids = request_.tokens.size();
  const size_t first = n_ids - said.size() - 2;  // this row predicts the first token of the text
  const size_t n_rows = said.size() + 1;
  std::vector<float> mean(n_rows * n_frames);
  for (size_t h = 0; h < model_.hparams().alignment_heads.size(); ++h) {
    float* const of_head = request_.weights.data() + h * n_ids * stride;
    standardize(of_head, n_ids, n_frames, stride);
    for (size_t r = 0; r < n_rows; ++r)
      add_medians(of_head + (first + r) * stride, n_frames, mean.data() + r * n_frames);
  }
  const std::vector<uint32_t> begins = warp(mean, n_rows, n_frames);
  for (size_t i = 0; i < said.size(); ++i) {
    said[i]->aligned_t0 = seek_ + 2 * int64_t{begins[i]};
    said[i]->aligned_t1 = seek_ + 2 * int64_t{begins[i + 1]};
  }
}

}  // namespace ggufscope
