// What Embind knows of C++ types in the inspect module: only those that cross here. Embind's own list (bind.cpp of
// libembind, which these definitions stand in for) has twenty more, and brings printf: 6 KB of what every page loads.
// To let another type cross, add its line.
#include <emscripten/bind.h>

#include <cstring>
#include <limits>

using namespace emscripten::internal;

extern "C" {

// Only Embind's message on a type that is missing below asks for a name.
const char* __getTypeName(const std::type_info*) { return strdup("an unregistered type"); }

static InitFunc* first = nullptr;

void _embind_initialize_bindings() {
  for (const InitFunc* f = first; f != nullptr; f = f->next) f->init_func();
}

void _embind_register_bindings(InitFunc* f) {
  f->next = first;
  first = f;
}

// Coroutines over JavaScript's promises: there are none.
void _emval_coro_resume(void*, void*) {}
void _emval_coro_reject(void*, void*) {}

}  // extern "C"

namespace {

template <class T>
void integer(const char* name) {
  // Embind takes both bounds as 32 bits and reads their sign from the first.
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
