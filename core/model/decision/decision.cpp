// Finds the spans of a text's questions and options, and runs the model's decision head on them.
#include "model/decision/decision.hpp"

#include "base/sentence.hpp"
#include "model/model.hpp"

namespace ggufscope {
namespace {

Result<DecisionSpans> find_spans(std::span<const DecisionPart> parts) {
  DecisionSpans spans;
  for (uint32_t first = 0, end = 0; first < parts.size(); first = end) {
    const DecisionPart part = parts[first];
    for (end = first + 1; end < parts.size() && parts[end] == part;) ++end;
    if (part == DecisionPart::kNone) continue;
    if (part > DecisionPart::kOption) return fail(ErrorCode::kInvalidArgument, "a token has no known part");
    if (part == DecisionPart::kOption) {
      // Before the first question: counted modulo 2^32, and 0 if that question is the only one.
      spans.options.push_back({first, end, static_cast<uint32_t>(spans.questions.size()) - 1});
    } else {
      spans.questions.push_back({first, end, static_cast<uint32_t>(part) - 1});
    }
  }
  if (spans.questions.empty()) return fail(ErrorCode::kInvalidArgument, "the text has no question");
  std::vector<bool> answered(spans.questions.size(), false);
  for (DecisionSpan& option : spans.options) {
    if (spans.questions.size() == 1) option.question = 0;
    if (option.question >= spans.questions.size())
      return fail(ErrorCode::kInvalidArgument, "an option is before the first of several questions");
    answered[option.question] = true;
  }
  for (size_t i = 0; i < answered.size(); ++i)
    if (!answered[i]) return fail(ErrorCode::kInvalidArgument, "question " + std::to_string(i) + " has no option");
  return spans;
}

}  // namespace

void read_head_epsilon(DecisionSizes& sizes, Keys& keys) {
  if (!keys.f32("attention.layer_norm_epsilon", sizes.norm_eps))
    keys.refuse(ErrorCode::kNotFound, "attention.layer_norm_epsilon is missing, which the decision head needs");
  if (sizes.norm_eps < 0) keys.refuse(ErrorCode::kOutOfRange, "the epsilon of the norms is negative");
}

Result<std::vector<float>> score_options(const Model& model, Pool& pool, std::span<const int32_t> tokens,
                                         std::span<const DecisionPart> parts, const float* hidden) {
  const DecisionHead head = model.hparams().part<DecisionSizes>().head;
  if (head != DecisionHead::kEndpoints && head != DecisionHead::kJoint)
    return fail(ErrorCode::kUnsupported, "this model has no decision head that reads questions and options");
  if (parts.size() != tokens.size()) return fail(ErrorCode::kInvalidArgument, "each token needs a part");
  const Result<DecisionSpans> spans = find_spans(parts);
  if (!spans) return std::unexpected(spans.error());
  if (head == DecisionHead::kEndpoints && spans->questions.size() != 1)
    return fail(ErrorCode::kInvalidArgument,
                "this model reads one question at a time, not " + counted(spans->questions.size(), "question"));
  const auto run = head == DecisionHead::kJoint ? run_joint_head : run_endpoint_head;
  Arena arena;
  arena.count();
  run({model, pool, arena, *spans, tokens, nullptr}, nullptr);
  if (const Result<void> done = arena.allocate_counted(); !done) return std::unexpected(done.error());
  std::vector<float> scores(spans->options.size());
  run({model, pool, arena, *spans, tokens, hidden}, scores.data());
  return scores;
}

void plan_decision_head(Planner& planner, const Hparams& h, Weights& w) {
  switch (h.part<DecisionSizes>().head) {
    case DecisionHead::kTyped:
      return plan_typed_head(planner, h, w);
    case DecisionHead::kEndpoints:
      return plan_endpoint_head(planner, h, w);
    case DecisionHead::kJoint:
      return plan_joint_head(planner, h, w);
    case DecisionHead::kNone:
      return;
  }
}

}  // namespace ggufscope
