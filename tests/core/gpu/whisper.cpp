// Whisper models by their plans: the interpreter computes what a device would, and the CPU's transcripts come out.
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "../vision_data.hpp"
#include "../whisper_data.hpp"
#include "engine/whisper_device.hpp"
#include "interpret.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_whisper, *boost::unit_test::label("floats"))

namespace {

struct WhisperOnDevice : OpenedWhisper {
  std::unique_ptr<WhisperDevice> device;
  std::unique_ptr<PlanInterpreter> interpreter;
  std::unique_ptr<WhisperState> state;
  std::unique_ptr<Transcriber> transcriber;
  size_t n_encoded = 0, n_decoded = 0;  // windows and passes

  WhisperOnDevice(const std::filesystem::path& path, CacheType cache) : OpenedWhisper(open_whisper(path)) {
    auto created = WhisperDevice::create(*model, cache, {});
    BOOST_REQUIRE_MESSAGE(created.has_value(), (created ? "" : created.error().message));
    device = std::move(*created);
    interpreter = std::make_unique<PlanInterpreter>(device->plan());
    model->begin_load(Precision::kExact);
    for (size_t i = 0; i < model->plan().size(); ++i) {
      const auto writes = device->repack_rows(*pool, i, 0, rows(i));
      BOOST_REQUIRE_MESSAGE(writes.has_value(), (writes ? "" : writes.error().message));
      for (const gpu::BufferWrite& write : *writes) interpreter->write(write);
    }
    BOOST_REQUIRE(model->finish_load());
    BOOST_TEST(model->loaded_bytes() <= *device->host_bytes());
    auto made = WhisperState::create(*model, *pool, cache, true);
    BOOST_REQUIRE(made);
    state = std::move(*made);
    transcriber = std::make_unique<Transcriber>(*model, *state, *pool);
  }

  // Computes what is next, if it is the device's.
  bool run() {
    const gpu::Plan& plan = device->plan();
    if (const EncoderPass pass = device->prepare_layers(*transcriber); pass.encoder != kNoEncoder) {
      interpreter->set_step(pass.record);
      interpreter->set_floats(plan.stream, pass.rows);
      for (const gpu::PlanDispatch& d : plan.embeddings)
        if (d.layer >= pass.first && d.layer < pass.end) interpreter->run({&d, 1});
      accept(device->accept_layers(*transcriber, interpreter->floats(plan.embedded).first(pass.rows.size())));
      ++n_encoded;
      return true;
    }
    const auto pass = device->prepare(*transcriber);
    BOOST_REQUIRE(pass.has_value());
    if (pass->n_tokens == 0) return false;
    interpreter->set_step(pass->record);
    interpreter->run(pass->decode ? plan.decode : plan.prefill);
    if (pass->n_outputs != 0 && !device->weighs())
      interpreter->run(pass->decode ? plan.decode_logits : plan.prefill_logits);
    accept(device->accept(*transcriber,
                          device->weighs()
                              ? interpreter->floats(plan.weights)
                              : interpreter->floats(plan.logits).first(pass->n_outputs * model->hparams().n_vocab)));
    ++n_decoded;
    return true;
  }

  void accept(const Result<void>& accepted) const {
    BOOST_REQUIRE_MESSAGE(interpreter->fault().empty(), interpreter->fault());
    BOOST_REQUIRE_MESSAGE(accepted.has_value(), (accepted ? "" : accepted.error().message));
  }

  void finish() {
    for (bool more = true; more;)
      if (!run()) more = *transcriber->step();
  }
};

std::string lines_of(std::span<const TranscriptSegment> segments) {
  std::string out;
  for (const TranscriptSegment& s : segments) {
    out += std::to_string(s.t0) + "-" + std::to_string(s.t1) + s.text;
    for (const TokenData& token : s.tokens)
      out += " " + std::to_string(token.id) + "@" + std::to_string(token.aligned_t0) + "-" +
             std::to_string(token.aligned_t1);
    out += "\n";
  }
  return out;
}

double difference(std::span<const float> a, std::span<const float> b) {
  BOOST_REQUIRE_EQUAL(a.size(), b.size());
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(double(a[i]) - double(b[i])));
  return most;
}

struct Transcription {
  const char* name;
  void (*change)(TranscribeOptions&);
};

const Transcription kTranscriptions[] = {
    {"greedy", [](TranscribeOptions&) {}},
    {"with the times of words, in a shorter window",
     [](TranscribeOptions& o) { o.token_times = true, o.audio_context = 200; }},
    {"with beams", [](TranscribeOptions& o) { o.timestamps = false, o.beam_size = 3; }},
    {"sampled",
     [](TranscribeOptions& o) {
       o.prompt = "please open the door";
       o.temperature = 0.7f;
       o.temperature_step = 0;
       o.best_of = 3;
     }},
};

}  // namespace

BOOST_AUTO_TEST_CASE(transcripts_are_those_of_the_cpu) {
  const std::vector<float> samples = read_wav(fixture("commands.wav"));
  for (const CacheType cache : {CacheType::kF32, CacheType::kF16}) {
    LoadedWhisper cpu = load_whisper(fixture("commands.gguf"), Precision::kExact, cache);
    WhisperOnDevice gpu(fixture("commands.gguf"), cache);
    for (const auto& [name, change] : kTranscriptions) {
      TranscribeOptions options;
      change(options);
      if (cache == CacheType::kF16 && !options.token_times) continue;
      BOOST_TEST_CONTEXT(name) {
        Transcriber transcriber(*cpu.model, *cpu.state, *cpu.pool);
        gpu.transcriber = std::make_unique<Transcriber>(*gpu.model, *gpu.state, *gpu.pool);
        gpu.n_encoded = gpu.n_decoded = 0;
        transcribe(transcriber, options, samples);
        transcribe(*gpu.transcriber, options, samples, [&] { return gpu.run(); });
        BOOST_TEST(!transcriber.segments().empty());
        BOOST_TEST(lines_of(gpu.transcriber->segments()) == lines_of(transcriber.segments()));
        BOOST_TEST(gpu.n_encoded >= 1u);
        BOOST_TEST(gpu.n_decoded > gpu.n_encoded);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(whisper_agrees_with_reference_vectors,
                     *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  const std::filesystem::path whisper = shared("vectors/media/whisper");
  for (const auto& folder : std::filesystem::directory_iterator(whisper)) {
    if (!std::filesystem::exists(folder.path() / "model.bin")) continue;
    BOOST_TEST_CONTEXT(folder.path().filename().string()) {
      const Json meta = read_json(folder.path() / "meta.json");
      WhisperOnDevice gpu(folder.path() / "model.bin", CacheType::kF32);
      const gpu::Plan& plan = gpu.device->plan();
      const WhisperHparams& h = gpu.model->hparams();
      const auto in_layers = [&](const std::vector<gpu::PlanDispatch>& list, uint32_t first) {
        return static_cast<size_t>(
            std::ranges::count_if(list, [&](const gpu::PlanDispatch& d) { return d.layer == first; }));
      };
      BOOST_TEST(in_layers(plan.decode, h.encoder.n_layer) == 10u);
      BOOST_TEST(in_layers(plan.embeddings, 0) <= 8u);
      if (!whole_run()) continue;  // 1,500 frames take long
      const std::vector<float> samples = read_floats(whisper / "inputs" / (meta["audio"].text + ".f32"));
      BOOST_REQUIRE(gpu.transcriber->start({}, samples.size()));
      BOOST_REQUIRE(gpu.transcriber->add(samples));
      BOOST_REQUIRE(gpu.transcriber->begin_encode(h.encoder.n_ctx));
      gpu.finish();
      const auto tolerance = [&](const char* what) {
        return std::stod(meta["tolerance"][what]["against_oracle"].text) * 0.1;
      };
      const auto every = [](std::span<const float> rows, size_t n, size_t stride) {
        std::vector<float> out;
        for (size_t at = 0; at < rows.size(); at += n * stride)
          out.insert(out.end(), rows.begin() + std::ptrdiff_t(at), rows.begin() + std::ptrdiff_t(at + n));
        return out;
      };
      const double encoded = difference(every(gpu.state->encoded(), h.encoder.n_embd, 4),
                                        read_floats(folder.path() / "encoder_exact.f32"));
      BOOST_TEST(encoded <= tolerance("encoder"));
      std::vector<int32_t> ids = meta["prompt"].integers();
      const std::vector<int32_t> best = meta["argmax"].integers();
      ids.insert(ids.end(), best.begin(), best.end() - 1);
      BOOST_REQUIRE(gpu.transcriber->begin_evaluate(ids));
      gpu.finish();
      const auto columns = read_file(folder.path() / "logit_ids.i32");
      std::vector<float> some;
      for (size_t row = ids.size() - best.size(); row < ids.size(); ++row)
        for (size_t i = 0; i < columns.size(); i += 4)
          some.push_back(gpu.transcriber->request().logits[row * h.n_vocab + load<uint32_t>(columns.data() + i)]);
      const double off = difference(some, read_floats(folder.path() / "logits_exact.f32"));
      BOOST_TEST(off <= tolerance("logits"));
      BOOST_TEST_MESSAGE(folder.path().string() << ": " << encoded << " of " << tolerance("encoder") << ", logits "
                                                << off << " of " << tolerance("logits"));
    }
  }
}

// Another session goes on at a window, as after the loss of a device.
BOOST_AUTO_TEST_CASE(a_transcription_goes_on_in_another_session) {
  std::vector<float> samples = read_wav(fixture("commands.wav"));
  const std::vector<float> once = samples;
  for (int i = 0; i < 2; ++i) samples.insert(samples.end(), once.begin(), once.end());
  LoadedWhisper first = load_whisper(fixture("commands.gguf"), Precision::kExact, CacheType::kF32);
  Transcriber whole(*first.model, *first.state, *first.pool);
  TranscribeOptions options;
  options.language = "en";
  int64_t seek = 0;
  std::vector<int32_t> context;
  size_t n_before = 0;
  transcribe(whole, options, samples, [&] {
    if (n_before == 0 && !whole.segments().empty()) {
      seek = whole.seek();
      context.assign(whole.context().begin(), whole.context().end());
      n_before = whole.segments().size();
    }
    return false;
  });
  BOOST_REQUIRE(n_before > 0u);
  BOOST_REQUIRE(whole.segments().size() > n_before);
  LoadedWhisper second = load_whisper(fixture("commands.gguf"), Precision::kExact, CacheType::kF32);
  Transcriber rest(*second.model, *second.state, *second.pool);
  BOOST_REQUIRE(rest.start(options, samples.size()));
  BOOST_REQUIRE(rest.add(samples));
  BOOST_TEST(!rest.resume(int64_t{1} << 40, context).has_value());
  BOOST_TEST(!rest.resume(seek, std::vector<int32_t>{-1}).has_value());
  BOOST_REQUIRE(rest.resume(seek, context));
  while (*rest.step()) continue;
  BOOST_TEST(lines_of(rest.segments()) == lines_of(std::span(whole.segments()).subspan(n_before)));
}

// More tokens than a pass returns logits of, in several passes.
BOOST_AUTO_TEST_CASE(a_text_is_evaluated_in_several_passes) {
  const std::vector<float> samples = read_wav(fixture("commands.wav"));
  LoadedWhisper cpu = load_whisper(fixture("commands.gguf"), Precision::kExact, CacheType::kF32);
  WhisperOnDevice gpu(fixture("commands.gguf"), CacheType::kF32);
  Transcriber transcriber(*cpu.model, *cpu.state, *cpu.pool);
  std::vector<int32_t> ids(90);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  for (Transcriber* each : {&transcriber, gpu.transcriber.get()}) {
    BOOST_TEST(!each->begin_evaluate(ids).has_value());  // no audio was encoded
    BOOST_REQUIRE(each->start({}, samples.size()));
    BOOST_REQUIRE(each->add(samples));
    BOOST_REQUIRE(each->begin_encode(100));
  }
  while (*transcriber.step()) continue;
  gpu.finish();
  for (Transcriber* each : {&transcriber, gpu.transcriber.get()}) BOOST_REQUIRE(each->begin_evaluate(ids));
  while (*transcriber.step()) continue;
  // What was begun and left does not count for what is begun next.
  BOOST_REQUIRE(gpu.run());
  BOOST_REQUIRE(gpu.transcriber->begin_evaluate(ids));
  gpu.n_decoded = 0;
  gpu.finish();
  BOOST_TEST(gpu.n_decoded == 2u);
  BOOST_TEST(difference(gpu.transcriber->request().logits, transcriber.request().logits) < 2e-4);
  BOOST_TEST(!gpu.device->accept(*gpu.transcriber, {}).has_value());
  BOOST_TEST(!gpu.device->accept_layers(*gpu.transcriber, {}).has_value());
}

BOOST_AUTO_TEST_CASE(a_device_without_room_is_refused) {
  const OpenedWhisper opened = open_whisper(fixture("commands.gguf"));
  const auto small = WhisperDevice::create(*opened.model, CacheType::kF16,
                                           {.max_buffer_bytes = 1 << 16, .max_binding_bytes = 1 << 16});
  BOOST_TEST((!small && small.error().code == ErrorCode::kUnsupported));
  BOOST_TEST(!WhisperDevice::create(*opened.model, CacheType::kQ8_0, {}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
