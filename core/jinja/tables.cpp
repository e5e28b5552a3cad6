// The tables of filters, tests, methods and globals.
#include "jinja/tables.hpp"

#include <initializer_list>

#include "base/word_list.hpp"

namespace ggufscope::jinja {
namespace {

const Builtin* find_in(std::initializer_list<const std::span<const Builtin>*> tables, std::string_view name) {
  for (const auto* table : tables)
    for (const Builtin& row : *table)
      if (name == row.name) return &row;
  return nullptr;
}

}  // namespace

const Builtin* find_filter(std::string_view name) {
  return find_in({&kTextFilters, &kSequenceFilters, &kSelectFilters, &kNumberFilters, &kHtmlFilters, &kLayoutFilters,
                  &kLinkFilters},
                 name);
}
const Builtin* find_test(std::string_view name) { return find_in({&kTests}, name); }
const Builtin* find_global(std::string_view name) { return find_in({&kGlobals}, name); }

const Builtin* find_method(Type type, std::string_view name) {
  switch (type) {
    case Type::kString:
      return find_in({&kStrMethods, &kStrTests}, name);
    case Type::kDict:
      return find_in({&kDictMethods}, name);
    case Type::kList:
    case Type::kTuple: {
      const Builtin* found = find_in({&kListMethods}, name);
      return found != nullptr && type == Type::kTuple && name == "copy" ? nullptr : found;
    }
    case Type::kRange:
      return name == "copy" ? nullptr : find_in({&kListMethods}, name);
    case Type::kBool:
    case Type::kInt:
    case Type::kBig:
    case Type::kFloat:
      return find_in({&kNumberMethods}, name);
    case Type::kCycler:
      return find_in({&kCyclerMethods}, name);
    case Type::kLoop:
      return find_in({&kLoopMethods}, name);
    default:
      return nullptr;
  }
}

bool is_mutator(Type type, std::string_view name) {
  if (type == Type::kDict) return has_word("clear pop popitem setdefault update", name);
  return type == Type::kList && has_word("append clear pop reverse insert sort extend remove", name);
}

}  // namespace ggufscope::jinja
