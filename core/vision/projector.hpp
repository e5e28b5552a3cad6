// The registry of projectors: one row a name of llama.cpp's clip-impl.h. A row says how the shared encoder
// (image_encoder.cpp) differs for it, what becomes of the encoder's output, and which tokens stand around an image.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "vision/parameters.hpp"
#include "vision/weights.hpp"

namespace ggufscope {

/// What stands for the places of patches.
enum class PatchPositions : uint8_t {
  kNone,
  kRows,                 ///< row i of v.position_embd for patch i, the class token's last
  kInterpolated,         ///< a square table, resampled to the grid of patches
  kInterpolatedCorners,  ///< the same, the corners of both upon each other
};

/// Rotation of queries and keys: half of a head by the row, half by the column.
enum class PatchRope : uint8_t {
  kNone,
  kAdjacent,  ///< pairs (2i, 2i+1); the columns' frequencies lie between those of the rows (Pixtral)
  kHalves,    ///< pairs (i, i + d/2), the same frequencies for both (Qwen2-VL)
};

/// Texts and tokens around an image, as libmtmd puts them. A piece is the one token that is spelled so.
struct ImageMarkers {
  std::string_view begin = "", end = "";  ///< of the whole image: tokenized as text, with special tokens
  std::string_view tile = "";             ///< text before each tile: %r and %c stand for its row and column, from 1
  std::initializer_list<std::string_view> tile_begin{}, tile_end{}, row_end{};  ///< pieces; row_end: but for the last
  std::initializer_list<std::string_view> tiles_begin{}, tiles_end{};
  std::initializer_list<std::string_view> overview_begin{}, overview_end{};
  bool overview_first = false;
  bool cut_only = false;  ///< an overview without tiles has no pieces of its own
};

struct ProjectorInput;

struct ProjectorRow {
  std::string_view name;
  /// nullptr: known, but it cannot be run.
  void (*read)(VisionParameters& p, Keys& keys) = nullptr;
  void (*plan)(VisionPlan& plan) = nullptr;
  /// Encoded patches -> [n_tokens, n_out].
  void (*project)(ProjectorInput& input) = nullptr;
  NormKind norm = NormKind::kLayer;
  PatchPositions positions = PatchPositions::kNone;
  PatchRope rope = PatchRope::kNone;
  bool two_kernels = false;     ///< v.patch_embd.weight.1: a second frame, which of an image is the same
  bool class_token = false;     ///< v.class_embd is required
  bool may_swap_ffn = false;    ///< old converters called ffn_up ffn_down
  bool penultimate = false;     ///< the last layer is not run, unless features say so
  bool breaks_rows = false;     ///< a token of its own between the rows of tokens
  bool grid_positions = false;  ///< of multi-axis positions: by row and column
  bool non_causal = false;      ///< the text model sees an image's tokens both ways
  ImageMarkers markers{};
};

[[nodiscard]] std::span<const ProjectorRow> all_projectors();
/// kUnsupported with the names that can run, for one that is unknown, or known and cannot.
[[nodiscard]] Result<const ProjectorRow*> find_projector(std::string_view name);

/// Tokens of columns x rows patches: their grid, then all of them.
struct TokenGrid {
  uint32_t columns = 0, rows = 0, n_tokens = 0;
};
[[nodiscard]] TokenGrid token_grid(const ProjectorRow& row, const VisionParameters& p, uint32_t columns, uint32_t rows);

}  // namespace ggufscope
