// Finds a row of a registry by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/sentence.hpp"

namespace ggufscope {

/// The row with this name. Rows whose member `kFunction` is nullptr are known but cannot be run. Error: kUnsupported;
/// the message begins with `noun` and lists the names of the rows that can be run.
template <auto kFunction, class Row>
[[nodiscard]] Result<const Row*> find_row(std::span<const Row> rows, std::string_view noun, std::string_view name) {
  std::string runs;
  bool known = false;
  for (const Row& row : rows) {
    if (row.name == name && row.*kFunction != nullptr) return &row;
    known = known || row.name == name;
    if (row.*kFunction != nullptr) runs += (runs.empty() ? "" : ", ") + std::string(row.name);
  }
  return fail(
      ErrorCode::kUnsupported,
      sentence({noun, " ", Quoted{name}, known ? " cannot be run yet" : " is not known", "; these can: ", runs}));
}

}  // namespace ggufscope
