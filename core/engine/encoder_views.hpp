// Encoders of images and audio as a plan for a device sees them.
#pragma once

#include "audio/audio_model.hpp"
#include "gpu/encoder.hpp"
#include "vision/vision_model.hpp"

namespace ggufscope {

/// The layers of an encoder. Error: kUnsupported, with the reason, for encoders that no kernel computes.
[[nodiscard]] Result<gpu::EncoderView> encoder_view(const VisionModel& model);
[[nodiscard]] Result<gpu::EncoderView> encoder_view(const AudioModel& model);
/// Rows of the largest part of a typical photo, and of any audio.
[[nodiscard]] size_t typical_rows(const VisionModel& model);
[[nodiscard]] size_t typical_rows(const AudioModel& model);

/// The layers of Whisper's encoder.
[[nodiscard]] gpu::EncoderView whisper_view(const WhisperEncoderShape& shape, const WhisperEncoderWeights& weights,
                                            std::span<const TensorRequest> requests);

}  // namespace ggufscope
