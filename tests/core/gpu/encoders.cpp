// The layers of image encoders, run by their plans: the interpreter gives what libmtmd gives. Each kind of projector
// that can be made has a plan, or stands in the list with its reason.
#include <boost/test/unit_test.hpp>
#include <map>

#include "../made_projectors.hpp"
#include "../vision_data.hpp"
#include "engine/encoder_views.hpp"
#include "engine/media.hpp"
#include "gpu/encoder.hpp"
#include "interpret.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_encoders, *boost::unit_test::label("floats"))

namespace {

const std::map<std::string, std::string, std::less<>> kReasons = {
#include "encoder_reasons.inc"
};

// An encoder whose layers the interpreter computes. Its plan has room for few rows at first.
struct EncoderDevice {
  VisionModel& model;
  gpu::EncoderView view;
  gpu::Plan plan;
  PlanInterpreter interpreter{plan};
  size_t n_layers = 0;

  EncoderDevice(VisionModel& m, gpu::EncoderView of, ByteView file)
      : model(m), view(std::move(of)), plan(*gpu::lower_encoder(view, 2, {})) {
    interpreter.rounds_gelu = true;  // as libmtmd's
    model.leave_layers(true);
    for (const gpu::Upload& upload : plan.uploads) {
      const TensorRequest& r = model.plan()[upload.request];
      const auto writes = gpu::repack(
          plan, model.plan(), upload.request, 0,
          file.subspan(static_cast<size_t>(r.entry.offset), static_cast<size_t>(r.n_rows_kept * r.row_bytes)));
      BOOST_REQUIRE_MESSAGE(writes.has_value(), (writes ? "" : writes.error().message));
      for (const gpu::BufferWrite& write : *writes) interpreter.write(write);
    }
  }

  void run(const LayerRun& layers) {
    if (layers.n_rows > plan.n_batch) {
      auto larger = gpu::lower_encoder(view, static_cast<uint32_t>(layers.n_rows), {});
      BOOST_REQUIRE(larger.has_value());
      plan = std::move(*larger);
      interpreter.grow(plan);
    }
    interpreter.set_step(gpu::encoder_record(layers));
    interpreter.set_floats(plan.stream, layers.rows);
    for (const gpu::PlanDispatch& d : plan.embeddings)
      if (d.layer >= layers.first && d.layer < layers.end) interpreter.run({&d, 1});
    BOOST_REQUIRE_MESSAGE(interpreter.fault().empty(), interpreter.fault());
    std::ranges::copy(interpreter.floats(plan.embedded).first(layers.rows.size()), layers.rows.begin());
    n_layers += layers.end - layers.first;
  }
};

std::vector<float> encode(EncoderDevice& device, Pool& pool, const Image& part) {
  ImageEncoder encoder(device.model, pool);
  BOOST_REQUIRE(encoder.start(part).has_value());
  for (bool more = true; more;) {
    const LayerRun layers = encoder.begin_layers();
    if (!layers) {
      more = encoder.step();
    } else {
      device.run(layers);
      encoder.end_layers(layers.end);
    }
  }
  return encoder.take_output();
}

// An image whose parts are joined on a canvas.
std::vector<float> encode_canvas(EncoderDevice& device, Pool& pool, const Tokenizer& tokenizer, const Image& picture) {
  ImageJob job(device.model, pool);
  MediaStore store;
  BOOST_REQUIRE(job.start(picture.view(), 0, tokenizer, true, 1000, store).has_value());
  for (bool more = true; more;) {
    const LayerRun layers = job.begin_layers();
    if (!layers) {
      more = *job.step(store);
    } else {
      device.run(layers);
      BOOST_REQUIRE(job.end_layers(layers.end).has_value());
    }
  }
  return store.begin()->second.embeddings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(image_encoders_have_a_plan_or_a_reason) {
  const auto pool = make_pool(2);
  const auto wide = parse_file(made_wide_text().bytes());
  const auto tokenizer = Tokenizer::create(wide->gguf());
  for (const MadeProjector& made : made_projectors()) {
    if (made.pictures.empty()) continue;
    BOOST_TEST_CONTEXT(made.name) {
      const auto file = parse_file(made.file.bytes());
      const auto model = load_vision(*file, *pool, made.width());
      Result<gpu::EncoderView> view = encoder_view(*model);
      const auto plan = view ? gpu::lower_encoder(*view, 2, {}) : Result<gpu::Plan>(std::unexpected(view.error()));
      const auto known = kReasons.find(made.name);
      BOOST_TEST((plan ? "" : plan.error().message) == (known == kReasons.end() ? "" : known->second));
      if (!plan) continue;
      EncoderDevice device(*model, std::move(*view), file->bytes);
      std::vector<float> all;
      for (const ImageSize size : made.pictures) {
        const Image picture = made_picture(size);
        if (model->row().canvas) {
          const std::vector<float> out = encode_canvas(device, *pool, *tokenizer, picture);
          all.insert(all.end(), out.begin(), out.end());
          continue;
        }
        const auto parts = split_image(picture.view(), model->parameters().image);
        for (const Image* part : in_order(*parts, model->parameters().markers->overview_first)) {
          device.n_layers = 0;
          const std::vector<float> out = encode(device, *pool, *part);
          BOOST_TEST(device.n_layers == model->parameters().n_run);
          all.insert(all.end(), out.begin(), out.end());
        }
      }
      std::vector<float> expected = read_floats(fixture("golden/projectors") / made.name / "embd.f32");
      if (!made.sounds.empty()) expected.resize(std::min(all.size(), expected.size()));
      const double off = max_difference(all, expected);
      BOOST_TEST(off <= made.tolerance);
      BOOST_TEST_MESSAGE(made.name << ": " << off << " of " << made.tolerance << ", "
                                   << device.plan.embeddings.size() / model->parameters().n_run
                                   << " dispatches a layer");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
