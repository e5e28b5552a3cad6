// What the decoder and the parts of a layer share: a batch on its way through the layers, the plan of a layer, and the
// row of a token mixer.
#pragma once

#include <array>
#include <string>

#include "model/architectures/architecture.hpp"
#include "model/probe.hpp"
#include "model/rows.hpp"
#include "model/state.hpp"
#include "nn/recurrent.hpp"

namespace ggufscope {

/// One micro-batch while it passes through the layers.
struct Pass {
  const Model& model;
  State& state;
  Pool& pool;
  size_t n_tokens = 0;
  std::span<const int32_t> positions{};  // [n_tokens]
  std::span<const int32_t> sequences{};  // [n_tokens]
  std::span<const int32_t> axes{};       // [n_tokens, 3] or empty
  std::span<const float> inputs{};       // [n_tokens, model.n_input()] or empty
  bool on_canvas = false;                // rows and columns of the axes may be before the positions
  bool both_ways = false;
  const float* cosines[2] = {};  // [n_tokens, n_rot / 2], for full and for windowed layers
  const float* sines[2] = {};
  const std::vector<LayerWeights>* layers = nullptr;  // nullptr: the model's own
  bool encoding = false;            // true for the encoder of an encoder-decoder model: bidirectional, keeps no cache
  const int32_t* tokens = nullptr;  // [n_tokens]
  // [n_tokens]: the cells that selecting layers attend to, set by the last layer with an indexer
  std::vector<CellRun> chosen_runs{};
  std::vector<std::span<const CellRun>> chosen{};
  std::vector<std::vector<uint32_t>> cells_by_position{};  // for each sequence; UINT32_MAX: none
  std::vector<uint32_t> slots{};                           // [n_tokens]: index of the model's own adapter to use
  // [n_tokens, n_embd], for all layers: RWKV-7's first values, embeddings of Talkie and of draft models
  float* first_value = nullptr;
  const Vector* relative_bias = nullptr;  // of the first layer
  Probe* probe = nullptr;
  State* target = nullptr;  // whose cache the layers read instead

  [[nodiscard]] const Hparams& h() const { return model.hparams(); }
  [[nodiscard]] const LayerParameters& layer(size_t il) const { return model.hparams().layers[il]; }
  [[nodiscard]] const LayerWeights& weights(size_t il) const {
    return layers != nullptr ? (*layers)[il] : model.weights().layers[h().block_of(il)];
  }
  /// The weights of a layer's token mixer, of the type that its header defines.
  template <class T>
  [[nodiscard]] const T& mixer(size_t il) const {
    return weights(il).mixer.get<T>();
  }
  /// Scratch memory for floats of a shape, such as (n_tokens, n_head, d).
  template <class... Sizes>
  float* take(Sizes... shape) {
    return state.arena.take(shape...);
  }
  /// True if the pass only counts the scratch memory that it takes. Then its pointers are nullptr, and nothing is
  /// computed.
  [[nodiscard]] bool counting() const { return state.arena.counting(); }
  /// states[t]: the recurrent state of token t's sequence in a layer, starting at float `offset`.
  [[nodiscard]] States states(size_t il, size_t offset);
};

struct LayerPlan {
  Planner& planner;
  const Architecture& architecture;
  const Hparams& h;
  const LayerParameters& layer;
  size_t il = 0;
  std::string prefix;  // "blk.0."
  [[nodiscard]] std::string name(std::string_view part) const { return prefix + std::string(part); }
};

/// Elements that a cell of a layer's cache holds for each key head. Latent attention caches the vectors that keys are
/// computed from.
struct CacheShape {
  size_t n_head_kv = 0, d_k = 0, d_v = 0;  // d_v 0: values are part of the keys
};

/// Additional rows that a layer stores for each cell, in addition to keys and values.
struct FurtherRow {
  size_t n = 0;           ///< floats
  bool windowed = false;  ///< only for cells inside the window; stays float32
};
inline constexpr size_t kFurtherRows = 4;
using FurtherRows = std::array<FurtherRow, kFurtherRows>;

/// A kind of token mixer. Each file of mixers/ defines one, and mixers.inc lists them.
struct Mixer {
  /// Reads the mixer's keys, whatever the architecture, before this adjusts them; nullptr: none.
  void (*read)(Keys& keys, const Architecture& architecture, Hparams& h) = nullptr;
  /// Plans the layer's tensors, and creates weights.mixer.
  void (*plan)(const LayerPlan& plan, LayerWeights& weights) = nullptr;
  /// x [n_tokens, n_embd] -> y [n_tokens, n_embd]. In a pass that counts it takes its memory, and returns.
  void (*run)(Pass& pass, size_t il, const float* x, float* y) = nullptr;
  /// Floats of recurrent state for each sequence; nullptr: none.
  uint64_t (*state)(const Hparams& h) = nullptr;
  /// nullptr: it uses no cache.
  CacheShape (*cache)(const Hparams& h, const LayerParameters& layer) = nullptr;
  /// nullptr: none.
  FurtherRows (*further_rows)(const Hparams& h, const LayerParameters& layer) = nullptr;
};

#define GGUFSCOPE_MIXER(kind, row) extern const Mixer row;
#include "model/mixers/mixers.inc"
#undef GGUFSCOPE_MIXER

[[nodiscard]] const Mixer& find_mixer(MixerKind kind);
/// Reads the keys of all mixers.
void read_mixers(Keys& keys, const Architecture& architecture, Hparams& h);

}  // namespace ggufscope
