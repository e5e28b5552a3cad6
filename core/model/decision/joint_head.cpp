// The joint head of Clef, which answers all questions of a prompt at once. hidden = LN of the body's states; means are
// over a span; lexical: of the output embedding's rows.
//
//   memory = proj_memory hidden                                                   [n_tokens, n]
//   option = proj_option_context mean(hidden) + proj_option_lexical mean(lexical) + proj_option_question(question)
//   routing blocks:  option += attention(LN option, LN memory);  option += ffn(option)
//   field  = proj_question mean(hidden) + LN(its options, weighted by softmax(field . option / sqrt(n)))
//            + proj_global(last token) + token_types[type]
//   joint blocks:    field += attention among fields;  field += attention(LN field, memory);  field += ffn(field)
//   score  = scales[0] cos(lexical, question + last token)
//            + scales[2] (scales[1] cos(option, field) + scorer_out GELU_erf(scorer [f, o, f o, |f - o|]))
#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/decision/blocks.hpp"
#include "model/decision/decision.hpp"
#include "model/model.hpp"
#include "model/rows.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

struct JointAttention {
  Linear q, k, v, out;
};

struct JointBlock {
  Affine self_norm, cross_norm, memory_norm, ffn_norm;  // self_norm: joint blocks; memory_norm: routing blocks
  JointAttention self, cross;
  Linear up, down;
};

struct JointHeadWeights {
  Affine hidden_norm, summary_norm, field_norm, option_norm;
  Linear memory, question, option_question, global, option_context, option_lexical;
  Vector scales;  // [3]
  Vector types;   // [kQuestionTypes, n]
  Linear scorer, scorer_out;
  std::vector<JointBlock> blocks;  // the routing blocks first
};

void plan_joint_attention(Planner& p, JointAttention& w, const std::string& prefix, uint64_t n) {
  plan_biased(p, w.q, prefix + "q", n, n);
  plan_biased(p, w.k, prefix + "k", n, n);
  plan_biased(p, w.v, prefix + "v", n, n);
  plan_biased(p, w.out, prefix + "o", n, n);
}

// Buffers of the whole head. n_rows: the larger of the numbers of options and questions.
struct JointBuffers {
  size_t n = 0;              // width of the head
  float* hidden;             // [n_tokens, n_embd]
  float* memory;             // [n_tokens, n]
  float* normed;             // the same
  float *k, *v;              // the same, or [n_rows, n]
  float* question;           // [n_questions, n_embd]: means of hidden
  float* context;            // [n_options, n_embd]: the same
  float* lexical;            // [n_options, n_embd]: means of the output embedding's rows
  float* words;              // [n_tokens, n_embd]
  float* options;            // [n_options, n]
  float* fields;             // [n_questions, n]
  float *q, *mixed, *added;  // [n_rows, n]
  float* inner;              // [n_rows, width of the feed-forward network]
  float* features;           // [n_options, 4 n]
};

JointBuffers take_joint_buffers(const DecisionInput& in, const JointHeadWeights& w) {
  const size_t n_tokens = in.tokens.size(), n_embd = in.model.hparams().n_embd, n = w.memory.n_out;
  const size_t n_options = in.spans.options.size(), n_questions = in.spans.questions.size();
  const size_t n_rows = std::max(n_options, n_questions);
  size_t n_ff = n;
  for (const JointBlock& block : w.blocks) n_ff = std::max(n_ff, block.up.n_out);
  const auto take = [&](auto... shape) { return in.arena.take(shape...); };
  JointBuffers b{};
  b.n = n;
  b.hidden = take(n_tokens, n_embd);
  for (float** rows : {&b.memory, &b.normed, &b.k, &b.v}) *rows = take(std::max(n_tokens, n_rows), n);
  b.question = take(n_questions, n_embd);
  b.context = take(n_options, n_embd);
  b.lexical = take(n_options, n_embd);
  b.words = take(n_tokens, n_embd);
  b.options = take(n_options, n);
  b.fields = take(n_questions, n);
  for (float** rows : {&b.q, &b.mixed, &b.added}) *rows = take(n_rows, std::max(n, n_embd));
  b.inner = take(n_rows, n_ff);
  b.features = take(n_options, 4, n);
  return b;
}

void normed_rows(const DecisionInput& in, const Affine& norm, const float* x, size_t n_rows, size_t n, float* y) {
  normalize_rows(in.pool, in.model.hparams().part<DecisionSizes>().norm_eps, NormKind::kLayer, norm, x, n_rows, n, y);
}

// x += attention of LN x over kv [n_kv, n].
void add_attention(const DecisionInput& in, const JointBuffers& b, const JointAttention& w, const Affine& norm,
                   float* x, size_t n_rows, const float* kv, size_t n_kv) {
  const size_t n = b.n, n_head = in.model.hparams().part<DecisionSizes>().n_head;
  const HeadShape shape{n_head, n_head, n / n_head, n / n_head};
  normed_rows(in, norm, x, n_rows, n, b.added);
  apply(in.pool, w.q, b.added, n_rows, b.q);
  apply(in.pool, {{&w.k, b.k}, {&w.v, b.v}}, kv == nullptr ? b.added : kv, n_kv);
  attend_rows(in.pool, shape, {b.q, n}, n_rows, {b.k, n}, {b.v, n}, n_kv, {}, b.mixed);
  apply(in.pool, w.out, b.mixed, n_rows, b.added);
  add_rows(in.pool, x, b.added, n_rows, n);
}

void add_ffn(const DecisionInput& in, const JointBuffers& b, const JointBlock& w, float* x, size_t n_rows) {
  normed_rows(in, w.ffn_norm, x, n_rows, b.n, b.added);
  apply(in.pool, w.up, b.added, n_rows, b.inner);
  gelu_erf(b.inner, n_rows * w.up.n_out);
  apply(in.pool, w.down, b.inner, n_rows, b.added);
  add_rows(in.pool, x, b.added, n_rows, b.n);
}

// out [spans.size(), n]: the mean of each span's rows.
void mean_rows(std::span<const DecisionSpan> spans, const float* rows, size_t n, float* out) {
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto [first, end, _] = spans[i];
    std::fill_n(out + i * n, n, 0.0f);
    for (size_t t = first; t < end; ++t) vec::add_scaled(out + i * n, 1.0f / float(end - first), rows + t * n, n);
  }
}

// to [n_rows, w.n_out] += w from.
void add_product(const DecisionInput& in, const JointBuffers& b, const Linear& w, const float* from, size_t n_rows,
                 float* to) {
  apply(in.pool, w, from, n_rows, b.added);
  add_rows(in.pool, to, b.added, n_rows, w.n_out);
}

void embed_options(const DecisionInput& in, const JointHeadWeights& w, const JointBuffers& b) {
  const size_t n_embd = in.model.hparams().n_embd, n = b.n, n_options = in.spans.options.size();
  mean_rows(in.spans.questions, b.hidden, n_embd, b.question);
  mean_rows(in.spans.options, b.hidden, n_embd, b.context);
  look_up(in.pool, in.model.output(), in.tokens, b.words);
  mean_rows(in.spans.options, b.words, n_embd, b.lexical);
  apply(in.pool, w.option_context, b.context, n_options, b.options);
  add_product(in, b, w.option_lexical, b.lexical, n_options, b.options);
  apply(in.pool, w.option_question, b.question, in.spans.questions.size(), b.q);
  for (size_t i = 0; i < n_options; ++i) vec::add(b.options + i * n, b.q + in.spans.options[i].question * n, n);
}

// Each question's vector, from its text, a summary of its options, the end of the prompt and its type.
void embed_fields(const DecisionInput& in, const JointHeadWeights& w, const JointBuffers& b, const float* last_token) {
  const size_t n = b.n, n_questions = in.spans.questions.size(), n_options = in.spans.options.size();
  apply(in.pool, w.question, b.question, n_questions, b.fields);
  std::vector<float> weights;
  for (size_t i = 0; i < n_questions; ++i) {
    weights.clear();
    for (size_t o = 0; o < n_options; ++o)
      if (in.spans.options[o].question == i)
        weights.push_back(vec::dot(b.options + o * n, b.fields + i * n, n) / std::sqrt(static_cast<float>(n)));
    softmax(weights.data(), weights.size());
    float* summary = b.mixed + i * n;
    std::fill_n(summary, n, 0.0f);
    for (size_t o = 0, at = 0; o < n_options; ++o)
      if (in.spans.options[o].question == i) vec::add_scaled(summary, weights[at++], b.options + o * n, n);
  }
  normed_rows(in, w.summary_norm, b.mixed, n_questions, n, b.added);
  add_rows(in.pool, b.fields, b.added, n_questions, n);
  apply(in.pool, w.global, last_token, 1, b.q);
  for (size_t i = 0; i < n_questions; ++i) {
    vec::add(b.fields + i * n, b.q, n);
    vec::add(b.fields + i * n, w.types.data() + in.spans.questions[i].question * n, n);
  }
}

float cosine(const float* a, const float* b, size_t n) {
  constexpr float kMinLength = 1e-12f;
  const auto length = [&](const float* x) { return std::max(std::sqrt(vec::dot(x, x, n)), kMinLength); };
  return vec::dot(a, b, n) / length(a) / length(b);
}

// Scores of finished options and fields.
void score_fields(const DecisionInput& in, const JointHeadWeights& w, const JointBuffers& b, const float* last_token,
                  float* scores) {
  const size_t n = b.n, n_embd = in.model.hparams().n_embd, n_options = in.spans.options.size();
  normed_rows(in, w.option_norm, b.options, n_options, n, b.options);
  for (size_t i = 0; i < n_options; ++i) {
    const float *o = b.options + i * n, *f = b.fields + in.spans.options[i].question * n;
    float* to = b.features + 4 * i * n;
    std::memcpy(to, f, n * sizeof(float));
    std::memcpy(to + n, o, n * sizeof(float));
    for (size_t at = 0; at < n; ++at) to[2 * n + at] = f[at] * o[at], to[3 * n + at] = std::fabs(f[at] - o[at]);
  }
  apply(in.pool, w.scorer, b.features, n_options, b.q);
  gelu_erf(b.q, n_options * n);
  apply(in.pool, w.scorer_out, b.q, n_options, scores);
  const float* scales = w.scales.data();
  for (size_t i = 0; i < n_options; ++i) {
    const size_t question = in.spans.options[i].question;
    float* anchor = b.added;
    std::memcpy(anchor, b.question + question * n_embd, n_embd * sizeof(float));
    vec::add(anchor, last_token, n_embd);
    const float prior = cosine(b.lexical + i * n_embd, anchor, n_embd);
    const float joint = scales[1] * cosine(b.fields + question * n, b.options + i * n, n) + scores[i];
    scores[i] = scales[0] * prior + scales[2] * joint;
  }
}

}  // namespace

void plan_joint_head(Planner& p, const Hparams& h, Weights& weights) {
  JointHeadWeights& w = weights.decision.create<JointHeadWeights>();
  const DecisionSizes& sizes = h.part<DecisionSizes>();
  const uint64_t n_embd = h.n_embd, n = p.rows_of("decision.proj_memory"), n_ff = p.rows_of("dec.blk.0.ffn_up");
  if (n == 0 || n_ff == 0) return p.refuse(ErrorCode::kNotFound, "the decision head is missing");
  if (sizes.n_head == 0 || n % sizes.n_head != 0)
    return p.refuse(ErrorCode::kOutOfRange, "decision.head_count does not divide the width of the decision head");
  w.blocks.resize(size_t{sizes.n_routing} + sizes.n_blocks);
  for (size_t i = 0; i < w.blocks.size() && !p.failed(); ++i) {
    JointBlock& block = w.blocks[i];
    const std::string prefix = "dec.blk." + std::to_string(i) + ".";
    if (i < sizes.n_routing) {
      plan_layer_norm(p, block.memory_norm, prefix + "cross_attn_norm_kv", n);
    } else {
      plan_layer_norm(p, block.self_norm, prefix + "attn_norm", n);
      plan_joint_attention(p, block.self, prefix + "attn_", n);
    }
    plan_layer_norm(p, block.cross_norm, prefix + "cross_attn_norm", n);
    plan_joint_attention(p, block.cross, prefix + "cross_attn_", n);
    plan_layer_norm(p, block.ffn_norm, prefix + "ffn_norm", n);
    plan_biased(p, block.up, prefix + "ffn_up", n, n_ff);
    plan_biased(p, block.down, prefix + "ffn_down", n_ff, n);
  }
  plan_layer_norm(p, w.hidden_norm, "decision.hidden_norm", n_embd);
  plan_layer_norm(p, w.summary_norm, "decision.option_summary_norm", n);
  plan_layer_norm(p, w.field_norm, "decision.field_norm", n);
  plan_layer_norm(p, w.option_norm, "decision.option_norm", n);
  plan_unbiased(p, w.memory, "decision.proj_memory", n_embd, n);
  plan_unbiased(p, w.question, "decision.proj_question", n_embd, n);
  plan_unbiased(p, w.option_question, "decision.proj_option_question", n_embd, n);
  plan_unbiased(p, w.global, "decision.proj_global", n_embd, n);
  plan_unbiased(p, w.option_context, "decision.proj_option_context", n_embd, n);
  plan_unbiased(p, w.option_lexical, "decision.proj_option_lexical", n_embd, n);
  p.vector(w.scales, "decision.scales", 3, Need::kRequired);
  p.vector(w.types, "token_types.weight", n * kQuestionTypes, Need::kRequired);
  plan_biased(p, w.scorer, "decision.scorer", 4 * n, n);
  plan_biased(p, w.scorer_out, "decision.scorer_out", n, 1);
}

void run_joint_head(const DecisionInput& in, float* scores) {
  const JointHeadWeights& w = in.model.weights().decision.get<JointHeadWeights>();
  const size_t n_tokens = in.tokens.size(), n_embd = in.model.hparams().n_embd;
  const size_t n_options = in.spans.options.size(), n_questions = in.spans.questions.size();
  const size_t n_routing = in.model.hparams().part<DecisionSizes>().n_routing;
  const ArenaScope scope(in.arena);
  const JointBuffers b = take_joint_buffers(in, w);
  if (in.arena.counting()) return;
  normed_rows(in, w.hidden_norm, in.hidden, n_tokens, n_embd, b.hidden);
  apply(in.pool, w.memory, b.hidden, n_tokens, b.memory);
  const float* last_token = b.hidden + (n_tokens - 1) * n_embd;
  embed_options(in, w, b);
  for (size_t i = 0; i < n_routing; ++i) {
    normed_rows(in, w.blocks[i].memory_norm, b.memory, n_tokens, b.n, b.normed);
    add_attention(in, b, w.blocks[i].cross, w.blocks[i].cross_norm, b.options, n_options, b.normed, n_tokens);
    add_ffn(in, b, w.blocks[i], b.options, n_options);
  }
  embed_fields(in, w, b, last_token);
  for (size_t i = n_routing; i < w.blocks.size(); ++i) {
    add_attention(in, b, w.blocks[i].self, w.blocks[i].self_norm, b.fields, n_questions, nullptr, n_questions);
    add_attention(in, b, w.blocks[i].cross, w.blocks[i].cross_norm, b.fields, n_questions, b.memory, n_tokens);
    add_ffn(in, b, w.blocks[i], b.fields, n_questions);
  }
  normed_rows(in, w.field_norm, b.fields, n_questions, b.n, b.fields);
  score_fields(in, w, b, last_token, scores);
}

}  // namespace ggufscope
