// What the keys of an mmproj file say of its image encoder: "clip.vision.*", read as llama.cpp's libmtmd reads them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "media/tiles.hpp"
#include "model/hparams.hpp"

namespace ggufscope {

struct ProjectorRow;

struct VisionParameters {
  uint32_t n_embd = 0;
  uint32_t n_head = 0, n_head_kv = 0;
  uint32_t d_head = 0;
  uint32_t n_layer = 0;
  uint32_t n_run = 0;  ///< layers that are run: the features of the last ones may be of no use
  float eps = 1e-6f;
  NormKind norm = NormKind::kLayer;
  Activation activation = Activation::kGeluQuick;
  float rope_base = 10000;
  uint32_t merge = 1;  ///< patches of a token's side
  std::vector<uint32_t>
      features;                ///< layers whose inputs are read side by side, ascending; empty: the last one's output
  uint32_t window = 0;         ///< patches of a window's side, before merging; 0: all see all
  std::vector<bool> sees_all;  ///< [n_layer] where there is a window
  ImageRule image;
  std::array<float, 3> mean{}, deviation{};
};

inline constexpr uint32_t kMaxPatches = 1u << 16;  ///< of one tile: each of them sees all others

/// Errors: kNotFound for a missing key, kInvalidArgument or kOutOfRange for a refused value, each naming the key.
[[nodiscard]] Result<VisionParameters> read_vision_parameters(const Gguf& gguf, const ProjectorRow& row);

}  // namespace ggufscope
