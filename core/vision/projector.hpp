// The registry of image projectors: one row for each projector name in llama.cpp's clip-impl.h. A row describes how the
// shared encoder (image_encoder.cpp) differs, how the encoder's output becomes tokens, and which tokens surround an
// image.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "vision/parameters.hpp"
#include "vision/weights.hpp"

namespace ggufscope {

/// How position embeddings are added to patches.
enum class PatchPositions : uint8_t {
  kNone,
  kRows,                 ///< row i of v.position_embd for patch i; the last row for the class token
  kInterpolated,         ///< a square table that is resampled to the grid of patches
  kInterpolatedSharp,    ///< the same; of a larger table, only the nearest rows count (no antialiasing)
  kInterpolatedCorners,  ///< the same, with the corners of both grids aligned
  kInterpolatedCubic,    ///< the same, with cubic weights; the table may be a rectangle
  kBuckets,              ///< a table of 70 x 70 rows, of which the nearest one before each patch is taken (MiniCPM-V)
  kAxes,                 ///< two tables, one row for each column and one for each row of patches (Gemma 4)
};

/// Rotary position embedding of queries and keys: half of each head encodes the row, the other half the column.
enum class PatchRope : uint8_t {
  kNone,
  kAdjacent,  ///< pairs (2i, 2i+1); frequencies alternate between rows and columns (Pixtral)
  kHalves,    ///< pairs (i, i + d/2); rows and columns have the same frequencies (Qwen2-VL)
  kColumns,   ///< pairs (2i, 2i+1); columns come first and have the same frequencies as rows (Kimi-VL)
  kQuarters,  ///< pairs (i, i + d/4) within each half, the columns' half first; the same frequencies (Gemma 4)
};

/// The elements that it rotates together.
[[nodiscard]] constexpr RopeKind rope_of(PatchRope rope) {
  if (rope == PatchRope::kNone) return RopeKind::kNone;
  if (rope == PatchRope::kQuarters) return RopeKind::kQuarters;
  return rope == PatchRope::kHalves ? RopeKind::kHalves : RopeKind::kAdjacent;
}

/// Texts and tokens around an image, as libmtmd inserts them. A "piece" is the single token with that spelling.
struct ImageMarkers {
  /// Around the whole image; tokenized as text with special tokens. %n is replaced by the number of images before it.
  std::string_view begin = "", end = "";
  std::string_view tile = "";  ///< text before each tile; %r and %c are replaced by its row and column, from 1
  std::initializer_list<std::string_view> tile_begin{}, tile_end{},
      row_end{};  ///< pieces; row_end follows every row but the last
  std::initializer_list<std::string_view> tiles_begin{}, tiles_end{};
  std::initializer_list<std::string_view> overview_begin{}, overview_end{};
  bool overview_first = false;
  bool cut_only = false;  ///< an overview without tiles gets no pieces
};

struct ProjectorInput;
using ReadKeys = void(VisionParameters& p, Keys& keys);
using PlanWeights = void(VisionPlan& plan);
/// Converts encoded patches to tokens [n_tokens, n_out].
using Project = void(ProjectorInput& input);

struct ProjectorRow {
  std::string_view name;
  /// nullptr: the projector is known but cannot be run.
  ReadKeys* read = nullptr;
  PlanWeights* plan = nullptr;
  Project* project = nullptr;
  NormKind norm = NormKind::kLayer;
  PatchPositions positions = PatchPositions::kNone;
  PatchRope rope = PatchRope::kNone;
  bool two_kernels =
      false;  ///< v.patch_embd.weight.1 exists: the kernel of a second frame, which for an image equals the first
  bool may_lack_positions = false;  ///< a file without v.position_embd runs
  bool exact_patches = false;    ///< the patch embedding is a matrix instead of a convolution, which rounds to halves
  bool colors_last = false;      ///< patches are [patch, patch, 3] instead of [3, patch, patch]
  uint8_t first_place = 0;       ///< row and column of the first patch, for rope
  bool class_token = false;      ///< v.class_embd is required
  bool registers = false;        ///< v.class_embd may have several rows
  bool may_swap_ffn = false;     ///< old converters swapped the names ffn_up and ffn_down
  bool penultimate = false;      ///< the last layer is not run, unless a feature needs it
  bool norms_follow = false;     ///< ln1 and ln2 normalize the outputs of attention and feed-forward network
  bool layer_norm_last = false;  ///< v.post_ln is a layer norm, whatever the layers have
  bool breaks_rows = false;      ///< an extra token separates the rows of tokens
  bool surrounded = false;       ///< an extra token before the image's tokens, another one after them
  bool grid_positions = false;   ///< multi-axis positions are given by row and column
  bool canvas = false;           ///< all parts and rows of v.tok_embd_sep between them are one run of tokens on a grid
  bool non_causal = false;       ///< the text model attends to an image's tokens in both directions
  bool gemma4 = false;           ///< values are normalized, scores are not scaled, and a pixel x becomes 2 x - 1
  bool no_layers = false;        ///< patches are only normalized and projected
  bool mobilenet = false;        ///< the encoder is not this one but a network of convolutions (mobilenet.hpp)
  ImageMarkers markers{};
};

[[nodiscard]] std::span<const ProjectorRow> all_projectors();
/// Error: kUnsupported for an unknown projector or one that cannot be run; the message lists those that can.
[[nodiscard]] Result<const ProjectorRow*> find_projector(std::string_view name);

/// The grid of tokens that columns x rows patches give, and their total number (with row separators).
struct TokenGrid {
  uint32_t columns = 0, rows = 0, n_tokens = 0;
};
[[nodiscard]] TokenGrid token_grid(const ProjectorRow& row, const VisionParameters& p, uint32_t columns, uint32_t rows);

}  // namespace ggufscope
