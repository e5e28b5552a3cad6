// An image encoder as a plan for a device sees it.
#pragma once

#include "gpu/encoder.hpp"
#include "vision/vision_model.hpp"

namespace ggufscope {

/// The layers of an encoder. Error: kUnsupported, with the reason, for encoders that no kernel computes.
[[nodiscard]] Result<gpu::EncoderView> encoder_view(const VisionModel& model);
/// Rows of the largest part of a typical photo.
[[nodiscard]] size_t photo_rows(const VisionModel& model);

}  // namespace ggufscope
