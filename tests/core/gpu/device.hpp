// A model whose plan the interpreter runs.
#pragma once

#include <algorithm>

#include "../model_data.hpp"
#include "interpret.hpp"
#include "model/kv_cells.hpp"

namespace ggufscope::test {

// A model on the interpreter.
struct PlanDevice {
  Model& model;
  Pool& pool;
  gpu::Plan plan;
  std::unique_ptr<State> state;
  PlanInterpreter interpreter{plan};
  gpu::StateSlots slots{};  // of the last pass

  PlanDevice(Model& m, Pool& p, gpu::Plan made, StateOptions options, ByteView bytes)
      : model(m), pool(p), plan(std::move(made)) {
    options.cells_only = true;
    BOOST_REQUIRE(model.begin_load(pool, Precision::kExact).has_value());
    for (uint32_t i = 0; i < model.plan().size(); ++i) {
      const TensorRequest& r = model.plan()[i];
      const ByteView all = bytes.subspan(static_cast<size_t>(r.entry.offset), static_cast<size_t>(r.entry.n_bytes));
      // In two parts, if there are enough rows.
      const uint64_t middle = r.n_rows / 2 / gpu::kRepackRows * gpu::kRepackRows;
      for (const auto& [first, n] : {std::pair(middle, r.n_rows - middle), std::pair(uint64_t{0}, middle)}) {
        const auto writes =
            gpu::repack(plan, model, i, first,
                        all.subspan(static_cast<size_t>(first * r.row_bytes), static_cast<size_t>(n * r.row_bytes)));
        BOOST_REQUIRE_MESSAGE(writes.has_value(), (writes ? "" : writes.error().message));
        for (const gpu::BufferWrite& write : *writes) interpreter.write(write);
      }
      if (std::ranges::find(plan.host_requests, i) != plan.host_requests.end())
        BOOST_REQUIRE(model.set_rows(pool, i, 0, all).has_value());
    }
    state = make_state(model, pool, options);
  }

  // Places tokens, and gives the device their record. chosen: the first token is what was chosen last. encodes: they
  // are what an encoder reads.
  std::vector<uint32_t> place(std::span<const int32_t> tokens, std::span<const uint32_t> outputs, bool chosen = false,
                              bool encodes = false) {
    Batch batch;
    batch.tokens = tokens;
    batch.both_ways = encodes;
    slots = next_slots();
    auto pass = place_batch(model, *state, pool, batch, 0, tokens.size());
    BOOST_REQUIRE_MESSAGE(pass.has_value(), (pass ? "" : pass.error().message));
    std::vector<uint32_t> ids(tokens.begin(), tokens.end());
    if (chosen) ids[0] = gpu::kChosen;
    const auto step = gpu::step_record(plan, *pass, ids, outputs, slots);
    BOOST_REQUIRE_MESSAGE(step.has_value(), (step ? "" : step.error().message));
    interpreter.set_step(*step);
    commit_batch(*pass, true);
    return *step;
  }

  // Encodes a text for the tokens after it, if there is one.
  void encode(std::span<const int32_t> tokens) {
    state->clear();
    if (tokens.empty()) return;
    place(tokens, {}, false, true);
    interpreter.run(plan.embeddings);
    state->clear();
    state->n_encoded = tokens.size();
  }

  // The outputs of the wanted tokens (empty: of all).
  std::vector<float> evaluate(std::span<const int32_t> tokens, std::span<const uint32_t> outputs, bool decode,
                              bool chosen = false) {
    place(tokens, outputs, chosen);
    interpreter.run(decode ? plan.decode : plan.prefill);
    const bool embeds = model.is_encoder();
    interpreter.run(embeds ? plan.embeddings : decode ? plan.decode_logits : plan.prefill_logits);
    interpreter.run(plan.choose);
    BOOST_REQUIRE_MESSAGE(interpreter.fault().empty(), interpreter.fault());
    const auto all = interpreter.floats(embeds ? plan.embedded : plan.logits);
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(outputs.size() * model.n_output())};
  }
  // A pass writes another slot than the one that the last pass wrote.
  [[nodiscard]] gpu::StateSlots next_slots() const {
    return {state->recurrent_end(0) < 0 ? gpu::kAbsent : slots.to, (slots.to + 1) % std::max(plan.n_slots, 1u)};
  }
  [[nodiscard]] int32_t chosen(size_t row) const { return static_cast<int32_t>(interpreter.words(plan.chosen)[row]); }
};

inline std::vector<uint32_t> first_n(size_t n) {
  std::vector<uint32_t> all(n);
  for (uint32_t i = 0; i < n; ++i) all[i] = i;
  return all;
}

}  // namespace ggufscope::test
