#include <gtest/gtest.h>

#include "cli/mesh_json.h"
#include "cli/render/mesh.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using judge::bgp::MeshCell;
using judge::bgp::MeshFault;

TEST(Mesh, IsAMatrixAndItsProblems) {
  judge::bgp::Mesh mesh;
  mesh.names = {"a", "b"};
  mesh.cells = {{MeshCell::kSelf, MeshCell::kDown}, {MeshCell::kBlind, MeshCell::kSelf}};
  mesh.problems = {{MeshFault::kDaemonDown,
                    judge::Severity::kCritical,
                    "b",
                    "",
                    "b does not answer: \x1b[2J",
                    {{"a", "10.0.0.2 Connect"}},
                    1,
                    {}}};
  mesh.outcome = judge::Outcome::kFail;
  judge::bgp::MeshView a{
      .name = "a", .addresses = {}, .facts = judge::bgp::BgpFacts{}, .reason = {}};
  judge::bgp::MeshView b{.name = "b",
                         .addresses = {},
                         .facts = {},
                         .reason = {judge::ReasonCode::kHung, "no greeting"}};
  a.facts->version = "BIRD 2.0.12";
  const json::value written = to_json(mesh, {a, b});
  EXPECT_EQ(written.at("verdict"), "fail");
  EXPECT_EQ(written.at("nodes").at(1).at("reason"), "hung");
  EXPECT_EQ(written.at("matrix").at(1).at(0), "blind");
  EXPECT_TRUE(written.at("problems").at(0).at("to").is_null());
  const std::string drawn = draw_mesh(written, Style{});
  EXPECT_TRUE(drawn.contains("fail  BGP mesh of 2 nodes")) << drawn;
  EXPECT_TRUE(drawn.contains("a          .  down")) << drawn;
  EXPECT_TRUE(drawn.contains("b          ?  .")) << drawn;
  EXPECT_TRUE(drawn.contains("daemon down: b does not answer")) << drawn;
  EXPECT_TRUE(drawn.contains("1 session down because of it")) << drawn;
  EXPECT_FALSE(drawn.contains('\x1b'));
}

}  // namespace
}  // namespace wardmote::cli
