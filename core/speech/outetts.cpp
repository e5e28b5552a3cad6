// WavTokenizer's codes to sound, in steps of half a layer.
#include "speech/outetts.hpp"

#include <numeric>
#include <optional>

#include "model/kv_cells.hpp"

namespace ggufscope {
namespace {

StateOptions vocoder_options() { return {.n_ctx = kMaxChunkFrames, .n_batch = kMaxChunkFrames}; }

class OuteDecoder final : public SpeechDecoder {
 public:
  /// The model and the pool must outlive this object.
  OuteDecoder(const Model& vocoder, Pool& pool) : vocoder_(vocoder), pool_(pool), stft_(vocoder.n_output() - 2) {}
  [[nodiscard]] Result<void> allocate() {
    Result<std::unique_ptr<State>> state = State::create(vocoder_, pool_, vocoder_options());
    if (!state) return std::unexpected(state.error());
    state_ = std::move(*state);
    return state_->reserve_scratch();
  }
  Result<bool> decode(const SpeechFrames& frames, std::vector<float>& samples) override;
  void reset() override { run_.reset(); }

 private:
  [[nodiscard]] Result<void> start(const SpeechFrames& frames);

  const Model& vocoder_;
  Pool& pool_;
  InverseStft stft_;
  std::unique_ptr<State> state_;
  std::optional<Pass> pass_;
  std::optional<CodecRun> run_;  // while frames are decoded
};

Result<void> OuteDecoder::start(const SpeechFrames& frames) {
  state_->clear();
  state_->arena.release(0);
  const Batch batch{.tokens = frames.codes, .positions = {}, .sequences = {}, .output_mask = {}};
  if (frames.codes.size() > kMaxChunkFrames) return fail(ErrorCode::kOutOfRange, "too many codes of sound");
  if (const Result<void> good = check_batch(vocoder_, *state_, batch); !good) return good;
  Result<Pass> pass = place_batch(vocoder_, *state_, pool_, batch, 0, frames.codes.size());
  if (!pass) return std::unexpected(pass.error());
  pass_.emplace(std::move(*pass));
  run_.emplace(*pass_, frames.codes);
  return {};
}

Result<bool> OuteDecoder::decode(const SpeechFrames& frames, std::vector<float>& samples) {
  if (frames.n == 0) return false;
  if (!run_) {
    if (const Result<void> started = start(frames); !started) return std::unexpected(started.error());
    return true;
  }
  if (run_->step()) return true;
  std::vector<uint32_t> all(frames.n);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<float> spectra(frames.n * vocoder_.n_output());
  run_->write(all, spectra.data());
  run_.reset();
  stft_.append(spectra, frames.n, samples);
  return false;
}

}  // namespace

Result<std::unique_ptr<SpeechDecoder>> OuteTts::create_decoder(Pool& pool) const {
  auto decoder = std::make_unique<OuteDecoder>(vocoder_, pool);
  if (const Result<void> allocated = decoder->allocate(); !allocated) return std::unexpected(allocated.error());
  return decoder;
}

uint64_t OuteTts::scratch_bytes(Pool& pool) const {
  const StateSizes sizes = state_sizes(vocoder_, vocoder_options());
  const uint64_t n_spectra = uint64_t{kMaxChunkFrames} * vocoder_.n_output();
  return sizes.cache_bytes + (sizes.arena_floats + sizes.thread_floats * pool.n_threads() + n_spectra) * sizeof(float);
}

std::unique_ptr<SpeechGenerator> create_outetts(const Model& vocoder) { return std::make_unique<OuteTts>(vocoder); }

}  // namespace ggufscope
