#include "model/forward.hpp"

namespace ggufscope {

Result<void> encode(const Model& model, State&, Pool&, std::span<const int32_t>, float*) {
  return fail(ErrorCode::kUnsupported, std::string(model.architecture().name) + " has no encoder");
}

}  // namespace ggufscope
