// The image encoder's keys "clip.vision.*" of an mmproj file, read as llama.cpp's libmtmd reads them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "media/tiles.hpp"
#include "model/hparams.hpp"

namespace ggufscope {

struct ProjectorRow;
struct ImageMarkers;

struct VisionParameters {
  uint32_t n_embd = 0;
  uint32_t n_head = 0, n_head_kv = 0;
  uint32_t d_head = 0;
  uint32_t n_layer = 0;
  uint32_t n_run = 0;  ///< layers to run; the last ones are skipped if nothing uses their output
  float eps = 1e-6f;
  NormKind norm = NormKind::kLayer;
  Activation activation = Activation::kGeluQuick;
  float rope_base = 10000;
  uint32_t merge = 1;              ///< side of a token, in patches
  std::vector<uint32_t> features;  ///< layers whose inputs are concatenated, ascending; empty: the last output
  uint32_t window = 0;             ///< side of an attention window in patches, before merging; 0: full attention
  uint32_t band = 0;               ///< attention to so many patches before and after; 0: full attention or windows
  std::vector<bool> sees_all;      ///< [n_layer], with windows or a band: layers with full attention
  std::vector<bool> by_columns;    ///< [n_layer], with a band: layers that read the tokens column by column
  uint32_t n_queries = 0;          ///< tokens of each part, if their number is fixed
  int32_t halve_after = -1;        ///< the layer after which the patches of a window are merged; -1: none
  float output_eps = 0;            ///< epsilon of the projector's norm, if it is not eps
  const ImageMarkers* markers = nullptr;  ///< the row's, or those of the file's version
  ImageRule image;
  std::array<float, 3> mean{}, deviation{};
};

inline constexpr uint32_t kMaxPatches = 1u << 16;  ///< limit for one tile, because attention is quadratic in it

/// Errors: kNotFound for a missing key; kInvalidArgument or kOutOfRange for a bad value. The message names the key.
[[nodiscard]] Result<VisionParameters> read_vision_parameters(const Gguf& gguf, const ProjectorRow& row);

}  // namespace ggufscope
