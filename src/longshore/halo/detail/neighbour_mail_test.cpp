// Letters arrive whole and in order, whatever their length; memory that a letter names can be read
// by neighbours on the node.
#include <longshore/halo/detail/neighbour_mail.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace longshore::detail {
namespace {

using testing::spmd;

TEST(NeighbourMail, letters_of_any_length_arrive_in_order) {
  spmd([](team& team) {
    const rank_grid grid(team);
    auto& mail = *grid.mail();
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{2048},
                                    std::size_t{5000}, std::size_t{4096}}) {
      std::vector<std::vector<std::byte>> letters;
      for (const int peer : mail.peers())
        letters.emplace_back(bytes + static_cast<std::size_t>(team.rank()),
                             static_cast<std::byte>(10 * team.rank() + peer));
      const auto came = mail.exchange(letters);
      ASSERT_EQ(came.size(), mail.peers().size());
      for (std::size_t i = 0; i < came.size(); ++i) {
        const int peer = mail.peers()[i];
        EXPECT_TRUE(team.nodes().is_local(peer) && peer != team.rank());
        EXPECT_EQ(came[i], std::vector<std::byte>(bytes + static_cast<std::size_t>(peer),
                                                  static_cast<std::byte>(10 * peer + team.rank())));
      }
    }
  });
}

TEST(NeighbourMail, a_ticket_leads_to_the_memory_of_its_owner) {
  spmd([](team& team) {
    const rank_grid grid(team);
    auto& mail = *grid.mail();
    readable_memory mine(team, 10000);
    std::memset(mine.data(), 1 + team.rank(), 10000);
    std::vector<std::byte> ticket(sizeof(memory_ticket));
    std::memcpy(ticket.data(), &mine.ticket(), sizeof(memory_ticket));
    const auto came = mail.exchange(std::vector(mail.peers().size(), ticket));
    for (std::size_t i = 0; i < came.size(); ++i) {
      memory_ticket theirs;
      std::memcpy(&theirs, came[i].data(), sizeof(theirs));
      const auto view = mail.mapped().redeem(theirs);
      ASSERT_NE(view.data, nullptr);
      EXPECT_EQ(view.data[9999], static_cast<std::byte>(1 + mail.peers()[i]));
      EXPECT_EQ(mail.mapped().redeem(theirs).data, view.data);  // mapped once
    }
    team.barrier();
  });
}

TEST(NeighbourMail, a_ticket_that_is_not_true_is_not_believed) {
  spmd([](team& team) {
    if (team.transport_name() == "threads" || team.nodes().my_rank_count() == 1) return;
    const readable_memory mine(team, 10000);
    EXPECT_NE(mapped_memory(mine.ticket()).data(), nullptr);
    memory_ticket wrong = mine.ticket();
    // another file of that number, as in a container with process numbers of its own
    wrong.inode += 1;
    EXPECT_EQ(mapped_memory(wrong).data(), nullptr);
    wrong = mine.ticket();
    wrong.file = 9999;
    EXPECT_EQ(mapped_memory(wrong).data(), nullptr);
  });
}

}  // namespace
}  // namespace longshore::detail
