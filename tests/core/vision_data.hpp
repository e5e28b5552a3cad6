// The vectors of image encoders: an mmproj file, its text model, pictures and libmtmd's results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "json.hpp"
#include "model_data.hpp"
#include "vision/image_encoder.hpp"

namespace ggufscope::test {

inline std::vector<std::filesystem::path> folders_of(const std::string& name) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(shared(name)))
    if (std::filesystem::exists(entry.path() / "meta.json")) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

inline Json read_json(const std::filesystem::path& path) { return JsonReader(read_text(path)).value(); }

/// Reads "NAME-WIDTHxHEIGHT.rgb". Pictures that exist only as PNG are used in the package's tests.
inline std::optional<Image> read_picture(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/media/vision/inputs"))) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(name + "-") || !file.ends_with(".rgb")) continue;
    const size_t at = name.size() + 1;
    Image image;
    image.size = {static_cast<uint32_t>(std::stoi(file.substr(at))),
                  static_cast<uint32_t>(std::stoi(file.substr(file.find('x', at) + 1)))};
    image.rgb = read_file(entry.path());
    return image;
  }
  return std::nullopt;
}

inline std::unique_ptr<VisionModel> load_vision(const ParsedFile& file, Pool& pool, uint64_t n_embd,
                                                Precision precision = Precision::kExact) {
  const Gguf gguf = file.gguf();
  auto model = VisionModel::open({&gguf, file.bytes.size()}, 0, n_embd);
  BOOST_REQUIRE_MESSAGE(model.has_value(), (model ? "" : model.error().message));
  (*model)->begin_load(precision);
  for (size_t i = 0; i < (*model)->plan().size(); ++i) {
    const TensorRequest& request = (*model)->plan()[i];
    const ByteView bytes = ByteView(file.bytes)
                               .subspan(static_cast<size_t>(request.entry.offset),
                                        static_cast<size_t>(request.n_rows * request.row_bytes));
    const auto r = (*model)->set_rows(pool, i, 0, bytes);
    BOOST_REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  }
  const auto r = (*model)->finish_load(pool);
  BOOST_REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  return std::move(*model);
}

/// The parts in the order of the vectors: tiles, then the overview, unless that comes first.
inline std::vector<const Image*> in_order(const ImageParts& parts, bool overview_first = false) {
  std::vector<const Image*> out;
  if (parts.overview && overview_first) out.push_back(&*parts.overview);
  for (const Image& tile : parts.tiles) out.push_back(&tile);
  if (parts.overview && !overview_first) out.push_back(&*parts.overview);
  return out;
}

}  // namespace ggufscope::test
