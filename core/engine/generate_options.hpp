// The options of an answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/answer_grammar.hpp"
#include "engine/sampler.hpp"
#include "model/probe.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

struct GenerateOptions {
  SamplerOptions sampler;
  /// Texts that end the answer and are not part of it. Control tokens have no text; they match by their names.
  std::vector<std::string> stop;
  std::vector<std::string> dry_breakers{"\n", ":", "\"", "*"};
  uint32_t n_probabilities = 0;  ///< number of most likely alternatives to report for each token
  bool ignore_end = false;       ///< no end-of-generation token is chosen
  bool shift = false;            ///< context shift: a full context drops the older half of what follows n_keep
  uint32_t n_keep = 4;           ///< first tokens that a shift keeps: attention sinks (Xiao et al. 2023)
  uint32_t n_lookup = 0;      ///< prompt-lookup decoding: maximum number of proposed tokens; does not change the answer
  uint32_t n_draft = 0;       ///< maximum number of tokens that the draft model proposes if lookup finds none
  bool fixed_drafts = false;  ///< always proposes as many as it can; otherwise as many as pay off (draft_length.hpp)
  std::string grammar;  ///< GBNF grammar of the answer, which will be complete unless a limit ends it; empty: any text
  std::vector<GrammarTrigger> triggers;  ///< where the grammar starts; empty: at the start of the answer
  std::vector<TokenId> shown;            ///< control tokens whose names are shown in the text
  std::vector<LayerPart> ablated;        ///< parts of the model that the answer is computed without
};

}  // namespace ggufscope
