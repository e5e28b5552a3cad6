// The first bytes of other formats, by which a file is recognized.
#include "gguf/sniff.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ggufscope {
namespace {

using std::string_view_literals::operator""sv;

struct Signature {
  size_t at;  ///< offset of the signature in the file
  std::string_view bytes;
  ErrorCode code;
  std::string_view sentence;
};

constexpr std::string_view kLegacy = "this is a model container from before GGUF";
constexpr std::string_view kArchiveSentence = "this is a compressed file or an archive, not GGUF: unpack it first";
constexpr std::string_view kPageSentence =
    "this is an HTML or XML page, not GGUF: the address shows a page (an error or a login, perhaps) instead of the "
    "file";

// clang-format off
constexpr std::array kSignatures = {
    // Magics are 32-bit numbers, so in little-endian files the letters are reversed.
    Signature{0, "lmgg"sv, ErrorCode::kLegacyContainer, kLegacy}, Signature{0, "ggml"sv, ErrorCode::kLegacyContainer, kLegacy},
    Signature{0, "fmgg"sv, ErrorCode::kLegacyContainer, kLegacy}, Signature{0, "ggmf"sv, ErrorCode::kLegacyContainer, kLegacy},
    Signature{0, "tjgg"sv, ErrorCode::kLegacyContainer, kLegacy}, Signature{0, "ggjt"sv, ErrorCode::kLegacyContainer, kLegacy},
    Signature{0, "algg"sv, ErrorCode::kLegacyContainer, kLegacy}, Signature{0, "ggla"sv, ErrorCode::kLegacyContainer, kLegacy},
    Signature{0, "version https://git-lfs"sv, ErrorCode::kLfsPointer,
              "this is a Git LFS pointer, not the file: fetch the content (git lfs pull, or the download address)"},
    Signature{8, "{\""sv, ErrorCode::kSafetensors, "this is a safetensors file, not GGUF"},
    Signature{0, "\0\0\0\0\0\0\0\0"sv, ErrorCode::kBadMagic, "the file begins with zeros: it was not written whole"},
    Signature{0, "PK\x03\x04"sv, ErrorCode::kArchive, "this is a zip archive (perhaps a PyTorch checkpoint), not GGUF"},
    Signature{0, "\x80\x02"sv, ErrorCode::kPickle, "this is a Python pickle (an old PyTorch checkpoint), not GGUF"},
    Signature{0, "\x1f\x8b"sv, ErrorCode::kArchive, kArchiveSentence},
    Signature{0, "BZh"sv, ErrorCode::kArchive, kArchiveSentence},
    Signature{0, "\xfd" "7zXZ"sv, ErrorCode::kArchive, kArchiveSentence},
    Signature{0, "7z\xbc\xaf"sv, ErrorCode::kArchive, kArchiveSentence},
    Signature{0, "Rar!"sv, ErrorCode::kArchive, kArchiveSentence},
    Signature{0, "\x28\xb5\x2f\xfd"sv, ErrorCode::kArchive, kArchiveSentence},
};
// clang-format on

Error whole_sentence(ErrorCode code, std::string_view sentence) {
  return {code, 0, "bad magic at byte 0: " + std::string(sentence)};
}

}  // namespace

Error foreign_file(ByteView first_bytes) {
  std::string_view text(reinterpret_cast<const char*>(first_bytes.data()), first_bytes.size());
  for (const Signature& signature : kSignatures)
    if (text.size() >= signature.at && text.substr(signature.at).starts_with(signature.bytes))
      return whole_sentence(signature.code, signature.sentence);

  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  if (text.starts_with('<')) return whole_sentence(ErrorCode::kHtml, kPageSentence);
  if (text.starts_with('{') || text.starts_with('['))
    return whole_sentence(ErrorCode::kJson, "this is a JSON document, not GGUF: it may be a server's error message");
  return whole_sentence(ErrorCode::kBadMagic, "a GGUF file begins with the letters GGUF");
}

}  // namespace ggufscope
