// Opens a model: plans its tensors, counts its memory, and loads its rows.
#include "model/model.hpp"

#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "base/word_list.hpp"
#include "gguf/access.hpp"
#include "model/architectures/assistant.hpp"
#include "model/architectures/mtp_head.hpp"
#include "model/ffn.hpp"
#include "model/mixers/block_draft.hpp"
#include "model/mixers/cross_attention.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/mixers/rwkv.hpp"
#include "model/pooling.hpp"
#include "model/residual/altup.hpp"
#include "model/residual/hyper_connections.hpp"
#include "model/residual/low_rank_connections.hpp"
#include "model/residual/ngram_embedding.hpp"
#include "model/residual/recurrent_stacks.hpp"
#include "model/residual/residual_attention.hpp"
#include "model/rwkv_container.hpp"
#include "model/wavtokenizer.hpp"

namespace ggufscope {
namespace {

void plan_norms(const LayerPlan& plan, LayerWeights& w) {
  const Architecture& a = plan.architecture;
  const auto norm = [&](Affine& to, std::string_view name, Need need) {
    if (name.empty()) return;
    if (a.unweighted_norms) {
      to.present = true;
    } else {
      plan.planner.affine(to, plan.name(name), plan.h.n_embd, need, a.norm_biases ? need : Need::kOptional);
    }
  };
  NormNames names = a.norms;
  const bool is_head = plan.h.part<DraftSizes>().kind == DraftKind::kMtpHead;
  if (is_head && names.ffn.empty() && !names.attention.empty() && !plan.h.parallel) names.ffn = "post_attention_norm";
  if (plan.h.norms_follow) names = {"", names.attention, "", names.ffn, names.output};
  norm(w.attn_norm, names.attention, a.attention_norm_optional ? Need::kOptional : Need::kRequired);
  if (names.ffn != "attn_norm_2" && names.attention != "attn_norm_2" && plan.layer.mixer != MixerKind::kLightning &&
      plan.planner.has(plan.name("attn_norm_2.weight")))
    norm(w.attn_norm_2, "attn_norm_2", Need::kOptional);
  if (plan.layer.mixer != MixerKind::kNone) norm(w.attn_post_norm, names.after_attention, Need::kRequired);
  // Layers without a feed-forward network, and parallel blocks that share a norm, have no separate norm here.
  const bool shares = plan.h.parallel || !(has_ffn(w) || w.channel_mix);
  norm(w.ffn_norm, names.ffn, shares ? Need::kOptional : Need::kRequired);
  if (has_ffn(w)) norm(w.ffn_post_norm, names.after_ffn, Need::kRequired);
}

void plan_layer(Planner& planner, const Architecture& a, const Hparams& h, std::string_view blocks, size_t il,
                LayerWeights& w) {
  const std::string number = std::to_string(h.first_layer + il);
  const LayerPlan plan{planner, a, h, h.layers[il], il, std::string(blocks) + number + "."};
  // Tensors of such a layer are not used.
  if (plan.layer.mixer == MixerKind::kNone && plan.layer.n_ff == 0) return planner.ignore(plan.prefix);
  if (const Mixer& mixer = find_mixer(plan.layer.mixer); mixer.plan != nullptr) mixer.plan(plan, w);
  if (planner.has(plan.name("channel_mix_key.weight"))) {
    plan_channel_mix(plan, w);
  } else {
    plan_ffn(plan, w);
  }
  plan_norms(plan, w);
  if (h.n_embd_per_layer != 0) plan_per_layer(plan, w);
  planner.vector(w.output_scale, plan.name("layer_output_scale.weight"), 1, Need::kOptional);
  if (h.part<HyperSizes>().n != 0) plan_hyper(plan, w);
  if (h.part<LowRankSizes>().n != 0) plan_low_rank(plan, w), plan_ngrams(plan, w);
  if (h.part<BankSizes>().block != 0) plan_bank(plan, w);
  for (const std::string_view word : WordList(a.required)) {
    const std::string name = plan.name(word);
    if (!planner.has(name)) planner.refuse(ErrorCode::kNotFound, "tensor " + name + " is missing");
  }
}

void plan_embeddings(Planner& planner, const Architecture& a, const Hparams& h, Weights& w) {
  planner.linear(w.token_embedding, "token_embd", h.n_embd, h.n_vocab,
                 h.part<DraftSizes>().n_features != 0 ? Need::kOptional : Need::kRequired);
  if (planner.has("position_embd.weight") || a.position_embedding)
    planner.linear(w.position_embedding, "position_embd", h.n_embd, h.n_ctx_train);
  if (h.part<DecisionSizes>().head == DecisionHead::kNone)  // else its rows are the types of questions
    planner.first_row(w.token_type, "token_types.weight", h.n_embd, Need::kOptional);
  if (a.normalize_embedding) w.embedding_norm.present = true;
  if (a.norms.output != "token_embd_norm" && !a.normalize_embedding)
    planner.affine(w.embedding_norm, "token_embd_norm", h.n_embd, Need::kOptional);
}

void plan_output(Planner& planner, const Architecture& a, const Hparams& h, Weights& w) {
  if (!a.norms.output.empty()) {
    if (a.unweighted_norms) {
      w.output_norm.present = true;
    } else {
      const Need bias = a.norm_biases && a.norms.output == "output_norm" ? Need::kRequired : Need::kOptional;
      planner.affine(w.output_norm, std::string(a.norms.output), h.n_embd, Need::kRequired, bias);
    }
  }
  if (h.part<HyperSizes>().n != 0) plan_hyper_ends(planner, h, w);
  if (h.part<LowRankSizes>().n != 0) plan_low_rank_ends(planner, h, w);
  if (h.part<BankSizes>().block != 0) plan_bank_output(planner, h, w);
  if (h.stacks.n_layer != 0) plan_stacks(planner, h, w);
  const DecisionHead head = h.part<DecisionSizes>().head;
  plan_decision_head(planner, h, w);
  if (h.n_embd_out != 0 && !a.encoder && head == DecisionHead::kNone && h.part<LowRankSizes>().n == 0)
    planner.linear(w.embedding_output, "cls.output", h.n_embd, h.n_embd_out);
  if (head != DecisionHead::kTyped) plan_pooling(planner, a, h, w.pooling);
  if (!a.ignored.empty()) planner.ignore(a.ignored);
  if (head == DecisionHead::kTyped) {
    planner.ignore("output.weight");
  } else if (h.n_embd_out != 0 && a.encoder) {
    planner.linear(w.embedding_output, "output", h.n_embd, h.n_embd_out);
  } else if (head == DecisionHead::kJoint) {
    planner.linear(w.output, "output", h.n_embd, h.n_vocab, Need::kOptional);
  } else if (a.encoder) {
    planner.ignore("output.weight");
  } else if (h.part<DraftSizes>().n_features != 0) {
    plan_draft_ends(planner, h, w);
  } else {
    // Silent tokens from the first one on have no rows.
    const uint32_t n_rows = h.n_vocab - (h.first_silent == 0 ? h.n_silent : 0);
    planner.linear(w.output, "output", h.n_embd, n_rows, a.needs_output ? Need::kRequired : Need::kOptional);
    if (!w.output) planner.vector(w.output_bias, "output.bias", h.n_vocab, Need::kOptional);
  }
}

// Tensors that all layers share.
void plan_shared(Planner& planner, const Architecture& a, const Hparams& h, Weights& w) {
  const auto half = std::max(h.rope.n_rot, h.rope_windowed.n_rot) / 2;
  if (half > 0) {
    planner.vector(w.rope_factors, "rope_freqs.weight", half, Need::kOptional);
    planner.vector(w.rope_factors_long, "rope_factors_long.weight", half, Need::kOptional);
    planner.vector(w.rope_factors_short, "rope_factors_short.weight", half, Need::kOptional);
  }
  plan_ngram_table(planner, h, w);
  if (h.n_embd_per_layer != 0) {
    const uint64_t n = uint64_t{h.n_embd_per_layer} * h.n_layer;
    planner.linear(w.per_layer_embedding, "per_layer_token_embd", n, h.n_vocab,
                   a.encoder ? Need::kOptional : Need::kRequired);
    planner.linear(w.per_layer_model_proj, "per_layer_model_proj", h.n_embd, n);
    planner.affine(w.per_layer_proj_norm, "per_layer_proj_norm", h.n_embd_per_layer);
    if (a.altup) plan_altup_model(planner, h, w);
  }
}

void plan_layers(Planner& planner, const Architecture& a, const Hparams& h, Weights& w) {
  w.layers.resize(h.n_blocks());
  for (size_t il = 0; il < w.layers.size() && !planner.failed(); ++il) {
    plan_layer(planner, a, h, a.blocks, il, w.layers[il]);
    const LayerPlan plan{planner, a, h, h.layers[il], il, std::string(a.blocks) + std::to_string(il) + "."};
    if (a.altup) plan_altup(plan, w, w.layers[il]);
    if (a.encoder_decoder) plan_cross_attention(plan, w.layers[il]), plan_decoder_scales(planner, il, w.layers[il]);
  }
  for (uint32_t i = 0; i < h.n_next_layer; ++i)
    planner.ignore(std::string(a.blocks) + std::to_string(h.n_layer + i) + ".");
}

void plan_model(Planner& planner, const Architecture& a, Hparams& h, Weights& w) {
  if (const TensorEntry* embedding = planner.find("token_embd.weight"); embedding != nullptr) {
    const uint64_t n = embedding->shape[1];
    if (n == 0 || n > Keys::kMaxCount)
      return planner.refuse(ErrorCode::kBadShape, "tensor token_embd.weight has " + counted(n, "row"));
    h.n_vocab = static_cast<uint32_t>(n);
  } else if (h.part<DraftSizes>().n_features == 0) {
    return planner.refuse(ErrorCode::kNotFound, "tensor token_embd.weight is missing");
  }
  if (h.part<CodecSizes>().n != 0) return plan_codec(planner, h, w);
  if (h.part<DraftSizes>().kind == DraftKind::kAssistant) {
    plan_assistant_ends(planner, h, w);
    plan_shared(planner, a, h, w);
    return plan_layers(planner, a, h, w);
  }
  if (h.part<DraftSizes>().kind == DraftKind::kMtpHead) {
    plan_mtp_head(planner, a, h, w);
    plan_shared(planner, a, h, w);
    plan_layers(planner, a, h, w);
    return planner.ignore("");
  }
  plan_embeddings(planner, a, h, w);
  plan_output(planner, a, h, w);
  plan_shared(planner, a, h, w);
  plan_layers(planner, a, h, w);
  if (!a.encoder_decoder) return;
  w.encoder.resize(h.n_encoder_layer);
  for (size_t il = 0; il < h.n_encoder_layer && !planner.failed(); ++il)
    plan_layer(planner, a, h, "enc.blk.", il, w.encoder[il]);
  planner.affine(w.encoder_norm, "enc.output_norm", h.n_embd);
}

/// The keys of a set's first file, beside the tensors of all files: hyper-parameters depend on which tensors there are.
struct JoinedHeader {
  explicit JoinedHeader(std::span<const ModelFile> files) : header(files[0].gguf->header) {
    const ByteView first = files[0].gguf->bytes;
    bytes.assign(first.begin(), first.end());
    for (const ModelFile& file : files.subspan(1)) {
      for (TensorInfo info : file.gguf->header.tensors) {
        const std::string_view name = file.gguf->text(info.name);
        info.name.offset = bytes.size();
        bytes.insert(bytes.end(), name.begin(), name.end());
        header.tensors.push_back(info);
      }
    }
  }

  Header header;
  std::vector<uint8_t> bytes;
};

}  // namespace

Result<std::vector<TensorEntry>> tensor_entries(std::span<const ModelFile> files) {
  std::vector<TensorEntry> tensors;
  for (size_t file = 0; file < files.size(); ++file) {
    const Gguf& gguf = *files[file].gguf;
    for (const TensorInfo& info : gguf.header.tensors) {
      if (info.n_dims > 4)
        return fail(ErrorCode::kBadShape,
                    "tensor " + std::string(gguf.text(info.name)) + " has more than 4 dimensions");
      TensorEntry entry;
      entry.name = gguf.text(info.name);
      entry.n_dims = info.n_dims;
      for (size_t i = 0; i < 4; ++i) entry.shape[i] = i < info.n_dims ? info.shape[i] : 1;
      entry.type = info.type;
      entry.offset = info.offset;
      entry.n_bytes = info.n_bytes;
      entry.file = static_cast<uint32_t>(file);
      entry.big_endian = gguf.header.big_endian;
      entry.file_size = files[file].size;
      tensors.push_back(std::move(entry));
    }
  }
  return tensors;
}

Result<std::unique_ptr<Model>> Model::open(std::span<const ModelFile> files, bool as_draft) {
  if (files.empty()) return fail(ErrorCode::kInvalidArgument, "no file to open");
  const Gguf& gguf = *files[0].gguf;
  const std::optional<std::string_view> name = get_string(gguf, "general.architecture");
  if (!name) return fail(ErrorCode::kNotFound, "general.architecture is missing, so this file is not a model");
  const Result<const Architecture*> architecture = find_architecture(*name);
  if (!architecture) return std::unexpected(architecture.error());
  Result<std::vector<TensorEntry>> tensors = tensor_entries(files);
  if (!tensors) return std::unexpected(tensors.error());
  if (is_rwkv_checkpoint(*tensors)) return open_rwkv_checkpoint(std::move(*tensors));
  const auto n_heads = get_u64(gguf, std::string(*name) + ".nextn_predict_layers");
  const MtpHead kind = (*architecture)->mtp_head;
  const bool mtp_head = as_draft && kind != MtpHead::kNone && kind != MtpHead::kWhole && n_heads.value_or(0) != 0;
  std::optional<JoinedHeader> joined;
  if (files.size() > 1) joined.emplace(files);
  Result<Hparams> hparams = joined ? read_hparams({joined->header, joined->bytes}, **architecture, mtp_head)
                                   : read_hparams(gguf, **architecture, mtp_head);
  if (!hparams) return std::unexpected(hparams.error());
  return open(**architecture, std::move(*hparams), std::move(*tensors));
}

Result<std::unique_ptr<Model>> Model::open(const Architecture& architecture, Hparams hparams,
                                           std::vector<TensorEntry> tensors) {
  std::unique_ptr<Model> model(new (std::nothrow) Model);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a model");
  model->architecture_ = &architecture;
  model->hparams_ = std::move(hparams);
  Planner planner(std::move(tensors));
  planner.leave_out([&](std::string_view name) { return !reads_tensor(architecture, name); });
  plan_model(planner, architecture, model->hparams_, model->weights_);
  Result<std::vector<TensorRequest>> plan = planner.take_plan();
  if (!plan) return std::unexpected(plan.error());
  model->plan_ = std::move(*plan);
  const Hparams& h = model->hparams_;
  if (h.max_alibi_bias > 0) {
    for (const LayerParameters& layer : h.layers)
      if (layer.n_head != h.layers[0].n_head)
        return fail(ErrorCode::kUnsupported, "ALiBi is not supported if layers have different numbers of heads");
    model->slopes_ = alibi_slopes(h.layers[0].n_head, h.max_alibi_bias);
  }
  return model;
}

Result<std::unique_ptr<Model>> Model::without_tensors(const Architecture& architecture) {
  std::unique_ptr<Model> model(new (std::nothrow) Model);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a model");
  model->architecture_ = &architecture;
  model->hparams_.n_ctx_train = model->hparams_.n_embd = 1;
  return model;
}

bool Model::is_recurrent() const {
  return std::any_of(hparams_.layers.begin(), hparams_.layers.end(),
                     [](const LayerParameters& layer) { return find_mixer(layer.mixer).state != nullptr; });
}

size_t Model::n_input() const {
  const size_t n_state = hparams_.part<DraftSizes>().n_state;
  return n_state != 0 ? n_state : size_t{hparams_.n_embd} * (1 + hparams_.n_deep_layer);
}

size_t Model::n_last_state() const { return size_t{n_state_streams(hparams_)} * hparams_.n_embd; }

bool Model::set_target(const Model& target) {
  if (hparams_.part<DraftSizes>().kind == DraftKind::kAssistant && !share_cache(target, hparams_)) return false;
  target_ = &target;
  if (!weights_.token_embedding) hparams_.n_vocab = target.hparams().n_vocab;
  return true;
}

RopeTable Model::rope_table(size_t which, uint32_t n_ctx) const {
  const Hparams& h = hparams_;
  const bool grown = n_ctx > h.rope.n_ctx_original;
  const Vector& factors = weights_.rope_factors ? weights_.rope_factors
                          : grown               ? weights_.rope_factors_long
                                                : weights_.rope_factors_short;
  const RopeParameters& rope = which == 0 ? h.rope : h.rope_windowed;
  const bool applies =
      h.rope_factors == RopeFactors::kAll || (h.rope_factors == RopeFactors::kFullLayers && which == 0);
  RopeTable table = make_rope_table(
      rope, applies && factors ? std::span(factors.data(), size_t{rope.n_rot} / 2) : std::span<const float>());
  // Multi-axis RoPE: text tokens have the same position on the first three axes and 0 on the fourth.
  const auto& s = h.rope_sections;
  const size_t n_sections = size_t{s[0]} + s[1] + s[2] + s[3];
  for (size_t i = 0; i < table.inverse_frequency.size() && n_sections > 0; ++i) {
    const size_t sector = i % n_sections;
    uint8_t axis = 0;
    if (h.rope_interleaved_sections) {
      axis = sector < size_t{3} * s[sector % 3] ? static_cast<uint8_t>(sector % 3) : uint8_t{3};
    } else {
      for (size_t end = s[0]; axis < 3 && sector >= end; end += s[axis]) ++axis;
    }
    if (axis == 3) table.inverse_frequency[i] = 0;
    table.axis.push_back(axis == 3 ? uint8_t{0} : axis);
  }
  return table;
}

namespace {
std::unexpected<Error> uncountable() {
  return fail(ErrorCode::kOverflow, "the model needs more memory than can be counted");
}
}  // namespace

// A matrix that is only used for look-ups, one row for each token, stays in the file's format.
Precision Model::precision_of(const TensorRequest& request, Precision precision) const {
  const Linear* const linear = request.linear;
  const bool looked_up = linear != nullptr &&
                         (is_draft_table(weights_, linear) || linear == &weights_.position_embedding ||
                          linear == &weights_.per_layer_embedding ||
                          (linear == &weights_.output && hparams_.part<DecisionSizes>().head == DecisionHead::kJoint) ||
                          (linear == &weights_.token_embedding &&
                           (is_encoder() || weights_.output || hparams_.part<DraftSizes>().n_features != 0)));
  return looked_up ? Precision::kExact : precision;
}

Result<uint64_t> Model::weight_bytes(Precision precision) const {
  uint64_t sum = 0;
  for (const TensorRequest& request : plan_) {
    const Result<uint64_t> bytes = loaded_size(request, precision_of(request, precision));
    if (!bytes) return std::unexpected(bytes.error());
    if (!add_product(sum, *bytes, 1)) return uncountable();
  }
  return sum;
}

Result<MemoryEstimate> Model::memory(const StateOptions& options, Precision precision, size_t n_threads) const {
  MemoryEstimate estimate;
  const Result<uint64_t> weights = weight_bytes(precision);
  if (!weights) return std::unexpected(weights.error());
  estimate.weights = *weights;
  const StateSizes sizes = state_sizes(*this, options);
  const bool fits = sizes.fits && add_product(estimate.cache, sizes.cache_bytes, 1) &&
                    add_product(estimate.recurrent, sizes.recurrent_floats, sizeof(float)) &&
                    add_product(estimate.scratch, sizes.arena_floats, sizeof(float)) &&
                    add_product(estimate.scratch, sizes.thread_floats * sizeof(float), n_threads);
  if (!fits || estimate.weights > (uint64_t{1} << 62) - estimate.cache) return uncountable();
  return estimate;
}

uint64_t Model::loaded_bytes() const { return ggufscope::loaded_bytes(plan_); }

Result<void> Model::begin_load(Pool&, Precision precision) {
  precision_ = precision;
  for (TensorRequest& request : plan_) request.n_rows_arrived = 0;
  return {};
}

Result<void> Model::set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows) {
  if (i >= plan_.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  return pack_rows(pool, plan_[i], precision_of(plan_[i], precision_), first_row, rows);
}

Result<void> Model::finish_load() { return all_arrived(plan_); }

}  // namespace ggufscope
