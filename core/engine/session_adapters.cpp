// Adapters of a session's sequences: which of them apply to which token, and how much of the cache stays valid.
#include <algorithm>
#include <cstring>

#include "engine/session.hpp"

namespace ggufscope {

Result<std::shared_ptr<const Adapter>> Session::open_adapter(ByteView file) {
  Result<std::unique_ptr<Adapter>> adapter = Adapter::open(*model_, *pool_, file, precision_);
  if (!adapter) return std::unexpected(adapter.error());
  return std::shared_ptr<const Adapter>(std::move(*adapter));
}

Result<void> Session::set_adapters(std::vector<AdapterUse> uses) {
  for (const AdapterUse& use : uses) {
    if (use.adapter == nullptr) return fail(ErrorCode::kInvalidArgument, "there is no such adapter");
    if (Result<void> good = check_scale(use); !good) return good;
  }
  std::erase_if(uses, [](const AdapterUse& use) { return use.scale == 0; });  // a scale of 0 has no effect
  if (plan_ || !state_) {
    const auto same = [](const AdapterUse& a, const AdapterUse& b) {
      return a.adapter->fingerprint() == b.adapter->fingerprint() && a.scale == b.scale;
    };
    if (plan_ && !std::ranges::equal(uses, used_, same))
      return fail(ErrorCode::kUnsupported, "other adapters and scales than those of loading run on the CPU only");
    const Result<void> used = use_adapters(*model_, uses);
    if (used) used_ = std::move(uses);
    return used;
  }
  if (uses == selected().adapters) return {};
  drop_drafts();
  drop();
  selected().adapters = std::move(uses);
  selected().adapter_starts.clear();
  return {};
}

// For each adapter the first token to which it applies. An adapter with invocation tokens applies from their last
// occurrence in the prompt; SIZE_MAX: it does not apply.
std::vector<size_t> Session::adapter_starts(const Sequence& sequence, std::span<const TokenId> tokens) {
  std::vector<size_t> starts;
  for (const AdapterUse& use : sequence.adapters) {
    const std::span<const int32_t> invocation = use.adapter->invocation();
    if (invocation.empty()) {
      starts.push_back(0);
      continue;
    }
    const auto found = std::find_end(tokens.begin(), tokens.end(), invocation.begin(), invocation.end());
    starts.push_back(found == tokens.end() ? SIZE_MAX : static_cast<size_t>(found - tokens.begin()));
  }
  return starts;
}

size_t Session::n_with_same_adapters(const Sequence& sequence, size_t first) {
  size_t end = SIZE_MAX;
  for (const size_t start : sequence.adapter_starts)
    if (start > first) end = std::min(end, start);
  return end - first;
}

Result<void> Session::use_adapters_at(const Sequence& sequence, size_t token) {
  std::vector<AdapterUse> uses;
  for (size_t i = 0; i < sequence.adapters.size(); ++i)
    if (i < sequence.adapter_starts.size() && sequence.adapter_starts[i] <= token) uses.push_back(sequence.adapters[i]);
  if (uses == used_) return {};
  if (const Result<void> done = use_adapters(*model_, uses); !done) return done;
  used_ = std::move(uses);
  return {};
}

Result<void> Session::forward_parts(size_t first, const Batch& batch, float* out) {
  for (size_t done = 0; done < batch.tokens.size();) {
    size_t n = std::min(batch.tokens.size() - done, n_with_same_adapters(selected(), first + done));
    if (!watched_.empty()) n = std::min<size_t>(n, state_->options().n_batch);
    if (const Result<void> used = use_adapters_at(selected(), first + done); !used) return used;
    const auto cut = [&](auto values, size_t width) {
      return values.empty() ? values : values.subspan(done * width, n * width);
    };
    Batch part = batch;
    part.tokens = cut(batch.tokens, 1);
    part.positions = cut(batch.positions, 1);
    part.sequences = cut(batch.sequences, 1);
    part.output_mask = cut(batch.output_mask, 1);
    part.inputs = cut(batch.inputs, model_->n_input());
    part.axes = cut(batch.axes, 3);
    const size_t n_input = model_->n_input();
    if (!target_states_.empty())
      part.inputs = target_states_.subspan((first + done - first_target_state_) * n_input, n * n_input);
    seen_.resize(n * watched_.size() * model_->n_last_state());
    part.watched = watched_;
    part.all_streams = true;
    part.seen = seen_.data();
    part.probe = probe_;
    if (const Result<void> passed = forward(*model_, *state_, *pool_, part, out); !passed) return passed;
    if (draft_ != nullptr && !watched_.empty()) keep_states(first + done);
    const auto n_out = part.output_mask.empty() ? static_cast<ptrdiff_t>(n) : std::ranges::count(part.output_mask, 1);
    out += static_cast<size_t>(n_out) * output_floats(*model_, batch.embeddings);
    done += n;
  }
  return {};
}

// For each adapter: u64 fingerprint, u32 bits of the scale, u32 first and last layer, u64 start.
std::vector<uint8_t> Session::adapter_record(const Sequence& sequence) {
  constexpr size_t kBytes = 28;
  std::vector<uint8_t> out(sequence.adapters.empty() ? 0 : 4 + kBytes * sequence.adapters.size());
  if (!out.empty()) store(out.data(), static_cast<uint32_t>(sequence.adapters.size()));
  for (size_t i = 0; i < sequence.adapters.size(); ++i) {
    const AdapterUse& use = sequence.adapters[i];
    uint8_t* to = out.data() + 4 + kBytes * i;
    uint32_t scale = 0;
    std::memcpy(&scale, &use.scale, 4);
    store(to, use.adapter->fingerprint());
    store(to + 8, scale);
    store(to + 12, use.first_layer);
    store(to + 16, use.last_layer);
    store(to + 20, uint64_t{i < sequence.adapter_starts.size() ? sequence.adapter_starts[i] : SIZE_MAX});
  }
  return out;
}

Result<size_t> Session::read_adapter_record(const Sequence& sequence, bool present, ByteView bytes,
                                            std::vector<size_t>& starts) {
  const std::vector<uint8_t> own = adapter_record(sequence);
  const auto refuse = [] {
    return fail(ErrorCode::kInvalidArgument,
                "the saved state was computed with other adapters than those that are set");
  };
  if (present == own.empty() || bytes.size() < own.size()) return refuse();
  starts.assign(sequence.adapters.size(), 0);
  if (own.empty()) return size_t{0};
  if (std::memcmp(bytes.data(), own.data(), 4) != 0) return refuse();
  for (size_t i = 0; i < sequence.adapters.size(); ++i) {
    const size_t at = 4 + 28 * i;
    if (std::memcmp(bytes.data() + at, own.data() + at, 20) != 0) return refuse();
    const uint64_t start = load<uint64_t>(bytes.data() + at + 20);
    starts[i] = start >= SIZE_MAX ? SIZE_MAX : static_cast<size_t>(start);
  }
  return own.size();
}

}  // namespace ggufscope
