// Floats on standard input to blocks of a ggml type on standard output, by the core's quantizer.
// usage: quantize TYPE-NAME ROW-LENGTH
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "quant/registry.hpp"
#include "types/types.hpp"

int main(int argc, char** argv) {
  using namespace ggufscope;
  if (argc != 3) return 2;
  const TypeGeometry* type = find_type(std::string_view(argv[1]));
  const size_t row = static_cast<size_t>(std::atoll(argv[2]));
  if (type == nullptr || row == 0 || row % type->block_size != 0 || find_quantizer(type->id).quantize == nullptr)
    return 2;
  std::vector<float> values;
  float buffer[4096];
  for (size_t n; (n = fread(buffer, sizeof(float), 4096, stdin)) > 0;) values.insert(values.end(), buffer, buffer + n);
  const size_t n_blocks = values.size() / type->block_size;
  std::vector<uint8_t> blocks(n_blocks * type->block_bytes);
  find_quantizer(type->id).quantize(values.data(), blocks.data(), n_blocks, nullptr, row / type->block_size);
  return fwrite(blocks.data(), 1, blocks.size(), stdout) == blocks.size() ? 0 : 1;
}
