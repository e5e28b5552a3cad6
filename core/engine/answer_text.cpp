// Looks for stop strings in an answer's text, and holds back what may be the beginning of one.
#include "engine/answer_text.hpp"

#include <algorithm>

namespace ggufscope {
namespace {

// The number of bytes at the end of text that are the beginning of stop. They must be held back.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.substr(text.size() - n) == stop.substr(0, n)) return n;
  return 0;
}

}  // namespace

AnswerText::AnswerText(const Tokenizer& tokenizer, std::vector<std::string> stops, std::vector<TokenId> shown)
    : tokenizer_(tokenizer), decoder_(tokenizer), stops_(std::move(stops)), shown_(std::move(shown)) {
  std::erase(stops_, std::string());
}

std::string AnswerText::push(TokenId id) {
  const bool special = tokenizer_.is_special(id);
  const bool shown = special && std::ranges::find(shown_, id) != shown_.end();
  std::string text = shown ? decoder_.flush() + std::string(tokenizer_.piece(id)) : decoder_.push(id);
  if (stops_.empty()) return text;
  return special && !shown ? add(tokenizer_.piece(id), true) : add(text, false);
}

std::string AnswerText::flush(bool cut) {
  const std::string last = decoder_.flush();
  std::string text;
  if (!stopped() && !cut) text = add(last, false);
  return text + release(held_.size());
}

std::string AnswerText::add(std::string_view text, bool hidden) {
  held_ += text;
  hidden_.insert(hidden_.end(), text.size(), hidden);
  size_t first = std::string::npos;
  for (size_t i = 0; i < stops_.size(); ++i)
    if (const size_t at = held_.find(stops_[i]); at < first) {
      first = at;
      stop_ = static_cast<int32_t>(i);
    }
  if (first != std::string::npos) {
    held_.resize(first);
    hidden_.resize(first);
    return {};
  }
  size_t hold = 0;
  for (const std::string& stop : stops_) hold = std::max(hold, overlap(held_, stop));
  return release(held_.size() - hold);
}

// Removes the first n bytes of the held text and returns the visible ones.
std::string AnswerText::release(size_t n) {
  std::string told;
  for (size_t i = 0; i < n; ++i)
    if (!hidden_[i]) told += held_[i];
  held_.erase(0, n);
  hidden_.erase(hidden_.begin(), hidden_.begin() + static_cast<ptrdiff_t>(n));
  return told;
}

}  // namespace ggufscope
