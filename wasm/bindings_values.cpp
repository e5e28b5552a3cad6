// Registers the value objects of engine_values.hpp, and the core's own structs that are passed by name.
#include <emscripten/bind.h>

#include "engine/session.hpp"
#include "engine_values.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {

// NOLINTNEXTLINE(readability-function-size): a table
EMSCRIPTEN_BINDINGS(engine_values) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<Failure>("Failure")
      .field("code", &Failure::code)
      .field("message", &Failure::message)
      .field("offset", &Failure::offset);
  value_object<Facts>("Facts")
      .field("vocabularySize", &Facts::vocabulary_size)
      .field("embeddingLength", &Facts::embedding_length)
      .field("layers", &Facts::layers)
      .field("trainedContextLength", &Facts::trained_context_length)
      .field("threads", &Facts::threads)
      .field("outputLength", &Facts::output_length)
      .field("pooling", &Facts::pooling)
      .field("pooledLength", &Facts::pooled_length)
      .field("decisionHead", &Facts::decision_head)
      .field("speech", &Facts::speech)
      .field("encoder", &Facts::encoder)
      .field("recurrent", &Facts::recurrent)
      .field("generationRefusal", &Facts::generation_refusal)
      .field("rowGroup", &Facts::row_group);
  value_object<PlannedTensor>("PlannedTensor")
      .field("file", &PlannedTensor::file)
      .field("offset", &PlannedTensor::offset)
      .field("rows", &PlannedTensor::rows)
      .field("rowBytes", &PlannedTensor::row_bytes);
  value_object<Sizes>("Sizes")
      .field("context", &Sizes::context)
      .field("batch", &Sizes::batch)
      .field("sequences", &Sizes::sequences)
      .field("cacheKeys", &Sizes::cache_keys)
      .field("cacheValues", &Sizes::cache_values)
      .field("sparseAttention", &Sizes::sparse_attention)
      .field("precision", &Sizes::precision);
  value_object<MemoryBytes>("MemoryBytes")
      .field("weights", &MemoryBytes::weights)
      .field("cache", &MemoryBytes::cache)
      .field("recurrent", &MemoryBytes::recurrent)
      .field("scratch", &MemoryBytes::scratch);
  value_object<ArrivedRows>("ArrivedRows")
      .field("tensor", &ArrivedRows::tensor)
      .field("firstRow", &ArrivedRows::first_row)
      .field("at", &ArrivedRows::at)
      .field("bytes", &ArrivedRows::bytes);
  value_object<GrammarTrigger>("GrammarTrigger")
      .field("text", &GrammarTrigger::text)
      .field("token", &GrammarTrigger::token)
      .field("atStart", &GrammarTrigger::at_start);
  value_object<SamplerOptions> sampler("SamplerOptions");
#define SAMPLER_OPTION(type, member, name, ...) sampler.field(#name, &SamplerOptions::member);
#include "engine/sampler_options.inc"
  value_object<AnswerOptions>("AnswerOptions")
      .field("sampler", &AnswerOptions::sampler)
      .field("seed", &AnswerOptions::seed)
      .field("logprobs", &AnswerOptions::logprobs)
      .field("lookup", &AnswerOptions::lookup)
      .field("draft", &AnswerOptions::draft)
      .field("keep", &AnswerOptions::keep)
      .field("ignoreEnd", &AnswerOptions::ignore_end)
      .field("contextShift", &AnswerOptions::context_shift);
  value_object<ProfileRow>("ProfileRow")
      .field("operation", &ProfileRow::operation)
      .field("oneToken", &ProfileRow::one_token)
      .field("typeA", &ProfileRow::type_a)
      .field("typeB", &ProfileRow::type_b)
      .field("typeC", &ProfileRow::type_c)
      .field("columns", &ProfileRow::columns)
      .field("rows", &ProfileRow::rows)
      .field("calls", &ProfileRow::calls)
      .field("ms", &ProfileRow::ms)
      .field("bytes", &ProfileRow::bytes)
      .field("products", &ProfileRow::products);
  value_object<Peaks>("Peaks")
      .field("int8", &Peaks::int8)
      .field("int16", &Peaks::int16)
      .field("float32", &Peaks::float32)
      .field("l2", &Peaks::l2)
      .field("dram", &Peaks::dram);
}

}  // namespace ggufscope
