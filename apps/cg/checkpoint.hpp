// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cg/solver.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::cg {

/// What a checkpoint belongs to: going on with another matrix or preconditioner would be a different calculation.
struct Problem {
  std::uint64_t fingerprint = 0;  ///< of matrix and right-hand side
  index_t n = 0;
  std::string preconditioner;
};

/// A file that holds a State, in global order, so that any number of ranks can go on from it. It is written whole or
/// not at all; the one before it is kept as FILE.previous. A length and a checksum tell a file that was cut or damaged.
class Checkpoint {
 public:
  Checkpoint(std::filesystem::path file, Problem problem, const Communicator& communicator);

  /// Collective. \throws Error where the file cannot be written
  void save(const Space& exec, const State& state, const DistributedMatrix& a);
  /// The newest whole state: FILE's, or, with a word in `notice`, FILE.previous's. Collective.
  /// \throws Error where neither is whole, or they belong to another problem, saying what is wrong with each
  [[nodiscard]] State load(const Space& exec, const DistributedMatrix& a, std::string& notice);

  [[nodiscard]] const std::filesystem::path& file() const { return m_file; }
  [[nodiscard]] std::filesystem::path previous() const { return m_file.string() + ".previous"; }

 private:
  std::filesystem::path m_file;
  Problem m_problem;
  Communicator m_communicator;
  bool m_whole = false;  // FILE is known to be whole, and may become the previous one
};

}  // namespace tessera::cg
