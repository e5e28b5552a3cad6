// A session whose model runs on a device: the two halves of advance and next around a pass of the plan.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/encoder_views.hpp"
#include "engine/session.hpp"
#include "model/forward.hpp"
#include "model/kv_cells.hpp"

namespace ggufscope {

Result<void> Session::plan_device(const StateOptions& options, const gpu::DeviceLimits& limits) {
  if (speech_) return fail(ErrorCode::kUnsupported, "a projector of speech runs on the CPU only");
  if (std::ranges::any_of(used_, [](const AdapterUse& use) { return !use.adapter->invocation().empty(); }))
    return fail(ErrorCode::kUnsupported, "an adapter that tokens activate runs on the CPU only");
  Result<gpu::Plan> plan = gpu::lower(*model_, adjusted(options), limits);
  if (!plan) return std::unexpected(plan.error());
  if ((vision_ || audio_) && plan->stream == gpu::kAbsent)
    return fail(ErrorCode::kUnsupported, "what the model adds to the rows of an image has no kernel");
  plan_ = std::make_unique<gpu::Plan>(std::move(*plan));
  limits_ = limits;
  const auto try_encoder = [&](Encoder encoder, size_t n_rows) {
    if (const Result<void> planned = plan_encoder(encoder, n_rows); !planned)
      keep_encoder(encoder, planned.error().message);
  };
  if (vision_) try_encoder(kImageEncoder, typical_rows(*vision_));
  if (audio_) try_encoder(kAudioEncoder, typical_rows(*audio_));
  return {};
}

Result<std::vector<gpu::BufferWrite>> Session::repack_rows(size_t request, uint64_t first_row, ByteView rows) {
  if (!plan_) return fail(ErrorCode::kInvalidArgument, "the model has no plan for a device");
  const auto index = static_cast<uint32_t>(request);
  const Encoder of = encoder_of(request);
  const bool encodes = of != kNoEncoder, hears = of == kAudioEncoder;
  if (encodes && encoders_[of].plan) {
    const gpu::Plan& plan = *encoders_[of].plan;
    const size_t own = request - model_->plan().size() - (hears ? n_vision_planned() : 0);
    const auto is_own = [&](const gpu::Upload& upload) { return upload.request == own; };
    if (std::ranges::any_of(plan.uploads, is_own)) {
      hears ? audio_->leave_out(own) : vision_->leave_out(own);
      return gpu::repack(plan, hears ? audio_->plan() : vision_->plan(), static_cast<uint32_t>(own), first_row, rows);
    }
  }
  if (encodes || std::ranges::find(plan_->host_requests, index) != plan_->host_requests.end())
    if (const Result<void> kept = set_rows(request, first_row, rows); !kept) return std::unexpected(kept.error());
  if (encodes) return std::vector<gpu::BufferWrite>();
  return gpu::repack(*plan_, *model_, index, first_row, rows);
}

// The slots of recurrent states that the next pass reads and writes.
gpu::StateSlots Session::next_slots() const {
  gpu::StateSlots next;
  if (plan_->n_slots == 0) return next;
  std::vector<bool> used(plan_->n_slots, false);
  for (uint32_t s = 0; s < n_sequences(); ++s)
    if (state_->recurrent_end(s) >= 0) used[slots_[s]] = true;
  for (const InFlight& pass : in_flight_) used[pass.slot] = true;
  if (!in_flight_.empty()) {
    next.from = in_flight_.back().slot;
  } else if (state_->recurrent_end(selected_) >= 0) {
    next.from = slots_[selected_];
  }
  while (used[next.to]) ++next.to;
  return next;
}

// Places tokens behind those of the selected sequence.
Result<DevicePass> Session::place(const Batch& of, std::span<const uint32_t> ids, std::span<const uint32_t> outputs) {
  const std::span<const TokenId> tokens = of.tokens;
  const std::vector<int32_t> sequences(tokens.size(), static_cast<int32_t>(selected_));
  Batch batch = of;
  batch.sequences = sequences;
  if (const Result<void> good = check_batch(*model_, *state_, batch); !good) return std::unexpected(good.error());
  const gpu::StateSlots slots = next_slots();
  const Result<Pass> pass = place_batch(*model_, *state_, *pool_, batch, 0, tokens.size());
  if (!pass) return std::unexpected(pass.error());
  Result<std::vector<uint32_t>> record = gpu::step_record(*plan_, *pass, ids, outputs, slots);
  // The device will compute the pass before any that is placed later; discard() takes it back.
  commit_batch(*pass, record.has_value());
  if (!record) return std::unexpected(record.error());
  DevicePass out{std::move(*record),
                 static_cast<uint32_t>(tokens.size()),
                 static_cast<uint32_t>(outputs.size()),
                 batch.inputs.empty() && tokens.size() <= gpu::kMaxColumns && !plan_->decode.empty(),
                 false,
                 slots.to};
  if (batch.inputs.empty()) return out;
  out.rows.resize(batch.inputs.size());
  ggufscope::embed(*pass, tokens, out.rows.data(), nullptr);
  const size_t n_embd = model_->hparams().n_embd, n_input = model_->n_input(), n_part = tokens.size() * n_embd;
  for (size_t i = 1; i <= plan_->deep.size(); ++i)
    for (size_t t = 0; t < tokens.size(); ++t)
      std::memcpy(out.rows.data() + i * n_part + t * n_embd, batch.inputs.data() + t * n_input + i * n_embd,
                  n_embd * sizeof(float));
  return out;
}

// The run of the selected sequence's next token, with at most n tokens of it. Those that see each other stay together.
Result<TokenRun> Session::next_run(size_t n) const {
  const Sequence& s = selected();
  if (media_.empty()) return TokenRun{s.n_computed, s.n_computed + n};
  const Result<std::vector<TokenRun>> runs = token_runs(s.tokens, media_);
  if (!runs) return std::unexpected(runs.error());
  TokenRun run = *std::ranges::find_if(*runs, [&](const TokenRun& r) { return s.n_computed < r.end; });
  if (run.medium == nullptr || !run.medium->both_ways) run.end = std::min(run.end, s.n_computed + n);
  if (run.end - s.n_computed > plan_->n_batch)
    return fail(ErrorCode::kUnsupported, "an image has more tokens that see each other than a pass on the device");
  return run;
}

// The pass that encodes the prompt of an encoder-decoder. What tokens then attend to has no cells.
Result<DevicePass> Session::prepare_prompt() {
  const Batch batch{.tokens = prompt_, .positions = {}, .sequences = {}, .output_mask = {}, .both_ways = true};
  state_->clear();
  Result<DevicePass> pass = place(batch, std::vector<uint32_t>(prompt_.begin(), prompt_.end()), {});
  if (!pass) return pass;
  state_->clear();
  state_->n_encoded = prompt_.size();
  pass->decode = false;
  pass->embeds = true;
  in_flight_.push_back({0, {}, 0, pass->slot});
  return pass;
}

Result<DevicePass> Session::prepare(size_t n) {
  if (!plan_ || !state_) return fail(ErrorCode::kInvalidArgument, "the model does not run on a device");
  if (!in_flight_.empty()) return fail(ErrorCode::kInvalidArgument, "a pass is in flight");
  Sequence& s = selected();
  if (n_waiting() == 0 || n == 0 || is_full()) return DevicePass{};
  if (!prompt_.empty()) return prepare_prompt();
  if (n_waiting() == 1 && accept_draft()) return DevicePass{};
  drop_drafts();
  const Result<TokenRun> run = next_run(std::min({n, n_waiting(), size_t{plan_->n_batch}}));
  if (!run) return std::unexpected(run.error());
  n = run->end - s.n_computed;
  std::vector<TokenId> drafts;
  if (n_waiting() == 1 && !s.finished) drafts = draft_tokens();
  drafts.resize(std::min<size_t>({drafts.size(), gpu::kMaxColumns - 1, plan_->n_output_rows - 1}));
  const auto first = s.tokens.begin() + static_cast<std::ptrdiff_t>(s.n_computed);
  std::vector<TokenId> tokens(first, first + static_cast<std::ptrdiff_t>(n));
  tokens.insert(tokens.end(), drafts.begin(), drafts.end());
  std::vector<uint32_t> outputs;
  for (size_t i = n - 1; n == n_waiting() && i < tokens.size(); ++i) outputs.push_back(static_cast<uint32_t>(i));
  RunBatch part{{.tokens = tokens, .positions = {}, .sequences = {}, .output_mask = {}}, {}, {}, {}};
  if (!media_.empty()) {
    Result<RunBatch> of_run = batch_of(*run, tokens, s.n_computed);
    if (!of_run) return std::unexpected(of_run.error());
    part = std::move(*of_run);
  }
  const std::span<const TokenId> ids = part.batch.tokens;
  Result<DevicePass> pass = place(part.batch, std::vector<uint32_t>(ids.begin(), ids.end()), outputs);
  if (pass) in_flight_.push_back({n, std::move(drafts), pass->n_outputs, pass->slot, Timed::now_ms()});
  return pass;
}

Result<void> Session::accept(std::span<const float> logits) {
  if (in_flight_.empty()) return fail(ErrorCode::kInvalidArgument, "no pass is in flight");
  const InFlight pass = in_flight_.front();
  if (logits.size() != pass.n_outputs * model_->n_output())
    return fail(ErrorCode::kInvalidArgument, "the logits of " + std::to_string(pass.n_outputs) + " tokens are " +
                                                 std::to_string(pass.n_outputs * model_->n_output()) +
                                                 " numbers, not " + std::to_string(logits.size()));
  in_flight_.erase(in_flight_.begin());
  Sequence& s = selected();
  s.logits.assign(logits.begin(), logits.end());
  if (pass.n == 0) prompt_.clear();
  s.n_computed += pass.n;
  slots_[selected_] = pass.slot;
  s.drafts = pass.drafts;
  s.n_accepted = 0;
  if (pass.n == 1) draft_length_.add_pass(1 + pass.drafts.size(), Timed::now_ms() - pass.begin_ms);
  return {};
}

bool Session::device_chooses() const {
  const Sequence& s = selected();
  const SamplerOptions& o = s.options.sampler;
  const bool penalized =
      o.penalty_last_n != 0 && (o.repeat_penalty != 1 || o.frequency_penalty != 0 || o.presence_penalty != 0);
  return plan_ && o.temperature <= 0 && !penalized && o.dry_multiplier == 0 && o.logit_bias.empty() &&
         o.mirostat == 0 && o.xtc_probability == 0 && !s.grammar.in_use() && s.options.n_probabilities == 0 &&
         s.options.n_lookup == 0 && (draft_ == nullptr || s.options.n_draft == 0);
}

Result<DevicePass> Session::prepare_chosen() {
  if (!device_chooses() || in_flight_.empty() || in_flight_.back().n_outputs != 1)
    return fail(ErrorCode::kInvalidArgument, "the device chooses no token that could be computed next");
  // The tokens in flight are not part of the text yet.
  if (in_flight_.size() >= gpu::kMaxInFlight || selected().tokens.size() + in_flight_.size() > n_context() ||
      state_->n_free_cells() == 0)
    return DevicePass{};
  const TokenId unknown[] = {0};
  const uint32_t ids[] = {gpu::kChosen}, outputs[] = {0};
  Batch batch{.tokens = unknown, .positions = {}, .sequences = {}, .output_mask = {}};
  const int32_t position[] = {position_of(selected().tokens, selected().tokens.size()) +
                              static_cast<int32_t>(in_flight_.size()) - 1};
  if (!media_.empty()) batch.positions = position;
  Result<DevicePass> pass = place(batch, ids, outputs);
  if (pass) in_flight_.push_back({1, {}, 1, pass->slot, Timed::now_ms()});
  return pass;
}

Result<void> Session::accept_chosen(TokenId token) {
  if (in_flight_.empty() || in_flight_.front().n_outputs != 1 || chosen_ != kNoToken || !device_chooses())
    return fail(ErrorCode::kInvalidArgument, "no chosen token is expected");
  Sequence& s = selected();
  if (token == kNoToken) {  // no logit is a number
    constexpr float kNone[] = {std::numeric_limits<float>::quiet_NaN()};
    return std::unexpected(s.sampler->sample(kNone).error());
  }
  if (token < 0 || static_cast<uint32_t>(token) >= model_->hparams().n_vocab)
    return fail(ErrorCode::kOutOfRange, "the device chose token " + std::to_string(token) + ", which does not exist");
  s.n_computed += in_flight_.front().n;
  slots_[selected_] = in_flight_.front().slot;
  in_flight_.erase(in_flight_.begin());
  s.drafts.clear();
  s.n_accepted = 0;
  chosen_ = token;
  return {};
}

void Session::discard() {
  chosen_ = kNoToken;
  if (in_flight_.empty()) return;
  in_flight_.clear();
  // The slot of the last accepted pass still holds the state at its end.
  if (model_->is_recurrent()) state_->set_recurrent_end(selected_, static_cast<int32_t>(selected().n_computed) - 1);
  if (!state_->remove(selected_, position_of(selected().tokens, selected().n_computed), -1)) drop();
}

Result<void> Session::open_text(std::span<const TokenId> tokens, TextOutputs outputs) {
  if (!plan_ || !state_) return fail(ErrorCode::kInvalidArgument, "the model does not run on a device");
  const bool embeds = outputs == TextOutputs::kEmbeddings || model_->is_encoder();
  if (outputs == TextOutputs::kLastLogits && embeds) return fail(ErrorCode::kUnsupported, "this model has no logits");
  if (const Result<void> has = check_logits(); !embeds && !has) return has;
  if (const Result<void> good = check_text(tokens); !good) return good;
  discard();
  clear_sequences();
  const uint64_t n_rows = outputs == TextOutputs::kLastLogits ? 1 : tokens.size();
  Result<Buffer> rows = Buffer::allocate(n_rows * output_floats(*model_, embeds) * sizeof(float));
  if (!rows) return std::unexpected(rows.error());
  text_ = {{tokens.begin(), tokens.end()}, outputs, embeds, 0, std::move(*rows), 0};
  return {};
}

Result<DevicePass> Session::prepare_text() {
  if (!in_flight_.empty()) return fail(ErrorCode::kInvalidArgument, "a pass is in flight");
  const size_t n_text = text_.tokens.size();
  if (text_.n_done >= n_text) return DevicePass{};
  const bool last_only = text_.outputs == TextOutputs::kLastLogits;
  const size_t max_rows = last_only || text_.embeds ? size_t{plan_->n_batch} : size_t{plan_->n_output_rows};
  // Without causal masking, each pass has the whole text.
  const bool encodes = model_->has_encoder(), whole = encodes || !model_->hparams().causal;
  if (whole) state_->clear();
  const size_t first = whole ? 0 : text_.n_done;
  const size_t n = whole ? n_text : std::min(n_text - first, max_rows);
  const size_t n_done = whole && !last_only ? std::min(n_text, text_.n_done + max_rows) : first + n;
  std::vector<uint32_t> outputs;
  for (size_t t = last_only ? n_text - 1 : text_.n_done; t < n_done; ++t)
    outputs.push_back(static_cast<uint32_t>(t - first));
  const auto tokens = std::span(text_.tokens).subspan(first, n);
  const Batch batch{.tokens = tokens, .positions = {}, .sequences = {}, .output_mask = {}, .both_ways = encodes};
  Result<DevicePass> pass = place(batch, std::vector<uint32_t>(tokens.begin(), tokens.end()), outputs);
  if (!pass) return pass;
  pass->embeds = text_.embeds;
  pass->decode = pass->decode && !text_.embeds;
  in_flight_.push_back({n_done - text_.n_done, {}, pass->n_outputs, pass->slot});
  return pass;
}

Result<void> Session::accept_text(std::span<const float> rows) {
  if (in_flight_.empty()) return fail(ErrorCode::kInvalidArgument, "no pass is in flight");
  const InFlight pass = in_flight_.front();
  const size_t n = pass.n_outputs * output_floats(*model_, text_.embeds);
  if (rows.size() != n || (text_.n_floats + n) * sizeof(float) > text_.rows.size())
    return fail(ErrorCode::kInvalidArgument, "the outputs of " + std::to_string(pass.n_outputs) + " tokens are " +
                                                 std::to_string(n) + " numbers, not " + std::to_string(rows.size()));
  in_flight_.clear();
  std::ranges::copy(rows, text_.rows.as<float>() + text_.n_floats);
  text_.n_floats += n;
  text_.n_done += pass.n;
  slots_[selected_] = pass.slot;
  return {};
}

Result<Buffer> Session::take_text(std::span<const TokenId> tokens, uint64_t n_bytes) {
  DeviceText text = std::exchange(text_, {});
  state_->clear();
  if (!std::ranges::equal(text.tokens, tokens) || text.n_floats * sizeof(float) != n_bytes)
    return fail(ErrorCode::kInvalidArgument, "the device has not computed this text");
  return std::move(text.rows);
}

Result<void> Session::plan_encoder(Encoder encoder, size_t n_rows) {
  const Result<gpu::EncoderView> view = encoder == kImageEncoder ? encoder_view(*vision_) : encoder_view(*audio_);
  if (!view) return std::unexpected(view.error());
  Result<gpu::Plan> plan = gpu::lower_encoder(*view, static_cast<uint32_t>(n_rows), limits_);
  if (!plan) return std::unexpected(plan.error());
  encoders_[encoder].plan = std::make_unique<gpu::Plan>(std::move(*plan));
  leave_layers(encoder, true);
  return {};
}

void Session::keep_encoder(Encoder encoder, std::string reason) {
  encoders_[encoder] = {nullptr, std::move(reason), {}};
  leave_layers(encoder, false);
}

void Session::leave_layers(Encoder encoder, bool leave) {
  encoder == kImageEncoder ? vision_->leave_layers(leave) : audio_->leave_layers(leave);
}

Result<EncoderPass> Session::prepare_layers() {
  auto* const image = std::get_if<ImageJob>(&job_);
  auto* const sound = std::get_if<SoundJob>(&job_);
  EncoderPass pass;
  if (image == nullptr && sound == nullptr) return pass;
  const Encoder encoder = image != nullptr ? kImageEncoder : kAudioEncoder;
  DeviceEncoder& device = encoders_[encoder];
  if (!device.plan) return pass;
  const LayerRun run = device.layers = image != nullptr ? image->begin_layers() : sound->begin_layers();
  if (!run) return pass;
  pass.grown = run.n_rows > device.plan->n_batch;
  if (pass.grown)
    if (const Result<void> planned = plan_encoder(encoder, run.n_rows); !planned)
      return std::unexpected(planned.error());
  pass.encoder = encoder;
  pass.record = gpu::encoder_record(run);
  pass.rows = run.rows;
  pass.first = run.first;
  pass.end = run.end;
  return pass;
}

Result<void> Session::accept_layers(std::span<const float> rows) {
  auto* const image = std::get_if<ImageJob>(&job_);
  auto* const sound = std::get_if<SoundJob>(&job_);
  const LayerRun run = std::exchange(encoders_[image != nullptr ? kImageEncoder : kAudioEncoder].layers, {});
  if ((image == nullptr && sound == nullptr) || !run || rows.size() != run.rows.size())
    return fail(ErrorCode::kInvalidArgument, "no such rows of an encoder are expected");
  std::ranges::copy(rows, run.rows.begin());
  return image != nullptr ? image->end_layers(run.end) : sound->end_layers(run.end);
}

Result<void> Session::resume_answer(std::span<const TokenId> answered) {
  Sequence& s = selected();
  for (const TokenId id : answered) {
    if (id < 0 || static_cast<uint32_t>(id) >= model_->hparams().n_vocab)
      return fail(ErrorCode::kOutOfRange, "token " + std::to_string(id) + " does not exist");
    if (s.finished || (s.answer && s.answer->stopped()))
      return fail(ErrorCode::kInvalidArgument, "the answer has ended before token " + std::to_string(id));
    if (s.grammar.in_use()) {
      const Result<bool> allowed = s.grammar.read(id);
      if (!allowed) return std::unexpected(allowed.error());
      if (!*allowed) return fail(ErrorCode::kInvalidArgument, "the grammar does not allow token " + std::to_string(id));
    }
    s.sampler->skip();
    s.sampler->accept(id);
    s.tokens.push_back(id);
    if (s.answer) (void)s.answer->push(id);
  }
  return {};
}

}  // namespace ggufscope
