// Tokenizes for RWKV World.
#include "text/rwkv.hpp"

namespace ggufscope {

RwkvModel::RwkvModel(const Vocabulary& v) {
  std::vector<uint32_t> ids(v.pieces().size());
  for (uint32_t id = 0; id < ids.size(); ++id) ids[id] = id;
  table_.build(ids, v.pieces());
}

void RwkvModel::encode(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) const {
  for (size_t pos = 0; pos < text.size();) {
    size_t length = 0;
    uint32_t longest = 0;
    table_.visit_prefixes(text.substr(pos), v.pieces(), [&](size_t n, uint32_t id) {
      length = n;
      longest = id;
      return true;
    });
    if (length != 0) {
      out.push_back(static_cast<TokenId>(longest));
    } else if (v.special.unk != kNoToken) {
      out.push_back(v.special.unk);
    }
    pos += length != 0 ? length : 1;
  }
}

}  // namespace ggufscope
