// The meshes of pattern ghost: parts fit together, whatever their number.
#include "patterns/ghost/mesh.hpp"

#include <longshore/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <tuple>

namespace longshore::bench {
namespace {

template <class Mesh>
std::vector<mesh_part> all_parts(const Mesh& mesh, int parts) {
  std::vector<mesh_part> made;
  for (int part = 0; part < parts; ++part) made.push_back(part_of(mesh, part, parts));
  return made;
}

// Ghosts name elements of other parts, each once, in order; and the copies that each part computes
// of its own elements are the ghosts of all others. Returns the number of ghosts.
std::size_t check_parts(const std::vector<mesh_part>& parts) {
  std::size_t ghosts = 0;
  std::vector<std::vector<std::uint32_t>> copies;
  for (const auto& part : parts) copies.emplace_back(part.owned);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto& needed = parts[p].ghosts;
    ghosts += needed.size();
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const auto owner = static_cast<std::size_t>(needed[i].rank);
      EXPECT_LT(owner, parts.size());
      EXPECT_LT(needed[i].offset, parts[owner].owned);
      if (parts.size() > 1) {
        EXPECT_NE(owner, p);
      }
      if (i > 0) {
        EXPECT_LT(std::pair(needed[i - 1].rank, needed[i - 1].offset),
                  std::pair(needed[i].rank, needed[i].offset));
      }
      ++copies[owner][needed[i].offset];
    }
  }
  for (std::size_t p = 0; p < parts.size(); ++p) EXPECT_EQ(parts[p].copies, copies[p]) << p;
  return ghosts;
}

class meshes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(parts, meshes, testing::Values(1, 2, 3, 4, 7, 27));

TEST_P(meshes, of_random_ghosts_agree_between_parts) {
  for (const std::uint64_t elements : {1, 5, 100})
    for (const std::uint64_t reach : {0, 1, 2}) {
      const auto parts = all_parts(random_graph{elements, 40, reach, 7}, GetParam());
      EXPECT_GT(check_parts(parts), 0U);
      for (int p = 0; reach > 0 && p < GetParam(); ++p)
        for (const auto& ghost : parts[static_cast<std::size_t>(p)].ghosts) {
          const int apart = std::abs(ghost.rank - p);
          EXPECT_LE(std::min(apart, GetParam() - apart), static_cast<int>(reach));
        }
    }
}

TEST_P(meshes, of_random_ghosts_follow_the_seed) {
  const auto ghosts = [&](std::uint64_t seed) {
    return part_of(random_graph{1000, 50, 0, seed}, 0, GetParam()).ghosts;
  };
  EXPECT_EQ(ghosts(1), ghosts(1));
  EXPECT_NE(ghosts(1), ghosts(2));
}

TEST_P(meshes, of_a_band_reach_over_several_parts) {
  for (const std::uint64_t elements : {1, 4, 10})
    for (const std::uint64_t ghosts : {1, 2, 7, 30, 1000}) {
      const auto parts = all_parts(band_matrix{elements, ghosts}, GetParam());
      const std::size_t found = check_parts(parts);
      EXPECT_EQ(found > 0, GetParam() > 1);
    }
}

TEST_P(meshes, of_cells_cover_the_box) {
  for (const auto kind : {box_mesh::cells::hexahedra, box_mesh::cells::tetrahedra})
    for (const std::uint64_t elements : {1, 60, 500})
      for (const std::uint64_t layers : {1, 2, 3}) {
        const auto parts = all_parts(box_mesh{elements, kind, layers}, GetParam());
        const std::size_t ghosts = check_parts(parts);
        std::uint64_t owned = 0;
        for (const auto& part : parts) owned += part.owned;
        const double wanted = static_cast<double>(elements) * GetParam();
        EXPECT_GT(static_cast<double>(owned), 0.5 * wanted);
        EXPECT_LT(static_cast<double>(owned), 2 * wanted + 6);
        if (elements > 1) {
          EXPECT_EQ(ghosts > 0, GetParam() > 1);
        }
      }
}

TEST(mesh, of_hexahedra_has_the_faces_between_its_parts) {
  const auto parts = all_parts(box_mesh{1000, box_mesh::cells::hexahedra, 1}, 8);
  for (const auto& part : parts) {
    EXPECT_EQ(part.owned, 1000U);         // 20 x 20 x 20 in blocks of 10 x 10 x 10
    EXPECT_EQ(part.ghosts.size(), 300U);  // three faces
  }
}

TEST(mesh, of_tetrahedra_has_jagged_surfaces) {
  const auto parts = all_parts(box_mesh{6000, box_mesh::cells::tetrahedra, 1}, 2);
  // The cut between the parts leaves a third of the tetrahedra of a layer of cubes on its left.
  const std::size_t cubes_of_layer = 12 * 13;
  EXPECT_EQ(parts[0].owned % (6 * cubes_of_layer), 2 * cubes_of_layer);
  EXPECT_EQ(parts[0].ghosts.size(), 2 * cubes_of_layer);
}

class matrix_files : public testing::Test {
 protected:
  // Writes a file and returns the error of its first part, or "".
  std::string error_of(const std::string& text) {
    write(text);
    try {
      static_cast<void>(part_of(file_, 0, 2));
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      return e.what();
    }
    return "";
  }
  void write(const std::string& text) { std::ofstream(file_.name) << text; }
  void TearDown() override { std::remove(file_.name.c_str()); }

  matrix_file file_{testing::TempDir() + "longshore_matrix.mtx"};
};

TEST_F(matrix_files, of_all_kinds_are_read) {
  // Rows 0, 1 | 2, 3, 4 or so: entries between rows 1 and 5, 2 and 4.
  const std::string places = "1 5", more = "4 2";
  for (const auto& [field, value] :
       {std::pair("real", " 1.5e3"), std::pair("integer", " -7"),
        std::pair("unsigned-integer", " 7"), std::pair("double", " -1.0D+00"),
        std::pair("real", " +2d3"), std::pair("complex", " 1 +2e-400"), std::pair("pattern", "")})
    for (const char* symmetry : {"general", "symmetric", "Hermitian", "skew-symmetric"}) {
      write(std::string("%%MatrixMarket Matrix coordinate ") + field + " " + symmetry +
            "\n% a comment\n\n5 5 3\n" + places + value + "\r\n  " + more + "\t" + value +
            " \n%\n1 1" + value + "\n");
      const auto parts = all_parts(file_, 2);
      EXPECT_EQ(check_parts(parts), symmetry == std::string("general") ? 2U : 4U) << field;
      EXPECT_EQ(parts[0].owned + parts[1].owned, 5U);
      for (const int count : {1, 3, 4, 7}) check_parts(all_parts(file_, count));
    }
  EXPECT_EQ(rows_of(file_), 5U);
}

TEST_F(matrix_files, with_the_banners_of_other_programs_are_read) {
  for (const char* banner : {"%%MatrixMarket matrix coordinate pattern",
                             "%MatrixMarket matrix coordinate pattern general",
                             "\xef\xbb\xbf%%MatrixMarket matrix coordinate pattern"}) {
    write(std::string(banner) + "\n5 5 2\n1 5\n4 2\n");
    EXPECT_EQ(check_parts(all_parts(file_, 2)), 2U) << banner;
  }
}

TEST_F(matrix_files, that_are_wrong_are_refused_with_the_line) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const auto expect = [&](const std::string& text, const std::string& line,
                          const std::string& reason) {
    const std::string told = error_of(text);
    EXPECT_NE(told.find(line), std::string::npos) << told;
    EXPECT_NE(told.find(reason), std::string::npos) << told;
  };
  expect("", "line 0", "no file of Matrix Market");
  expect("1 2 3\n", "line 1", "no file of Matrix Market");
  expect("%%MatrixMarket matrix array real general\n", "line 1", "'matrix coordinate'");
  expect("%%MatrixMarket matrix coordinate quaternion general\n", "line 1", "'quaternion' is not");
  expect("%%MatrixMarket matrix coordinate real upper\n", "line 1", "'upper' is not one of");
  expect(banner + "% nothing\n", "line 2", "before the sizes");
  expect(banner + "3 4 1\n1 1 1\n", "line 2", "3 rows and 4 columns");
  expect(banner + "0 0 0\n", "line 2", "0 rows");
  expect(banner + "3 3\n", "line 2", "'' is no number of entries");
  expect(banner + "3 3 1 9\n", "line 2", "'9' is left over");
  expect(banner + "3 3 2\n1 1 1\n", "line 3", "after 1 of 2 entries");
  expect(banner + "3 3 1\n1 1 1\n2 2 2\n", "line 4", "more than the 1");
  expect(banner + "3 3 1\n%\n1 4 1\n", "line 4", "column 4 is not in 1 to 3");
  expect(banner + "3 3 1\n0 1 1\n", "line 3", "row 0 is not in 1 to 3");
  expect(banner + "3 3 1\n-1 1 1\n", "line 3", "'-1' is no row");
  expect(banner + "3 3 1\n1 1\n", "line 3", "'' is not the number");
  for (const char* number : {"x", "1.0D", "1.0D+", "1.0D+x", "1.0X+00"})
    expect(banner + "3 3 1\n1 1 " + number + "\n", "line 3", "is not the number of an entry");
  expect(banner + "3 3 1\n1 1 1 1\n", "line 3", "'1' is left over");
  EXPECT_THROW(static_cast<void>(rows_of({file_.name + "none"})), error);
}

}  // namespace
}  // namespace longshore::bench
