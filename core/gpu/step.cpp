// Writes the step record of a placed batch.
#include "gpu/step.hpp"

#include <algorithm>
#include <bit>

#include "base/sentence.hpp"
#include "model/mixers/attention.hpp"

namespace ggufscope::gpu {
namespace {

// Appends a token's runs in the order of their cells. by_position: splits them where positions are not consecutive.
void append_runs(std::vector<StepRun>& to, std::span<const CellRun> seen, const std::vector<int32_t>& positions,
                 bool by_position) {
  std::vector<CellRun> runs(seen.begin(), seen.end());
  std::ranges::sort(runs, {}, &CellRun::begin);
  const size_t first = to.size();
  for (const CellRun& run : runs) {
    if (!by_position && to.size() > first && to.back().end == run.begin) {
      to.back().end = run.end;
      continue;
    }
    for (uint32_t begin = run.begin; begin < run.end;) {
      uint32_t end = by_position ? begin + 1 : run.end;
      while (end < run.end && positions[end] == positions[end - 1] + 1) ++end;
      to.push_back({begin, end, positions[begin]});
      begin = end;
    }
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
      append_float(words, cosines[i]);
      append_float(words, sines[i]);
    }
  }
}

}  // namespace

void set_splits(StepHeader& header, size_t which, uint32_t n_used) {
  header.split_cells[which] =
      kSplitCells * std::max(1u, (n_used + kSplitCells * kMaxSplits - 1) / (kSplitCells * kMaxSplits));
  header.n_splits[which] = (n_used + header.split_cells[which] - 1) / header.split_cells[which];
}

std::vector<uint32_t> record_of(StepHeader header, std::span<const StepToken> tokens, std::span<const uint32_t> outputs,
                                std::span<const StepRun> runs, bool one_table) {
  header.n_tokens = static_cast<uint32_t>(tokens.size());
  header.n_outputs = static_cast<uint32_t>(outputs.size());
  header.outputs_at = static_cast<uint32_t>((sizeof(header) + tokens.size_bytes()) / 4);
  header.runs_at = header.outputs_at + header.n_outputs;
  header.angles_at[0] = header.runs_at + static_cast<uint32_t>(runs.size_bytes() / 4);
  header.angles_at[1] = header.angles_at[0] + (one_table ? 0 : 2 * header.half[0] * header.n_tokens);
  std::vector<uint32_t> words(header.angles_at[0]);
  std::memcpy(words.data(), &header, sizeof(header));
  if (!tokens.empty()) std::memcpy(words.data() + kStepHeaderWords, tokens.data(), tokens.size_bytes());
  std::ranges::copy(outputs, words.data() + header.outputs_at);
  if (!runs.empty()) std::memcpy(words.data() + header.runs_at, runs.data(), runs.size_bytes());
  return words;
}

void append_float(std::vector<uint32_t>& words, float value) { words.push_back(std::bit_cast<uint32_t>(value)); }

Result<std::vector<uint32_t>> checked(const Plan& plan, std::vector<uint32_t> words, size_t n_tokens) {
  if (words.size() * 4 > plan.buffers[plan.step].bytes)
    return fail(ErrorCode::kOutOfMemory,
                "the cells of " + counted(n_tokens, "token") + " are too scattered for one pass on the device");
  return words;
}

Result<std::vector<uint32_t>> step_record(const Plan& plan, const Pass& pass, std::span<const uint32_t> ids,
                                          std::span<const uint32_t> outputs, StateSlots slots) {
  const State& state = pass.state;
  const Hparams& h = pass.h();
  StepHeader header;
  header.state_from = slots.from;
  header.state_to = slots.to;
  std::vector<StepToken> tokens(pass.n_tokens);
  std::vector<StepRun> runs;
  if (state.n_encoded != 0) {  // what an encoder returned, in the place of windows
    runs.push_back({0, static_cast<uint32_t>(state.n_encoded), 0});
    set_splits(header, 1, runs[0].end);
  }
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    tokens[t].id = ids[t];
    tokens[t].n_runs[1] = static_cast<uint32_t>(runs.size());
    tokens[t].position = pass.positions[t];
    if (h.temperature_scale != 0) tokens[t].temperature = query_temperature(h, pass.positions[t]);
  }
  for (size_t which = 0; which < (h.window != 0 ? 2 : 1); ++which) {
    const auto& visible = which == 0 ? state.visible_full : state.visible_windowed;
    uint32_t n_used = 0;
    for (size_t t = 0; t < pass.n_tokens && !visible.empty(); ++t) {
      StepToken& token = tokens[t];
      token.first_run[which] = static_cast<uint32_t>(runs.size());
      append_runs(runs, visible[t], which == 0 ? state.cell_positions : state.slot_positions,
                  h.max_alibi_bias > 0 || h.n_relative_buckets != 0);
      token.n_runs[which] = static_cast<uint32_t>(runs.size()) - token.first_run[which];
      token.cell[which] = which == 0 ? state.batch_cells[t] : state.batch_slots[t];
      if (!visible[t].empty()) n_used = std::max(n_used, runs.back().end);
    }
    set_splits(header, which, n_used);
    header.half[which] = static_cast<uint32_t>(state.rope_tables[which].inverse_frequency.size());
  }
  std::vector<uint32_t> words = record_of(header, tokens, outputs, runs);
  append_angles(words, pass, state.rope_tables[0]);
  if (h.window != 0) append_angles(words, pass, state.rope_tables[1]);
  return checked(plan, std::move(words), pass.n_tokens);
}

}  // namespace ggufscope::gpu
