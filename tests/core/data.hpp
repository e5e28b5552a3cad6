// Files for tests: the project's fixtures, and the shared data, which may be missing.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#ifdef __EMSCRIPTEN__
#include <emscripten/em_asm.h>
#endif

namespace ggufscope::test {

/// Sanitized builds are five to ten times as slow, so long loops over seeds are shorter there.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#ifdef __EMSCRIPTEN__
constexpr bool kWasm = true;
#else
constexpr bool kWasm = false;
#endif

/// Whether long walks run whole, as in npm run test:all (scripts/test.sh).
inline bool whole_run() {
#ifdef __EMSCRIPTEN__
  return EM_ASM_INT({ return +!!process.env.GGUFSCOPE_ALL; }) != 0;
#else
  return std::getenv("GGUFSCOPE_ALL") != nullptr;
#endif
}

/// The part of a long walk that a short run takes: every n-th step, beginning with the first.
struct EveryNth {
  size_t n;
  size_t at = 0;
  bool takes_next() { return at++ % n == 0 || whole_run(); }
};

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(GGUFSCOPE_SOURCE_DIR) / "tests" / "fixtures" / name;
}

/// The path ../shared/<name>, or $GGUFSCOPE_SHARED/<name>.
inline std::filesystem::path shared(const std::string& name) {
  const char* folder = std::getenv("GGUFSCOPE_SHARED");
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(GGUFSCOPE_SOURCE_DIR) / ".." / "shared";
  return root / name;
}

/// Models with llama.cpp's results: ../shared/vectors/arch, or the project's own few if that is missing.
inline std::filesystem::path models_folder() {
  const std::filesystem::path all = shared("vectors/arch");
  if (std::filesystem::exists(all)) return all;
  [[maybe_unused]] static const int said = std::fputs(
      "No shared/vectors/arch beside the checkout: the three models of tests/fixtures/golden stand in.\n", stderr);
  return fixture("golden/arch");
}

inline std::vector<uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  BOOST_REQUIRE_MESSAGE(in.good(), "cannot read " << path.string());
  std::vector<uint8_t> bytes(static_cast<size_t>(std::filesystem::file_size(path)));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline std::string read_text(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

inline std::vector<float> read_floats(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

/// Use as a precondition: *boost::unit_test::precondition(needs_shared("data/vocab"))
struct needs_shared {
  std::string name;
  explicit needs_shared(std::string n) : name(std::move(n)) {}
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    boost::test_tools::assertion_result result(std::filesystem::exists(shared(name)));
    result.message() << "no shared/" << name << " beside the checkout";
    return result;
  }
};

}  // namespace ggufscope::test
