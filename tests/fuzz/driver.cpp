// Runs a fuzz target without a fuzzer: seeds (the given files, or a generated one) and deterministic mutations of them.
//   fuzz_NAME [rounds] [files or folders...]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "../core/gguf_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kMaxSeedBytes = 4096;  // many rounds find more than long files

void mutate(Bytes& bytes, std::mt19937& random) {
  static constexpr uint64_t kInteresting[] = {
      0, 1, 4, 8, 9, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t{0}, uint64_t{1} << 63};
  for (uint32_t n = 1 + random() % 4; n != 0 && !bytes.empty(); --n) {
    const size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
        break;
      case 1:
        bytes[at] = static_cast<uint8_t>(random());
        break;
      case 2: {
        const uint64_t value = kInteresting[random() % std::size(kInteresting)];
        for (size_t i = 0; i < (random() % 2 ? 8 : 4) && at + i < bytes.size(); ++i)
          bytes[at + i] = static_cast<uint8_t>(value >> 8 * i);
        break;
      }
      case 3: {
        const size_t from = random() % bytes.size(),
                     length = std::min<size_t>(random() % 64, bytes.size() - std::max(at, from));
        const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                          bytes.begin() + static_cast<std::ptrdiff_t>(from + length));
        std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      default:
        bytes.resize(at);
    }
  }
}

void add_seed(std::vector<Bytes>& seeds, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(in), {});
  if (bytes.size() > kMaxSeedBytes) bytes.resize(kMaxSeedBytes);
  seeds.push_back(std::move(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  std::vector<Bytes> seeds = {ggufscope::test::everything(3, false), ggufscope::test::everything(1, false),
                              ggufscope::test::everything(3, true)};
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      add_seed(seeds, argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      if (entry.is_regular_file()) add_seed(seeds, entry.path());
  }
  std::mt19937 random(1);
  for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  for (unsigned long i = 0; i < rounds; ++i) {
    Bytes bytes = seeds[random() % seeds.size()];
    mutate(bytes, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%s: %zu seeds and %lu mutations, no finding\n", argv[0], seeds.size(), rounds);
}
