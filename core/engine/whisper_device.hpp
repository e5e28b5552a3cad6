// A Whisper model whose encoder and decoder run on a device. The CPU computes the convolutions before the encoder's
// layers, and chooses the tokens.
#pragma once

#include <memory>
#include <utility>

#include "audio/transcribe.hpp"
#include "engine/device_pass.hpp"
#include "gpu/decoder.hpp"
#include "gpu/repack.hpp"

namespace ggufscope {

class WhisperDevice {
 public:
  /// Lowers the model, before its weights are loaded; it must outlive this object. Error: kUnsupported, with the
  /// reason.
  [[nodiscard]] static Result<std::unique_ptr<WhisperDevice>> create(WhisperModel& model, CacheType cache,
                                                                     const gpu::DeviceLimits& limits);
  [[nodiscard]] const gpu::Plan& plan() const { return plan_; }

  /// Whole rows of a request of the model's plan, for the device; those that the CPU reads go to the model. Errors:
  /// those of gpu::repack and WhisperModel::set_rows.
  [[nodiscard]] Result<std::vector<gpu::BufferWrite>> repack_rows(Pool& pool, size_t request, uint64_t first_row,
                                                                  ByteView rows);
  /// Bytes of the weights that the CPU reads. Error: kOverflow.
  [[nodiscard]] Result<uint64_t> host_bytes() const;

  /// The encoder's layers, if they are next; kNoEncoder: they are not. Layers of the plan's `embeddings`.
  [[nodiscard]] EncoderPass prepare_layers(Transcriber& transcriber);
  /// The rows that they left. Error: kInvalidArgument.
  [[nodiscard]] Result<void> accept_layers(Transcriber& transcriber, std::span<const float> rows);
  /// The next tokens that are to be decoded; n_tokens 0: there are none. Error: kOutOfMemory.
  [[nodiscard]] Result<DevicePass> prepare(Transcriber& transcriber);
  /// The last pass asks for the weights of alignment heads instead of logits.
  [[nodiscard]] bool weighs() const { return weighs_; }
  /// The logits of the pass, [n_outputs, n_vocab], or what is in Plan::weights. Error: kInvalidArgument.
  [[nodiscard]] Result<void> accept(Transcriber& transcriber, std::span<const float> rows);

 private:
  WhisperDevice(WhisperModel& model, gpu::Plan plan) : model_(model), plan_(std::move(plan)) {}

  WhisperModel& model_;
  gpu::Plan plan_;
  LayerRun layers_{};
  size_t n_tokens_ = 0, n_outputs_ = 0;  // of the pass
  bool weighs_ = false;
};

}  // namespace ggufscope
