// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// PNG (ISO/IEC 15948) with deflate (RFC 1951) in one block of fixed Huffman codes: small, and enough for pictures
/// of plain areas and smooth fields.

#include <array>
#include <common/picture.hpp>
#include <cstdint>

namespace tessera::app {
namespace {

using Bytes = std::string;

void put_32(Bytes& out, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(v >> shift & 0xff));
}

std::uint32_t crc(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[n] = c;
    }
    return t;
  }();
  std::uint32_t c = 0xffffffffu;
  for (const char b : bytes) c = table[(c ^ static_cast<std::uint8_t>(b)) & 0xff] ^ (c >> 8);
  return c ^ 0xffffffffu;
}

void put_chunk(Bytes& out, const char* type, std::string_view data) {
  put_32(out, static_cast<std::uint32_t>(data.size()));
  Bytes body(type, 4);
  body.append(data);
  out += body;
  put_32(out, crc(body));
}

/// Bits from the lowest of each byte upwards.
class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : m_out(out) {}
  void put(std::uint32_t value, int bits) {
    m_hold |= static_cast<std::uint64_t>(value) << m_held;
    m_held += bits;
    while (m_held >= 8) {
      m_out.push_back(static_cast<char>(m_hold & 0xff));
      m_hold >>= 8;
      m_held -= 8;
    }
  }
  /// Huffman codes go from their highest bit downwards.
  void put_code(std::uint32_t code, int bits) {
    std::uint32_t reversed = 0;
    for (int i = 0; i < bits; ++i) reversed |= (code >> i & 1u) << (bits - 1 - i);
    put(reversed, bits);
  }
  void finish() {
    if (m_held > 0) put(0, 8 - m_held);
  }

 private:
  Bytes& m_out;
  std::uint64_t m_hold = 0;
  int m_held = 0;
};

void put_symbol(BitWriter& bits, int symbol) {  // RFC 1951, 3.2.6
  const auto s = static_cast<std::uint32_t>(symbol);
  if (symbol < 144)
    bits.put_code(0x30 + s, 8);
  else if (symbol < 256)
    bits.put_code(0x190 + s - 144, 9);
  else if (symbol < 280)
    bits.put_code(s - 256, 7);
  else
    bits.put_code(0xc0 + s - 280, 8);
}

/// The code of a value whose codes cover ranges of 2^extra values (RFC 1951, 3.2.5).
template <std::size_t N>
int range_code(const std::array<int, N>& bases, int value) {
  int code = static_cast<int>(N) - 1;
  while (bases[static_cast<std::size_t>(code)] > value) --code;
  return code;
}

void put_match(BitWriter& bits, int length, int distance) {
  static constexpr std::array<int, 29> lengths = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static constexpr std::array<int, 30> distances = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  const int lc = range_code(lengths, length);
  put_symbol(bits, 257 + lc);
  const int length_bits = lc < 8 || lc == 28 ? 0 : (lc - 4) / 4;
  bits.put(static_cast<std::uint32_t>(length - lengths[static_cast<std::size_t>(lc)]), length_bits);
  const int dc = range_code(distances, distance);
  bits.put_code(static_cast<std::uint32_t>(dc), 5);
  const int distance_bits = dc < 4 ? 0 : (dc - 2) / 2;
  bits.put(static_cast<std::uint32_t>(distance - distances[static_cast<std::size_t>(dc)]), distance_bits);
}

Bytes compress_zlib(std::string_view data) {
  constexpr std::size_t window = 32768, longest = 258;
  constexpr int tries = 16;  // earlier places looked at for a match
  constexpr std::size_t hash_size = 1u << 15, none = ~std::size_t{0};
  Bytes out("\x78\x9c", 2);
  BitWriter bits(out);
  bits.put(1, 1);  // the last block
  bits.put(1, 2);  // fixed codes
  std::vector<std::size_t> head(hash_size, none), previous(data.size(), none);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(data[i]); };
  const auto remember = [&](std::size_t i) {
    if (i + 2 >= data.size()) return;
    const std::size_t hash = ((byte(i) * 0x9e37u) ^ (byte(i + 1) * 0x79b9u) ^ (byte(i + 2) * 0x1f35u)) % hash_size;
    previous[i] = head[hash];
    head[hash] = i;
  };
  for (std::size_t i = 0; i < data.size();) {
    remember(i);
    std::size_t best = 0, best_at = 0;
    std::size_t candidate = previous[i];
    for (int t = 0; t < tries && candidate != none && i - candidate <= window; ++t, candidate = previous[candidate]) {
      std::size_t n = 0;
      while (n < longest && i + n < data.size() && data[candidate + n] == data[i + n]) ++n;
      if (n > best) {
        best = n;
        best_at = candidate;
      }
    }
    if (best < 3) {
      put_symbol(bits, byte(i));
      ++i;
      continue;
    }
    put_match(bits, static_cast<int>(best), static_cast<int>(i - best_at));
    for (std::size_t k = 1; k < best; ++k) remember(i + k);
    i += best;
  }
  put_symbol(bits, 256);
  bits.finish();
  std::uint32_t a = 1, b = 0;  // Adler-32
  for (const char c : data) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  put_32(out, b << 16 | a);
  return out;
}

}  // namespace

std::string encode_png(const Image& image) {
  Bytes raw;
  raw.reserve(static_cast<std::size_t>(image.height) * (static_cast<std::size_t>(image.width) * 3 + 1));
  for (int y = 0; y < image.height; ++y) {
    raw.push_back(2);  // filter "up": the difference from the row above
    for (int x = 0; x < image.width; ++x)
      for (std::size_t c = 0; c < 3; ++c) {
        const int above = y > 0 ? image.at(x, y - 1)[c] : 0;
        raw.push_back(static_cast<char>(image.at(x, y)[c] - above));
      }
  }
  Bytes header;
  put_32(header, static_cast<std::uint32_t>(image.width));
  put_32(header, static_cast<std::uint32_t>(image.height));
  header += {8, 2, 0, 0, 0};  // 8 bits, RGB, deflate, filters by row, not interlaced
  Bytes png("\x89PNG\r\n\x1a\n", 8);
  put_chunk(png, "IHDR", header);
  put_chunk(png, "IDAT", compress_zlib(raw));
  put_chunk(png, "IEND", {});
  return png;
}

}  // namespace tessera::app
