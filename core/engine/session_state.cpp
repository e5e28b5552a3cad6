// Serializes a session's selected sequence with its cache, and restores it.
#include <algorithm>
#include <cstring>

#include "engine/session.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kStateMagic = 0x31534747;    // "GGS1"
constexpr uint32_t kMediaMagic = 0x32534747;    // "GGS2": with media among the tokens
constexpr uint32_t kAdaptedMagic = 0x41534747;  // "GGSA": with adapters; there may be media among the tokens

}  // namespace

// Format: u32 magic, u32 number of tokens, the tokens; with kAdaptedMagic the output of adapter_record; with
// kMediaMagic or kAdaptedMagic the output of save_media; the output of State::save.
Result<std::vector<uint8_t>> Session::save_state() {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  drop_drafts();
  const Sequence& s = selected();
  if (!s.ablated.empty())
    return fail(ErrorCode::kUnsupported, "the state of an answer with ablated parts cannot be saved");
  Result<std::vector<uint8_t>> cache = state_->save(*model_, selected_);
  if (!cache) return cache;
  const std::vector<uint8_t> adapters = adapter_record(s);
  const std::span<const TokenId> computed = std::span(s.tokens).first(s.n_computed);
  const bool media = std::ranges::any_of(computed, is_media);
  std::vector<uint8_t> out(8 + 4 * s.n_computed);
  store(out.data(), !adapters.empty() ? kAdaptedMagic : media ? kMediaMagic : kStateMagic);
  store(out.data() + 4, static_cast<uint32_t>(s.n_computed));
  if (s.n_computed != 0) std::memcpy(out.data() + 8, s.tokens.data(), 4 * s.n_computed);
  out.insert(out.end(), adapters.begin(), adapters.end());
  if (media || !adapters.empty()) {
    const std::vector<uint8_t> table = save_media(computed);
    out.insert(out.end(), table.begin(), table.end());
  }
  out.insert(out.end(), cache->begin(), cache->end());
  return out;
}

Result<void> Session::load_state(ByteView bytes) {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (speaker_) speaker_->end();
  const uint32_t magic = bytes.size() < 8 ? 0 : load<uint32_t>(bytes.data());
  if (magic != kStateMagic && magic != kMediaMagic && magic != kAdaptedMagic)
    return fail(ErrorCode::kInvalidArgument, "these bytes are not a saved state");
  const uint64_t n = load<uint32_t>(bytes.data() + 4);
  if (n > n_context() || 4 * n > bytes.size() - 8)
    return fail(ErrorCode::kInvalidArgument, "the saved state is truncated");
  std::vector<TokenId> tokens(static_cast<size_t>(n));
  if (n != 0) std::memcpy(tokens.data(), bytes.data() + 8, 4 * tokens.size());
  bytes = bytes.subspan(8 + 4 * tokens.size());
  std::vector<size_t> starts = selected().adapter_starts;
  const Result<size_t> record = read_adapter_record(selected(), magic == kAdaptedMagic, bytes, starts);
  if (!record) return std::unexpected(record.error());
  bytes = bytes.subspan(*record);
  drop();
  if (magic != kStateMagic) {
    const Result<size_t> table = load_media(bytes);
    if (!table) return std::unexpected(table.error());
    bytes = bytes.subspan(*table);
  }
  if (n != 0)
    if (const Result<void> good = check(tokens); !good) return good;
  if (const Result<void> done = state_->restore(*model_, selected_, bytes); !done) return done;
  Sequence& s = selected();
  s.adapter_starts = std::move(starts);
  s.tokens = std::move(tokens);
  s.n_computed = s.tokens.size();
  return {};
}

}  // namespace ggufscope
