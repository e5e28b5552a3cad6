// Generated models of many architectures, whose headers targets damage, and sessions of them.
#pragma once

#include <memory>
#include <optional>

#include "../core/made_architectures.hpp"
#include "../core/made_more.hpp"
#include "../core/made_variants.hpp"
#include "engine/session.hpp"
#include "made.hpp"

namespace ggufscope::fuzz {

inline const std::vector<test::MadeModel>& all_models() {
  static const std::vector<test::MadeModel> all = [] {
    std::vector<test::MadeModel> out = test::made_variants();
    for (const test::MadeModel& one :
         {test::made_llama(), test::made_experts(), test::made_gemma2(), test::made_mamba(), test::made_wide_mamba(),
          test::made_mamba2(), test::made_arctic(), test::made_deci(), test::made_gemma3n(), test::made_mistral4(),
          test::made_plamo2(), test::made_lfm2(), test::made_llama4(), test::made_t5(true)})
      out.push_back(one);
    return out;
  }();
  return all;
}

/// The header of one of them, damaged or not.
inline test::Bytes damaged_header(Choices& c) {
  test::MadeModel model = all_models()[c.pick(all_models().size())];
  for (size_t n = c.pick(4); n > 0; --n) damage(model, c);
  test::Bytes header = model.header();
  if (c.once_in(5)) damage(header, c);
  return header;
}

/// Gives a session its weights and starts it. False if it is too large for a test, or refuses them.
inline bool start(Session& session, const StateOptions& options, Choices& c) {
  constexpr uint64_t kMaxBytes = 32 << 20;
  const Precision precision = c.once_in(2) ? Precision::kExact : Precision::kFast;
  const Result<MemoryEstimate> memory = session.memory(options, precision);
  if (!memory || memory->total() > kMaxBytes || !session.begin_load(precision)) return false;
  const bool any = c.once_in(6);
  for (size_t i = 0; i < session.n_planned(); ++i) {
    const TensorRequest& r = session.planned(i);
    if (!session.set_rows(i, 0, rows_of(static_cast<size_t>(r.n_rows_kept * r.row_bytes), any, c))) return false;
  }
  return session.start(options).has_value();
}

}  // namespace ggufscope::fuzz
