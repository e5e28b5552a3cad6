// A model: its architecture's row, hyper-parameters and weights. Use:
//
//   open(gguf, file size)      checks everything and allocates little; plan() lists the bytes needed
//   memory(options)            the exact bytes of loading and running, before any of them are allocated
//   begin_load(pool, ...)      then set_rows for every request of the plan, in any order, then finish_load
//   State::create, forward     see state.hpp, forward.hpp
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/architectures/architecture.hpp"
#include "model/decision/decision.hpp"
#include "model/hparams.hpp"
#include "model/weights.hpp"

namespace ggufscope {

struct StateOptions {
  uint32_t n_ctx = 0;        ///< cells of the cache, which all sequences share; 0: the model's training context
  uint32_t n_batch = 512;    ///< tokens computed together; longer batches are split
  uint32_t n_sequences = 1;  ///< at most 64
  CacheTypes cache_types = {};
  /// MiniMax-M3 attends to all positions, like llama.cpp without flash attention, instead of only the best blocks.
  bool attend_to_all = false;
  /// Keeps the table of cells, but neither keys and values, recurrent states nor scratch memory: for a session whose
  /// model runs on another device. place_batch works; forward, encode, shift, save and restore give kUnsupported.
  bool cells_only = false;
};

struct MemoryEstimate {
  uint64_t weights = 0;    ///< packed matrices and vectors
  uint64_t cache = 0;      ///< keys and values
  uint64_t recurrent = 0;  ///< states of recurrent layers, which do not grow with the context
  uint64_t scratch = 0;    ///< activations of a batch
  [[nodiscard]] uint64_t total() const { return weights + cache + recurrent + scratch; }
};

/// A header, and the length of its file if known.
struct ModelFile {
  const Gguf* gguf;
  std::optional<uint64_t> size;
};

/// All tensors in the headers of a model's files. Error: kBadShape if one has more than 4 dimensions.
[[nodiscard]] Result<std::vector<TensorEntry>> tensor_entries(std::span<const ModelFile> files);

class Model {
 public:
  /// Errors: kUnsupported for an architecture or type that cannot run, kNotFound for a missing key or tensor, kBadShape
  /// if tensors and keys disagree, kTruncated if tensor data ends beyond the file. Keys are read from the first file; a
  /// split model has several files. as_draft: of a file with MTP heads, only the first of these; see mtp_head.cpp.
  [[nodiscard]] static Result<std::unique_ptr<Model>> open(std::span<const ModelFile> files, bool as_draft = false);
  [[nodiscard]] static Result<std::unique_ptr<Model>> open(const Gguf& gguf, std::optional<uint64_t> file_size) {
    const ModelFile file{&gguf, file_size};
    return open({&file, 1});
  }

  /// The same for tensors and hyper-parameters from another container. Errors: those of open that concern tensors.
  [[nodiscard]] static Result<std::unique_ptr<Model>> open(const Architecture& architecture, Hparams hparams,
                                                           std::vector<TensorEntry> tensors);

  /// A model without tensors, for one that computes no text: it has neither tokens nor layers.
  [[nodiscard]] static Result<std::unique_ptr<Model>> without_tensors(const Architecture& architecture);

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] const Architecture& architecture() const { return *architecture_; }
  [[nodiscard]] const Hparams& hparams() const { return hparams_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }
  /// True if outputs are embeddings, or scores of a decision head, instead of logits.
  [[nodiscard]] bool is_encoder() const { return architecture_->encoder || has_decision_head(); }
  [[nodiscard]] bool has_decision_head() const { return hparams_.part<DecisionSizes>().head != DecisionHead::kNone; }
  /// Why the model cannot continue a text; empty if it can.
  [[nodiscard]] std::string_view generation_refusal() const {
    if (is_encoder()) return "this model computes embeddings; it cannot generate text";
    return hparams_.causal
               ? ""
               : "this model sees a whole text at once, for text diffusion or embeddings; it cannot continue one";
  }
  /// True if encode must be called before forward.
  [[nodiscard]] bool has_encoder() const { return !weights_.encoder.empty(); }
  /// Floats in one output row: n_vocab, or n_embd for an encoder.
  [[nodiscard]] size_t n_output() const { return is_encoder() ? n_embedding() : hparams_.n_vocab; }
  /// Floats in a token's embedding.
  [[nodiscard]] size_t n_embedding() const { return hparams_.n_embd_out != 0 ? hparams_.n_embd_out : hparams_.n_embd; }
  /// True if a layer has a state that cannot be rewound to an earlier token.
  [[nodiscard]] bool is_recurrent() const;

  /// Floats in an input that replaces a token: its embedding, and what is added after the first layers (Qwen3-VL).
  /// For a draft model that reads hidden states: a state.
  [[nodiscard]] size_t n_input() const;

  /// Floats of a token that leave the last layer: of one stream, or of Qwen 4's, which are merged only for the output.
  [[nodiscard]] size_t n_last_state() const;

  /// The embeddings and the output matrix. Those that a draft model lacks are its target's.
  [[nodiscard]] const Linear& token_embedding() const {
    return weights_.token_embedding || target_ == nullptr ? weights_.token_embedding : target_->token_embedding();
  }
  [[nodiscard]] const Linear& output() const {
    if (weights_.output) return weights_.output;
    return target_ != nullptr ? target_->output() : weights_.token_embedding;
  }
  [[nodiscard]] const Model* target() const { return target_; }
  /// Sets the target of a draft model that reads hidden states; it must outlive the draft model.
  /// Returns false if it was made for a model with another cache.
  [[nodiscard]] bool set_target(const Model& target);

  /// ALiBi slopes [n_head], or empty.
  [[nodiscard]] const std::vector<float>& slopes() const { return slopes_; }
  /// RoPE table of full (0) or windowed (1) layers in a context of n_ctx positions.
  [[nodiscard]] RopeTable rope_table(size_t which, uint32_t n_ctx) const;

  /// The control vector [n_embd] that is added to a layer's output, or nullptr. See adapter.hpp.
  [[nodiscard]] const float* steering(size_t layer) const {
    return steering_.empty() ? nullptr : steering_.data() + layer * hparams_.n_embd;
  }
  /// [n_layer, n_embd], or empty.
  void steer(std::vector<float> directions) { steering_ = std::move(directions); }

  /// Sorted by file and offset.
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }

  /// Error: kOverflow if a sum does not fit.
  [[nodiscard]] Result<MemoryEstimate> memory(const StateOptions& options, Precision precision, size_t n_threads) const;

  /// Bytes of the weights that are loaded so far.
  [[nodiscard]] uint64_t loaded_bytes() const;

  [[nodiscard]] Result<void> begin_load(Pool& pool, Precision precision);
  /// Sets whole rows of request i of the plan, in the file's layout, from first_row on. Rows beyond n_rows_kept are
  /// ignored. Errors: kInvalidArgument if there is no such request or the bytes are not whole rows of it; kOutOfMemory.
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
  /// Error: kTruncated if rows are missing; the message names the tensor.
  [[nodiscard]] Result<void> finish_load();

 private:
  Model() = default;
  [[nodiscard]] Precision precision_of(const TensorRequest& request, Precision precision) const;
  [[nodiscard]] Result<uint64_t> weight_bytes(Precision precision) const;

  const Architecture* architecture_ = nullptr;
  Hparams hparams_;
  Weights weights_;
  std::vector<TensorRequest> plan_;
  Precision precision_ = Precision::kExact;
  std::vector<float> slopes_;
  std::vector<float> steering_;  // [n_layer, n_embd]
  const Model* target_ = nullptr;
};

}  // namespace ggufscope
