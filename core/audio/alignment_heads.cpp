// The table of alignment heads of OpenAI's models, and reading a file's own.
#include "audio/alignment_heads.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "base/sentence.hpp"
#include "gguf/access.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxHeads = 48;  // limits the memory: large models have hundreds of heads in their upper half
constexpr const char* kKey = "whisper.decoder.alignment_heads";

struct Published {
  uint32_t n_layer, n_head, n_vocab;
  std::initializer_list<AlignmentHead> heads;
};

// openai/whisper, whisper/__init__.py. The first large model has the sizes of the second, which replaced it.
const Published kPublished[] = {
    {4, 6, 51864, {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}},  // tiny.en
    {4, 6, 51865, {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}},                  // tiny
    {6, 8, 51864, {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}}},                          // base.en
    {6, 8, 51865, {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}}},  // base
    {12,
     12,
     51864,
     {{6, 6},
      {7, 0},
      {7, 3},
      {7, 8},
      {8, 2},
      {8, 5},
      {8, 7},
      {9, 0},
      {9, 4},
      {9, 8},
      {9, 10},
      {10, 0},
      {10, 1},
      {10, 2},
      {10, 3},
      {10, 6},
      {10, 11},
      {11, 2},
      {11, 4}}},                                                                                         // small.en
    {12, 12, 51865, {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}}},  // small
    {24,
     16,
     51864,
     {{11, 4},
      {14, 1},
      {14, 12},
      {14, 14},
      {15, 4},
      {16, 0},
      {16, 4},
      {16, 9},
      {17, 12},
      {17, 14},
      {18, 7},
      {18, 10},
      {18, 15},
      {20, 0},
      {20, 3},
      {20, 9},
      {20, 14},
      {21, 12}}},
    {24, 16, 51865, {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}}},  // medium; above: medium.en
    {32, 20, 51865, {{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16}, {18, 4},
                     {18, 11}, {18, 19}, {19, 11}, {21, 2},  {21, 3},  {22, 3},  {22, 9},  {22, 12},
                     {23, 5},  {23, 7},  {23, 13}, {25, 5},  {26, 1},  {26, 12}, {27, 15}}},  // large-v2
    {32, 20, 51866, {{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11}, {21, 4}, {24, 1}, {25, 6}}},
    {4, 20, 51866, {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}},  // large-v3-turbo; above: large-v3
};

std::vector<AlignmentHead> upper_half(const WhisperSizes& decoder) {
  const uint32_t first = decoder.n_layer / 2, n = (decoder.n_layer - first) * decoder.n_head;
  const auto kept = static_cast<uint32_t>(std::min<size_t>(n, kMaxHeads));
  std::vector<AlignmentHead> heads;
  for (uint32_t i = 0; i < kept; ++i) {
    const uint32_t at = i * n / kept;
    heads.push_back({first + at / decoder.n_head, at % decoder.n_head});
  }
  return heads;
}

}  // namespace

Result<std::vector<AlignmentHead>> alignment_heads(const Gguf& gguf, const WhisperSizes& decoder, uint32_t n_vocab) {
  if (find_key(gguf, kKey) != nullptr) {
    const std::optional<std::vector<int64_t>> numbers = get_integers(gguf, kKey);
    if (!numbers || numbers->empty() || numbers->size() % 2 != 0 || numbers->size() / 2 > kMaxHeads)
      return fail(
          ErrorCode::kOutOfRange,
          std::string(kKey) + " is not an array of a layer and a head for each of 1 to " + counted(kMaxHeads, "head"));
    std::vector<AlignmentHead> heads;
    for (size_t i = 0; i < numbers->size(); i += 2) {
      const int64_t layer = (*numbers)[i], head = (*numbers)[i + 1];
      if (layer < 0 || layer >= decoder.n_layer || head < 0 || head >= decoder.n_head)
        return fail(ErrorCode::kOutOfRange, std::string(kKey) + " names head " + std::to_string(head) + " of layer " +
                                                std::to_string(layer) + "; the decoder has " +
                                                counted(decoder.n_layer, "layer") + " of " +
                                                counted(decoder.n_head, "head"));
      heads.push_back({static_cast<uint32_t>(layer), static_cast<uint32_t>(head)});
    }
    return heads;
  }
  for (const Published& model : kPublished)
    if (model.n_layer == decoder.n_layer && model.n_head == decoder.n_head && model.n_vocab == n_vocab)
      return std::vector<AlignmentHead>(model.heads);
  return upper_half(decoder);
}

}  // namespace ggufscope
