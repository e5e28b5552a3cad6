// A session whose model runs on a device, which is the interpreter.
#pragma once

#include <deque>

#include "../session_data.hpp"
#include "interpret.hpp"

namespace ggufscope::test {

// What an executor does around a session.
struct DeviceSession {
  std::vector<uint8_t> file, projector;
  std::unique_ptr<Session> session;
  std::unique_ptr<PlanInterpreter> device, encoders[2];  // encoders: nullptr if the CPU encodes
  size_t n_passes = 0, n_layers = 0, n_parts = 0;        // the last two: of the last medium

  explicit DeviceSession(const StateOptions& options, std::vector<uint8_t> bytes = read_file(fixture("stories.gguf")),
                         std::vector<uint8_t> media = {})
      : file(std::move(bytes)), projector(std::move(media)) {
    const HeaderBytes header{file, file.size()}, beside{projector, projector.size()};
    auto opened = Session::open({&header, 1}, 1, projector.empty() ? nullptr : &beside);
    BOOST_REQUIRE(opened.has_value());
    session = std::move(*opened);
    const Result<void> planned = session->plan_device(options, {});
    BOOST_REQUIRE_MESSAGE(planned.has_value(), (planned ? "" : planned.error().message));
    device = std::make_unique<PlanInterpreter>(*session->device_plan());
    for (const Encoder e : {kImageEncoder, kAudioEncoder})
      if (const gpu::Plan* plan = session->device_encoder(e).plan.get(); plan != nullptr)
        encoders[e] = std::make_unique<PlanInterpreter>(*plan);
    BOOST_REQUIRE(session->begin_load(Precision::kExact).has_value());
    for (size_t i = 0; i < session->n_planned(); ++i) {
      const TensorRequest& r = session->planned(i);
      const ByteView from = r.entry.file == 0 ? ByteView(file) : ByteView(projector);
      const auto writes = session->repack_rows(
          i, 0, from.subspan(static_cast<size_t>(r.entry.offset), static_cast<size_t>(r.entry.n_bytes)));
      BOOST_REQUIRE(writes.has_value());
      const Encoder of = session->encoder_of(i);
      for (const gpu::BufferWrite& write : *writes) (of == kNoEncoder ? device : encoders[of])->write(write);
    }
    BOOST_REQUIRE(session->start(options).has_value());
  }

  void run(const DevicePass& pass) {
    const gpu::Plan& plan = *session->device_plan();
    device->set_step(pass.record);
    const size_t n_part = pass.rows.size() / (1 + plan.deep.size());
    device->set_floats(plan.stream, std::span(pass.rows).first(n_part));
    for (size_t i = 0; i < plan.deep.size(); ++i) {
      const std::vector<float> zeros(size_t{plan.n_batch} * session->model().hparams().n_embd);
      device->set_floats(plan.deep[i],
                         pass.rows.empty() ? zeros : std::span(pass.rows).subspan((1 + i) * n_part, n_part));
    }
    if (!pass.embeds || !plan.encodes)
      device->run(std::span(pass.decode ? plan.decode : plan.prefill).subspan(pass.rows.empty() ? 0 : plan.n_embed));
    if (pass.embeds) {
      device->run(plan.embeddings);
    } else if (pass.n_outputs != 0) {
      device->run(pass.decode ? plan.decode_logits : plan.prefill_logits);
      device->run(plan.choose);
    }
    BOOST_REQUIRE_MESSAGE(device->fault().empty(), device->fault());
    ++n_passes;
  }

  // Runs layers of an encoder; false: the next step is none.
  bool run_layers() {
    const auto pass = session->prepare_layers();
    BOOST_REQUIRE_MESSAGE(pass.has_value(), (pass ? "" : pass.error().message));
    if (pass->encoder == kNoEncoder) return false;
    const gpu::Plan& plan = *session->device_encoder(pass->encoder).plan;
    PlanInterpreter* const encoder = encoders[pass->encoder].get();
    if (pass->grown) encoder->grow(plan);
    encoder->set_step(pass->record);
    encoder->set_floats(plan.stream, pass->rows);
    for (const gpu::PlanDispatch& d : plan.embeddings)
      if (d.layer >= pass->first && d.layer < pass->end) encoder->run({&d, 1});
    BOOST_REQUIRE_MESSAGE(encoder->fault().empty(), encoder->fault());
    const Result<void> accepted = session->accept_layers(encoder->floats(plan.embedded).first(pass->rows.size()));
    BOOST_REQUIRE_MESSAGE(accepted.has_value(), (accepted ? "" : accepted.error().message));
    n_layers += pass->end - pass->first;
    if (pass->first == 0) ++n_parts;
    return true;
  }

  // The tokens of an image or of audio, which begin_image or begin_sound began.
  std::vector<TokenId> encode(const Result<void>& begun) {
    BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
    n_layers = n_parts = 0;
    for (bool more = true; more;) {
      if (run_layers()) continue;
      const auto stepped = session->step_media();
      BOOST_REQUIRE_MESSAGE(stepped.has_value(), (stepped ? "" : stepped.error().message));
      more = *stepped;
    }
    return session->media_tokens();
  }

  // Prepares, runs and accepts until next() can sample.
  void compute(size_t n_batch) {
    while (true) {
      const auto pass = session->prepare(n_batch);
      BOOST_REQUIRE_MESSAGE(pass.has_value(), (pass ? "" : pass.error().message));
      if (pass->n_tokens == 0) return;
      run(*pass);
      const auto logits = device->floats(session->device_plan()->logits);
      BOOST_REQUIRE(session->accept(logits.first(pass->n_outputs * session->model().n_output())).has_value());
    }
  }

  // Computes a text, for evaluate, evaluate_last or embed.
  void compute_text(std::span<const TokenId> tokens, TextOutputs outputs) {
    const Result<void> opened = session->open_text(tokens, outputs);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
    const gpu::Plan& plan = *session->device_plan();
    while (true) {
      const auto pass = session->prepare_text();
      BOOST_REQUIRE_MESSAGE(pass.has_value(), (pass ? "" : pass.error().message));
      if (pass->n_tokens == 0) return;
      run(*pass);
      const size_t width = pass->embeds ? session->model().n_embedding() : session->model().n_output();
      const auto rows = device->floats(pass->embeds ? plan.embedded : plan.logits);
      BOOST_REQUIRE(session->accept_text(rows.first(pass->n_outputs * width)).has_value());
    }
  }

  Answer answer(std::span<const TokenId> prompt, const GenerateOptions& options, size_t max_tokens,
                size_t n_batch = 512) {
    BOOST_REQUIRE(session->begin_answer(prompt, options).has_value());
    Answer out;
    while (out.finish == Finish::kNone && out.tokens.size() < max_tokens) {
      compute(n_batch);
      add(out);
    }
    return out;
  }

  void add(Answer& out) {
    const Result<Step> step = session->next();
    BOOST_REQUIRE_MESSAGE(step.has_value(), (step ? "" : step.error().message));
    out.text += step->text;
    if (step->token != kNoToken) out.tokens.push_back(step->token);
    out.finish = step->finish;
  }

  // Greedy, with the token chosen on the device and up to `depth` passes in flight.
  Answer chosen(std::span<const TokenId> prompt, size_t max_tokens, size_t depth) {
    BOOST_REQUIRE(session->begin_answer(prompt, greedy()).has_value());
    BOOST_REQUIRE(session->device_chooses());
    std::deque<TokenId> ring;
    // False: the pass was one of several of the prompt.
    const auto submit = [&](const Result<DevicePass>& pass) {
      BOOST_REQUIRE_MESSAGE(pass.has_value(), (pass ? "" : pass.error().message));
      if (pass->n_tokens == 0) return true;
      run(*pass);
      if (pass->n_outputs == 0) return !session->accept({}).has_value();
      ring.push_back(static_cast<TokenId>(device->words(session->device_plan()->chosen)[0]));
      return true;
    };
    Answer out;
    while (out.finish == Finish::kNone && out.tokens.size() < max_tokens) {
      while (session->n_in_flight() == 0 && !submit(session->prepare(prompt.size())))
        ;
      while (session->n_in_flight() != 0 && session->n_in_flight() < depth) {
        const size_t n = ring.size();
        submit(session->prepare_chosen());
        if (ring.size() == n) break;
      }
      if (!ring.empty()) {
        BOOST_REQUIRE(session->accept_chosen(ring.front()).has_value());
        ring.pop_front();
      }
      add(out);
    }
    session->discard();
    return out;
  }
};

}  // namespace ggufscope::test
