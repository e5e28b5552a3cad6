// All filters, tests, methods and globals by name.
#pragma once

#include <span>
#include <string_view>

#include "jinja/value.hpp"

namespace ggufscope::jinja {

[[nodiscard]] const Builtin* find_filter(std::string_view name);
[[nodiscard]] const Builtin* find_test(std::string_view name);
[[nodiscard]] const Builtin* find_global(std::string_view name);
/// nullptr: values of this type have no such method.
[[nodiscard]] const Builtin* find_method(Type type, std::string_view name);
/// Changes the object that it belongs to: templates may not call it.
[[nodiscard]] bool is_mutator(Type type, std::string_view name);

// Each file of builtins has one table of rows.
extern const std::span<const Builtin> kTextFilters, kSequenceFilters, kSelectFilters, kNumberFilters, kHtmlFilters,
    kLayoutFilters, kLinkFilters;
extern const std::span<const Builtin> kTests, kGlobals;
extern const std::span<const Builtin> kStrMethods, kStrTests, kDictMethods, kListMethods, kNumberMethods,
    kCyclerMethods, kLoopMethods;

}  // namespace ggufscope::jinja
