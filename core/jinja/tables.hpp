// Look-up of filters, tests, methods and globals by name.
#pragma once

#include <span>
#include <string_view>

#include "jinja/value.hpp"

namespace ggufscope::jinja {

[[nodiscard]] const Builtin* find_filter(std::string_view name);
[[nodiscard]] const Builtin* find_test(std::string_view name);
[[nodiscard]] const Builtin* find_global(std::string_view name);
/// nullptr if values of this type have no such method.
[[nodiscard]] const Builtin* find_method(Type type, std::string_view name);
/// True for methods that change their object, which the sandbox does not allow.
[[nodiscard]] bool is_mutator(Type type, std::string_view name);

// Each file of builtins defines one table.
extern const std::span<const Builtin> kTextFilters, kSequenceFilters, kSelectFilters, kNumberFilters, kHtmlFilters,
    kLayoutFilters, kLinkFilters;
extern const std::span<const Builtin> kTests, kGlobals;
extern const std::span<const Builtin> kStrMethods, kStrTests, kDictMethods, kListMethods, kNumberMethods,
    kCyclerMethods, kLoopMethods;

}  // namespace ggufscope::jinja
