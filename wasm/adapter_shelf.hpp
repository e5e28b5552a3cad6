// The adapters that are open in a session, by the ids that JavaScript uses (wasm/src/engine/adapters.ts). The value
// objects are registered in bindings_adapters.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/session.hpp"

namespace ggufscope {

/// What JavaScript learns about an adapter that was opened.
struct AdapterFacts {
  uint32_t id;
  bool control_vector;
  uint32_t targets;  ///< number of weights or layers that it changes
  double bytes;
  std::string ignored;  ///< names of tensors without effect, one on each line
};

/// An adapter to use, by its id. The layers are those of a control vector, both included.
struct ChosenAdapter {
  uint32_t id;
  float scale;
  uint32_t first_layer, last_layer;
};

class AdapterShelf {
 public:
  [[nodiscard]] Result<void> open(Session& session, ByteView file);
  /// The facts of the adapter that was opened last.
  [[nodiscard]] AdapterFacts facts() const;
  /// Frees the adapter as soon as no sequence uses it.
  void close(uint32_t id) { adapters_.erase(id); }
  /// Adds an adapter to the selection that set() applies to the selected sequence. Error: kInvalidArgument for an id
  /// that is not open.
  void choose(const ChosenAdapter& chosen);
  [[nodiscard]] Result<void> set(Session& session);

 private:
  std::map<uint32_t, std::shared_ptr<const Adapter>> adapters_;
  uint32_t last_ = 0;
  std::vector<AdapterUse> chosen_;
};

}  // namespace ggufscope
