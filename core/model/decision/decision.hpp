// Decision models: heads that score the options of questions from the hidden states of one pass.
//
//   typed      modern-bert, lfm2: blocks of attention and feed-forward over all tokens, once for each type of question;
//              one score for each token and type, read at the tokens that mark the options
//   endpoints  vllm-decision2: the state of an option's last token against that of the question's last token
//   joint      clef: options attend to the whole prompt, questions to each other and to the prompt
//
// The typed head is part of a forward pass, whose output is [n_tokens, n_types]. The other two read the normalized
// hidden states of the whole text, and where its questions and options are.
#pragma once

#include <span>
#include <vector>

#include "model/arena.hpp"
#include "model/hparams.hpp"

namespace ggufscope {

class Model;
class Planner;
class Pool;
struct Pass;
struct Weights;

enum class DecisionHead : uint8_t { kNone, kTyped, kEndpoints, kJoint };

struct DecisionSizes {
  DecisionHead head = DecisionHead::kNone;
  uint32_t n_routing = 0;               ///< joint: blocks in which options attend to the prompt
  uint32_t n_blocks = 0;                ///< typed: all blocks; joint: those in which questions attend to each other
  uint32_t n_head = 0;                  ///< joint: attention heads
  float norm_eps = 1e-5f;               ///< of the head's layer norms
  std::vector<LayerParameters> layers;  ///< typed: [n_blocks]
};

/// Number of question types, which are the rows of token_types: choice, score, noul.
inline constexpr uint32_t kQuestionTypes = 3;

/// What a token of a text is part of. Runs of equal values are spans; kNone separates two options. An option belongs to
/// the question before it, or to the only one.
enum class DecisionPart : uint8_t { kNone, kNoul, kChoice, kScore, kOption };

/// One score for each option, in their order in the text. hidden: the normalized states [tokens.size(), n_embd].
/// Errors: kUnsupported if the model has no head that reads spans; kInvalidArgument if a question has no option, an
/// option no question, or the head cannot read several questions; kOutOfMemory.
[[nodiscard]] Result<std::vector<float>> score_options(const Model& model, Pool& pool, std::span<const int32_t> tokens,
                                                       std::span<const DecisionPart> parts, const float* hidden);

/// The epsilon of the head's layer norms, which the file must have.
void read_head_epsilon(DecisionSizes& sizes, Keys& keys);
/// The hyper-parameters of a typed head, if the file has decision.block_count: the last blocks are the head's.
void read_typed_head(Hparams& h, Keys& keys);
void plan_decision_head(Planner& planner, const Hparams& h, Weights& w);
/// hidden [n_tokens, n_embd] -> scores [n_tokens, kQuestionTypes].
void run_typed_head(Pass& pass, const float* hidden, float* scores);

// Between the files of this folder.

struct DecisionSpan {
  uint32_t first = 0, end = 0;  // tokens
  uint32_t question = 0;        // of an option: the index of its question; of a question: its type, 0 for kNoul
};
struct DecisionSpans {
  std::vector<DecisionSpan> questions, options;
};

/// What a head reads. In a run that only counts memory, its pointers are nullptr.
struct DecisionInput {
  const Model& model;
  Pool& pool;
  Arena& arena;
  const DecisionSpans& spans;
  std::span<const int32_t> tokens;
  const float* hidden;  // [n_tokens, n_embd]
};

void plan_typed_head(Planner& planner, const Hparams& h, Weights& w);
void plan_endpoint_head(Planner& planner, const Hparams& h, Weights& w);
void plan_joint_head(Planner& planner, const Hparams& h, Weights& w);
/// scores: [n_options].
void run_endpoint_head(const DecisionInput& input, float* scores);
void run_joint_head(const DecisionInput& input, float* scores);

}  // namespace ggufscope
