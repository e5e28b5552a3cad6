// Writes the step record of a placed batch.
#include "gpu/step.hpp"

#include <algorithm>

#include "base/sentence.hpp"
#include "model/mixers/attention.hpp"

namespace ggufscope::gpu {
namespace {

// Appends a token's runs. by_position: splits them where positions are not consecutive.
void append_runs(std::vector<uint32_t>& words, std::span<const CellRun> runs, const std::vector<int32_t>& positions,
                 bool by_position) {
  for (const CellRun& run : runs)
    for (uint32_t begin = run.begin; begin < run.end;) {
      uint32_t end = by_position ? begin + 1 : run.end;
      while (end < run.end && positions[end] == positions[end - 1] + 1) ++end;
      append_words(words, StepRun{begin, end, positions[begin]});
      begin = end;
    }
}

void append_angles(std::vector<uint32_t>& words, const Pass& pass, const RopeTable& table) {
  const size_t half = table.inverse_frequency.size();
  std::vector<float> cosines(half), sines(half);
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    if (pass.axes.empty()) {
      rope_angles(table, pass.positions[t], cosines.data(), sines.data());
    } else {
      rope_angles(table, pass.axes.data() + 3 * t, cosines.data(), sines.data());
    }
    for (size_t i = 0; i < half; ++i) {
      append_words(words, cosines[i]);
      append_words(words, sines[i]);
    }
  }
}

}  // namespace

void set_splits(StepHeader& header, size_t which, uint32_t n_used) {
  header.split_cells[which] =
      kSplitCells * std::max(1u, (n_used + kSplitCells * kMaxSplits - 1) / (kSplitCells * kMaxSplits));
  header.n_splits[which] = (n_used + header.split_cells[which] - 1) / header.split_cells[which];
}

Result<std::vector<uint32_t>> step_record(const Plan& plan, const Pass& pass, std::span<const uint32_t> ids,
                                          std::span<const uint32_t> outputs, StateSlots slots) {
  const State& state = pass.state;
  const Hparams& h = pass.h();
  StepHeader header;
  header.n_tokens = static_cast<uint32_t>(pass.n_tokens);
  header.n_outputs = static_cast<uint32_t>(outputs.size());
  header.outputs_at = static_cast<uint32_t>(kStepHeaderWords + pass.n_tokens * kStepTokenWords);
  header.runs_at = header.outputs_at + header.n_outputs;
  header.state_from = slots.from;
  header.state_to = slots.to;
  std::vector<StepToken> tokens(pass.n_tokens);
  std::vector<uint32_t> runs;
  for (size_t which = 0; which < (h.window != 0 ? 2 : 1); ++which) {
    const auto& visible = which == 0 ? state.visible_full : state.visible_windowed;
    uint32_t n_used = 0;
    for (size_t t = 0; t < pass.n_tokens && !visible.empty(); ++t) {
      StepToken& token = tokens[t];
      token.first_run[which] = static_cast<uint32_t>(runs.size() / kStepRunWords);
      append_runs(runs, visible[t], which == 0 ? state.cell_positions : state.slot_positions,
                  h.max_alibi_bias > 0 || h.n_relative_buckets != 0);
      token.n_runs[which] = static_cast<uint32_t>(runs.size() / kStepRunWords) - token.first_run[which];
      token.cell[which] = which == 0 ? state.batch_cells[t] : state.batch_slots[t];
      if (!visible[t].empty()) n_used = std::max(n_used, visible[t].back().end);
    }
    set_splits(header, which, n_used);
    header.half[which] = static_cast<uint32_t>(state.rope_tables[which].inverse_frequency.size());
  }
  header.angles_at[0] = header.runs_at + static_cast<uint32_t>(runs.size());
  header.angles_at[1] = header.angles_at[0] + 2 * header.half[0] * header.n_tokens;

  std::vector<uint32_t> words;
  append_words(words, header);
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    tokens[t].id = ids[t];
    tokens[t].position = pass.positions[t];
    if (h.temperature_scale != 0) tokens[t].temperature = query_temperature(h, pass.positions[t]);
    append_words(words, tokens[t]);
  }
  words.insert(words.end(), outputs.begin(), outputs.end());
  words.insert(words.end(), runs.begin(), runs.end());
  append_angles(words, pass, state.rope_tables[0]);
  if (h.window != 0) append_angles(words, pass, state.rope_tables[1]);
  if (words.size() * 4 > plan.buffers[plan.step].bytes)
    return fail(ErrorCode::kOutOfMemory,
                "the cells of " + counted(pass.n_tokens, "token") + " are too scattered for one pass on the device");
  return words;
}

}  // namespace ggufscope::gpu
