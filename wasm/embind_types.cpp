// The C++ types that Embind can convert in the inspect module: only those that are used. Embind's own list (bind.cpp of
// libembind, which these definitions replace) has twenty more and links printf, which adds 6 KB to what every page
// loads. To use another type, add its line.
#include <emscripten/bind.h>

#include <cstring>
#include <limits>

using namespace emscripten::internal;

extern "C" {

// Embind uses the name only for an error message about a type that is missing below.
// NOLINTNEXTLINE(bugprone-reserved-identifier): Embind chose the name
const char* __getTypeName(const std::type_info*) { return strdup("an unregistered type"); }

static InitFunc* first = nullptr;

void _embind_initialize_bindings() {
  for (const InitFunc* f = first; f != nullptr; f = f->next) f->init_func();
}

void _embind_register_bindings(InitFunc* f) {
  f->next = first;
  first = f;
}

// Support for coroutines over JavaScript's promises, which are not used.
void _emval_coro_resume(void*, void*) {}
void _emval_coro_reject(void*, void*) {}

}  // extern "C"

namespace {

template <class T>
void integer(const char* name) {
  // Embind takes both bounds as 32-bit numbers and infers signedness from the first.
  _embind_register_integer(TypeID<T>::get(), name, sizeof(T), static_cast<int32_t>(std::numeric_limits<T>::min()),
                           static_cast<uint32_t>(std::numeric_limits<T>::max()));
}

}  // namespace

EMSCRIPTEN_BINDINGS(types) {
  _embind_register_void(TypeID<void>::get(), "void");
  _embind_register_bool(TypeID<bool>::get(), "bool", true, false);
  integer<int>("int");
  integer<unsigned int>("unsigned int");
  integer<unsigned long>("unsigned long");
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  _embind_register_std_string(TypeID<std::string>::get(), "std::string");
}
