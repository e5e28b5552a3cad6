// The unpack functions of the formats (formats.hpp): one a type, or one for several types with the same block.
#pragma once

#include "nn/gemm/format.hpp"

namespace ggufscope {

UnpackFn unpack_q4_0, unpack_q4_1, unpack_q5_0, unpack_q5_1, unpack_q8_0, unpack_q8_0_biased, unpack_mxfp4,
    unpack_nvfp4, unpack_tq1_0, unpack_tq2_0, unpack_q1_0, unpack_q2_0, unpack_q2_k, unpack_q3_k, unpack_q4_k,
    unpack_q5_k, unpack_q6_k, unpack_iq4_xs, unpack_iq1_s, unpack_iq1_m, unpack_iq2_xxs, unpack_iq2_xs, unpack_iq2_s,
    unpack_iq3_xxs, unpack_iq3_s, unpack_f16, unpack_bf16;

}  // namespace ggufscope
