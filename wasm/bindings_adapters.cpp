// The JavaScript interface of adapters. bindings_engine.cpp registers the engine's methods.
#include <emscripten/bind.h>

#include <algorithm>
#include <utility>

#include "adapter_shelf.hpp"

using namespace emscripten;

namespace ggufscope {

Result<void> AdapterShelf::open(Session& session, ByteView file) {
  Result<std::shared_ptr<const Adapter>> adapter = session.open_adapter(file);
  if (!adapter) return std::unexpected(adapter.error());
  adapters_[++last_] = std::move(*adapter);
  return {};
}

AdapterFacts AdapterShelf::facts() const {
  const Adapter& adapter = *adapters_.at(last_);
  std::string ignored;
  for (const std::string& name : adapter.ignored()) ignored += (ignored.empty() ? "" : "\n") + name;
  return {.id = last_,
          .control_vector = adapter.is_control_vector(),
          .targets = static_cast<uint32_t>(adapter.n_targets()),
          .bytes = double(adapter.packed_bytes()),
          .ignored = ignored};
}

void AdapterShelf::choose(const ChosenAdapter& chosen) {
  const auto found = adapters_.find(chosen.id);
  chosen_.push_back(
      {found == adapters_.end() ? nullptr : found->second, chosen.scale, chosen.first_layer, chosen.last_layer});
}

Result<void> AdapterShelf::set(Session& session) {
  std::vector<AdapterUse> chosen = std::exchange(chosen_, {});
  if (std::ranges::any_of(chosen, [](const AdapterUse& use) { return use.adapter == nullptr; }))
    return fail(ErrorCode::kInvalidArgument, "the adapter is closed");
  return session.set_adapters(std::move(chosen));
}

}  // namespace ggufscope

EMSCRIPTEN_BINDINGS(adapters) {
  using namespace ggufscope;
  value_object<AdapterFacts>("AdapterFacts")
      .field("id", &AdapterFacts::id)
      .field("controlVector", &AdapterFacts::control_vector)
      .field("targets", &AdapterFacts::targets)
      .field("bytes", &AdapterFacts::bytes)
      .field("ignored", &AdapterFacts::ignored);
  value_object<ChosenAdapter>("ChosenAdapter")
      .field("id", &ChosenAdapter::id)
      .field("scale", &ChosenAdapter::scale)
      .field("firstLayer", &ChosenAdapter::first_layer)
      .field("lastLayer", &ChosenAdapter::last_layer);
}
