// Tiny projectors of mmproj files with generated weights. What libmtmd makes of them is in
// tests/fixtures/golden/projectors.
#pragma once

#include "made_image_projectors.hpp"
#include "made_minicpm_gemma.hpp"

namespace ggufscope::test {

inline std::vector<MadeProjector> made_projectors() {
  std::vector<MadeProjector> all = {
      made_kimivl(),         made_kimik25(),       made_llama4_projector(),
      made_glm4v(),          made_youtuvl(),       made_cogvlm_projector(),
      made_lightonocr(),     made_ling3vl(),       made_exaone4_5(),
      made_mimovl(),         made_dots_ocr(),      made_paddleocr(),
      made_nemotron_v2_vl(), made_nemotron_omni(), made_janus_pro(),
      made_phi4(),           made_cohere2v(),      made_ldp(),
      made_ldpv2(),
  };
  add_minicpm_gemma(all);
  return all;
}

}  // namespace ggufscope::test
