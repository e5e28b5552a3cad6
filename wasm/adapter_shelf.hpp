// The adapters that were opened for a session, by their ids, as JavaScript has them (wasm/src/engine/adapters.ts). The
// value objects are registered in bindings_adapters.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/session.hpp"

namespace ggufscope {

/// An adapter that was opened.
struct AdapterFacts {
  uint32_t id;
  bool control_vector;
  uint32_t targets;  ///< weights or layers that it changes
  double bytes;
  std::string ignored;  ///< names of tensors that change nothing, a line each
};

/// An adapter by its id; layers are those of a control vector, both included.
struct ChosenAdapter {
  uint32_t id;
  float scale;
  uint32_t first_layer, last_layer;
};

class AdapterShelf {
 public:
  [[nodiscard]] Result<void> open(Session& session, ByteView file);
  /// Of the last one that was opened.
  [[nodiscard]] AdapterFacts facts() const;
  /// It is gone when no sequence has it.
  void close(uint32_t id) { adapters_.erase(id); }
  /// One by one, then set for the selected sequence. kInvalidArgument for an id that is not open.
  void choose(const ChosenAdapter& chosen);
  [[nodiscard]] Result<void> set(Session& session);

 private:
  std::map<uint32_t, std::shared_ptr<const Adapter>> adapters_;
  uint32_t last_ = 0;
  std::vector<AdapterUse> chosen_;
};

}  // namespace ggufscope
