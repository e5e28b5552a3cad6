// A session's images: encoding them, and passes over texts in which they stand.
#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "engine/session.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxMediaBytes = size_t{256} << 20;  // of embeddings that are kept for when an image comes again

// Forgets what was made of images that no text has, where all together are too much.
template <class Texts>
void trim_media(MediaStore& store, const Texts& texts) {
  size_t bytes = 0;
  for (const auto& [id, medium] : store) bytes += medium.embeddings.size() * sizeof(float);
  if (bytes <= kMaxMediaBytes) return;
  for (auto& [id, medium] : store) {
    const auto has = [wanted = id](const auto& text) {
      return std::ranges::find(text.tokens, wanted) != text.tokens.end();
    };
    if (!std::ranges::any_of(texts, has)) medium.embeddings = {};
  }
}

}  // namespace

Result<void> Session::begin_image(const ImageView& image) {
  job_.reset();
  if (!vision_) return fail(ErrorCode::kUnsupported, "the model was loaded without a projector; it takes no images");
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (!tokenizer_) return fail(ErrorCode::kUnsupported, "images stand among tokens, and this file has no vocabulary");
  trim_media(media_, texts_);
  job_.emplace(*vision_, *pool_);
  const Result<void> begun = job_->begin(image, *tokenizer_, multi_axis(), media_);
  if (!begun) job_.reset();
  return begun;
}

Result<bool> Session::step_image() {
  if (!job_) return fail(ErrorCode::kInvalidArgument, "no image is being encoded");
  return job_->step(media_);
}

Result<Session::EncodedMedia> Session::encoded_media(std::span<const TokenId> tokens) const {
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return std::unexpected(runs.error());
  EncodedMedia out;
  for (const TokenRun& run : *runs) {
    if (run.medium == nullptr) continue;
    const Medium& medium = *run.medium;
    const size_t n = run.end - run.begin;
    if (medium.embeddings.empty()) return fail(ErrorCode::kNotFound, "the image is known by its tokens only");
    const auto end = medium.embeddings.begin() + static_cast<ptrdiff_t>(n * model_->n_input());
    out.embeddings.insert(out.embeddings.end(), medium.embeddings.begin(), end);
    if (multi_axis()) {
      const std::vector<int32_t> axes = media_axes(medium, 0, n, run.position);
      out.positions.insert(out.positions.end(), axes.begin(), axes.end());
    } else {
      for (size_t i = 0; i < n; ++i)
        out.positions.insert(out.positions.end(), 3, run.position + static_cast<int32_t>(i));
    }
  }
  return out;
}

void Session::forget_media() {
  for (auto& [id, medium] : media_) medium.embeddings = {};
}

size_t Session::before_medium(std::span<const TokenId> tokens, size_t n) const {
  if (media_.empty()) return n;
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return n;
  for (const TokenRun& run : *runs)
    if (run.medium != nullptr && run.begin < n && n < run.end) return run.begin;
  return n;
}

size_t Session::whole_media(std::span<const TokenId> tokens, size_t first, size_t n) const {
  if (media_.empty()) return n;
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return n;
  for (const TokenRun& run : *runs)
    if (run.medium != nullptr && run.medium->both_ways && run.begin < first + n && first + n < run.end)
      return run.end - first;
  return n;
}

int32_t Session::position_of(std::span<const TokenId> tokens, size_t n) const {
  if (media_.empty() || !multi_axis()) return static_cast<int32_t>(n);
  const Result<std::vector<TokenRun>> runs = token_runs(tokens.first(std::min(n, tokens.size())), media_);
  if (!runs || runs->empty()) return static_cast<int32_t>(n);
  const TokenRun& last = runs->back();
  return last.position +
         static_cast<int32_t>(last.medium != nullptr ? last.medium->n_positions : last.end - last.begin);
}

Result<void> Session::run(std::span<const TokenId> tokens, size_t first, size_t n, uint32_t sequence,
                          std::span<const uint8_t> wanted, float* out) {
  const std::vector<int32_t> sequences(n, static_cast<int32_t>(sequence));
  if (media_.empty()) {
    const Batch batch{.tokens = tokens.subspan(first, n), .positions = {}, .sequences = sequences, .wanted = wanted};
    return forward_parts(first, batch, out);
  }
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return std::unexpected(runs.error());
  for (const TokenRun& run : *runs) {
    const size_t begin = std::max(run.begin, first), end = std::min(run.end, first + n);
    if (begin >= end) continue;
    const size_t count = end - begin;
    const std::span<const uint8_t> asked = wanted.empty() ? wanted : wanted.subspan(begin - first, count);
    if (const Result<void> done = run_part(run, tokens, begin, count, std::span(sequences).first(count), asked, out);
        !done)
      return done;
    out += (asked.empty() ? count : static_cast<size_t>(std::ranges::count(asked, 1))) * model_->n_output();
  }
  return {};
}

Result<void> Session::run_part(const TokenRun& run, std::span<const TokenId> tokens, size_t first, size_t n,
                               std::span<const int32_t> sequences, std::span<const uint8_t> wanted, float* out) {
  Batch batch{.tokens = tokens.subspan(first, n), .positions = {}, .sequences = sequences, .wanted = wanted};
  const size_t offset = first - run.begin;
  std::vector<int32_t> positions, axes;
  std::vector<TokenId> stand_ins;
  if (run.medium == nullptr || !multi_axis()) {
    const int32_t at = multi_axis() ? run.position : static_cast<int32_t>(run.begin);
    for (size_t i = 0; i < n; ++i) positions.push_back(at + static_cast<int32_t>(offset + i));
    batch.positions = positions;
  }
  if (run.medium != nullptr) {
    const Medium& medium = *run.medium;
    if (medium.embeddings.empty())
      return fail(ErrorCode::kNotFound, "what was made of an image is forgotten; it must be encoded again");
    stand_ins.assign(n, 0);
    batch.tokens = stand_ins;
    batch.inputs = std::span(medium.embeddings).subspan(offset * model_->n_input(), n * model_->n_input());
    batch.both_ways = medium.both_ways;
    if (multi_axis()) batch.axes = axes = media_axes(medium, offset, n, run.position);
  }
  return forward_parts(first, batch, out);
}

// For each medium: id, tokens, columns, positions, whether both ways, 0, and its hash.
std::vector<uint8_t> Session::save_media(std::span<const TokenId> tokens) const {
  std::vector<uint8_t> out(4);
  std::vector<TokenId> ids;
  for (const TokenId id : tokens)
    if (is_media(id) && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  store(out.data(), static_cast<uint32_t>(ids.size()));
  for (const TokenId id : ids) {
    const Medium& medium = media_.at(id);
    const size_t at = out.size();
    out.resize(at + kSavedMedium);
    const uint32_t fields[] = {static_cast<uint32_t>(id), medium.n_tokens, medium.columns, medium.n_positions,
                               medium.both_ways ? 1u : 0u};
    for (size_t i = 0; i < std::size(fields); ++i) store(out.data() + at + 4 * i, fields[i]);
    store(out.data() + at + 24, medium.hash);
  }
  return out;
}

Result<size_t> Session::load_media(ByteView bytes) {
  const auto cut = [] { return fail(ErrorCode::kInvalidArgument, "the saved state was cut"); };
  if (bytes.size() < 4) return cut();
  const uint64_t n = load<uint32_t>(bytes.data());
  if (n > (bytes.size() - 4) / kSavedMedium) return cut();
  for (size_t i = 0; i < n; ++i) {
    const uint8_t* at = bytes.data() + 4 + i * kSavedMedium;
    const auto id = static_cast<TokenId>(load<uint32_t>(at));
    Medium medium;
    medium.n_tokens = load<uint32_t>(at + 4);
    medium.columns = load<uint32_t>(at + 8);
    medium.n_positions = load<uint32_t>(at + 12);
    medium.both_ways = load<uint32_t>(at + 16) != 0;
    medium.hash = load<uint64_t>(at + 24);
    const bool sound = is_media(id) && medium.n_tokens != 0 && medium.n_tokens <= kMaxPatches && medium.columns != 0 &&
                       medium.columns <= medium.n_tokens && medium.n_positions <= medium.n_tokens;
    if (!sound) return fail(ErrorCode::kInvalidArgument, "the saved state holds no image's tokens");
    const auto found = media_.find(id);
    if (found != media_.end() && found->second.hash != medium.hash)
      return fail(ErrorCode::kInvalidArgument, "the saved state's image has the tokens of another one here");
    if (found == media_.end()) media_.emplace(id, std::move(medium));
  }
  return 4 + static_cast<size_t>(n) * kSavedMedium;
}

}  // namespace ggufscope
