// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "solver.hpp"
#include <filesystem>
#include <string>

namespace tessera::heat {

/// The plane through the middle of the cube as a picture, from rank 0. Collective.
template <class T>
void write_slice(const app::App& app, const Solver<T>& solver, const std::filesystem::path& path);

/// All points, those on the surface included, as VTK ImageData (.vti, raw appended data) for ParaView or VisIt: one
/// file, the same for any number of ranks. Collective.
template <class T>
void write_vtk(const app::App& app, const Solver<T>& solver, const std::filesystem::path& path);

/// What a checkpoint holds besides the field.
struct CheckpointInfo {
  std::filesystem::path path;  ///< that was found whole
  index_t element_bytes = 0;
  index_t n = 0;
  index_t step = 0;
};

/// The file that a checkpoint written before this one is kept as.
std::filesystem::path previous_of(const std::filesystem::path& path);

/// Writes it whole or not at all; the one before becomes previous_of(path). Collective.
template <class T>
void write_checkpoint(const app::App& app, const Solver<T>& solver, const std::filesystem::path& path);

/// Reads and checks `path`, or, where that is missing, cut off or damaged, previous_of(path). Collective.
/// \throws Error where neither is whole, saying what is wrong with each
CheckpointInfo find_checkpoint(const app::App& app, const std::filesystem::path& path);

/// Collective. The solver's size and type must be those of the checkpoint.
template <class T>
void read_checkpoint(const app::App& app, Solver<T>& solver, const CheckpointInfo& info);

}  // namespace tessera::heat
