// Names the layer that gives the first value that is not a number.
#pragma once

#include "engine/session.hpp"

namespace ggufscope {

/// While it lives, the state watches for the first layer that gives a value that is not finite.
class Session::NumberWatch {
 public:
  explicit NumberWatch(Session& session) : session_(session) {
    session_.state_->watches_numbers = true;
    session_.state_->broken_layer.reset();
  }
  ~NumberWatch() { session_.state_->watches_numbers = false; }
  NumberWatch(const NumberWatch&) = delete;
  NumberWatch& operator=(const NumberWatch&) = delete;

  [[nodiscard]] std::unexpected<Error> error() const {
    const std::optional<int32_t> layer = session_.state_->broken_layer;
    const std::string where = !layer       ? "its output"
                              : *layer < 0 ? "the embeddings of its tokens"
                                           : "layer " + std::to_string(*layer) + " (counted from 0)";
    return fail(ErrorCode::kOutOfRange,
                "the model's results are not numbers: the first that is none comes from " + where);
  }

 private:
  Session& session_;
};

}  // namespace ggufscope
