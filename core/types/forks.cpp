// The table of the types of forks, and of newer versions of ggml.
#include "types/forks.hpp"

#include <charconv>

namespace ggufscope {
namespace {

/// Ids and names, alternating. Source: ggml.h of ik_llama.cpp (August 2026) and of BitNet's llama.cpp.
constexpr std::string_view kIkLlama =
    "97 Q8_0_X4 98 Q8_1_X4 99 Q8_2_X4 133 Q6_0 134 IQ1_BN 135 IQ2_BN 136 Q8_K64 137 IQ2_K 138 IQ3_K 139 IQ4_K 140 "
    "IQ5_K "
    "141 IQ6_K 142 IQ2_TN 143 IQ1_TN 144 IQ4_KS 145 IQ2_KS 146 IQ4_KSS 147 Q8_K16 148 Q8_K32 149 Q8_KR8 150 Q8_K128 "
    "151 Q8_KV 152 IQ5_KS 153 IQ2_KT 154 IQ3_KT 155 IQ4_KT 156 IQ3_KS 157 IQ2_KL 158 IQ1_KT 202 Q4_0_R8 206 Q5_0_R4 "
    "208 Q8_0_R8 210 Q2_K_R4 211 Q3_K_R4 212 Q4_K_R4 213 Q5_K_R4 214 Q6_K_R4 216 IQ2_XXS_R4 217 IQ2_XS_R4 "
    "218 IQ3_XXS_R4 219 IQ1_S_R4 220 IQ4_NL_R4 221 IQ3_S_R4 222 IQ2_S_R4 223 IQ4_XS_R8 229 IQ1_M_R4 230 BF16_R16 "
    "233 Q6_0_R4 335 IQ2_BN_R4 337 IQ2_K_R4 338 IQ3_K_R4 339 IQ4_K_R4 340 IQ5_K_R4 344 IQ4_KS_R4 352 IQ5_KS_R4 "
    "353 MXFP4_R8 397 Q8_K_R16 398 Q8_KV_R8 399 Q8_K_R8";
constexpr std::string_view kBitNet = "36 I2_S 37 I8_S 38 TL1";
/// Types that ggml got after the version that this project follows, 0.27. Their layouts are not published with
/// certainty.
constexpr std::string_view kNewer = "43 FP8_E4M3";

std::string_view name_in(std::string_view list, uint32_t wanted) {
  while (!list.empty()) {
    uint32_t id = 0;
    const char* after = std::from_chars(list.data(), list.data() + list.size(), id).ptr;
    list.remove_prefix(static_cast<size_t>(after - list.data()) + 1);
    const std::string_view name = list.substr(0, list.find(' '));
    if (id == wanted) return name;
    list.remove_prefix(name.size() == list.size() ? list.size() : name.size() + 1);
  }
  return {};
}

}  // namespace

ForkType fork_type(uint32_t id) {
  if (const std::string_view name = name_in(kBitNet, id); !name.empty()) return {name, "BitNet"};
  if (const std::string_view name = name_in(kIkLlama, id); !name.empty()) return {name, "ik_llama.cpp"};
  if (const std::string_view name = name_in(kNewer, id); !name.empty()) return {name, kNewerGgml};
  return {};
}

}  // namespace ggufscope
