"""The rules of the source tree, each against a small tree that breaks it. Nothing is built here."""

from pathlib import Path

import pytest

from tools import check_floors

DOOR = """
/// Comments name functions, too: virtual void comment() = 0;
class Door {
 public:
  virtual ~Door() = default;
  struct Key { int teeth = 0; };
  [[nodiscard]] virtual bool opens(
      const Key& key, std::string_view name) const noexcept = 0;
  virtual void close() = 0;
};
"""
WOOD = "class Wood final : public Door {\n  bool opens(const Key&, std::string_view) const noexcept override;\n  void close() override;\n};\n"
USE = "void use(Door& door, Door* other) { if (door.opens({}, \"\")) other->close(); }\n"


@pytest.fixture
def tree(tmp_path):
    def write(**files: str) -> list[str]:
        for name, text in files.items():
            file = tmp_path / "src" / name.replace("__", "/").replace("_cc", ".cc").replace("_h", ".h")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return check_floors.check(tmp_path)
    return write


def test_this_tree_keeps_all_rules():
    assert check_floors.check(check_floors.ROOT) == []


def test_a_file_knows_its_own_room_and_lower_floors(tree):
    assert tree(judge__a_cc='#include "base/text.h"\n#include "judge/b.h"\n') == []
    assert tree(judge__a_cc='#include "store/store.h"\n') == [
        'src/judge/a.cc: includes "store/store.h"; judge (floor 1) may not know store (floor 3)']
    assert tree(judge__a_cc='// #include "store/store.h"\n') == []


def test_a_domain_stays_in_its_folders(tree):
    assert tree(agent__bgp__watch_cc='#include "judge/bgp/mesh.h"\n') == []
    assert tree(agent__board_cc='#include "judge/bgp/mesh.h"\n') == [
        'src/agent/board.cc: includes "judge/bgp/mesh.h"; only agent/bgp, serve/bgp may know bgp']


@pytest.mark.parametrize("room", ["agent", "serve", "act", "incidents", "control"])
@pytest.mark.parametrize("text, domain", [("void look_at(GuestWatch& watch);", "guest"), ('auto text = "add one: [RAFT_NO_LEADER]";', "raft"),
                                          ("int ovn_clusters = 0;", "ovn"), ("const MeshView& kBgpMesh;", "bgp"), ("auto guests = all();", "guests")])
def test_a_general_room_names_no_domain(tree, room, text, domain):
    folders = ", ".join(sorted(check_floors.DOMAINS[domain]))
    assert tree(**{f"{room}__a_cc": text}) == [f"src/{room}/a.cc: names {domain}; only {folders} may"]


def test_a_domain_is_named_in_its_folders_in_comments_and_in_part_of_a_word(tree):
    assert tree(agent__guests__a_cc="GuestWatch watch(guests);", agent__b_cc="// guests and raft\nDraft draft = overdraft();",
                judge__a_cc="GuestFacts facts;", agent__domains_cc="make<GuestWatch>;") == []


def test_who_names_no_domain_any_more_leaves_the_list(tree):
    assert tree(act__plan__plan_runner_cc="RAFT_MEMBER_DOWN") == []
    assert tree(act__plan__plan_runner_cc="int x;") == ["src/act/plan/plan_runner.cc: is said to name a domain (an example in a message), and does not"]


def test_a_room_holds_less_than_a_fifth_and_the_agent_seven_thousand_lines():
    def said(**rooms: int) -> list[str]:
        return check_floors.check_rooms({Path(f"src/{room}/a.cc"): "\n" * lines for room, lines in rooms.items()})
    even = dict.fromkeys(["act", "base", "cli", "net", "store"], 6000)
    assert said(**even) == []
    assert said(**even, judge=7501) == ["src/judge: 7501 of 37501 lines; a room may hold a fifth"]
    assert said(agent=7000) == []
    assert said(agent=7001) == ["src/agent: 7001 lines; at most 7000"]


def test_only_net_reads_a_clock(tree):
    assert tree(net__a_cc="auto now = std::chrono::steady_clock::now();\n") == []
    assert len(tree(act__a_cc="auto now = std::chrono::steady_clock::now();\n")) == 1


@pytest.mark.parametrize("call", ["json::value value = json::parse(text, broken);", "boost::json::parser parser;", "json::stream_parser whole(opts);",
                                  "auto value = boost::json::parse({data, size});"])
def test_json_is_parsed_only_where_foreign_text_comes_in(tree, call):
    assert tree(codec__a_cc=call) == []
    assert tree(agent__a_cc=call) == ["src/agent/a.cc: parses JSON; pass the typed value on, or name in PARSES_JSON which foreign text this is"]
    assert tree(agent__a_cc="#include <boost/json/parse.hpp>\n// json::parse(text)\nauto options = json::parse_options();\n") == []


def test_who_parses_no_json_any_more_leaves_the_list(tree):
    assert tree(serve__order_cc="json::parse(request.body);") == []
    assert tree(serve__order_cc="int x;") == ["src/serve/order.cc: is said to parse JSON (the bodies of requests), and does not"]


def test_an_interface_has_an_implementation_and_callers(tree):
    assert tree(runtime__door_h=DOOR, net__wood_h=WOOD, agent__use_cc=USE) == []
    assert tree(net__wood_h="") == ["src/runtime/door.h: nothing implements the interface Door"]
    assert tree(net__wood_h=WOOD, agent__use_cc="") == ["src/runtime/door.h: nobody calls Door::opens", "src/runtime/door.h: nobody calls Door::close"]
    assert tree(agent__use_cc="void use(Door* door) { door->close(); }\nbool Wood::opens(const Key&) const { return true; }\n") == [
        "src/runtime/door.h: nobody calls Door::opens"]


def test_a_base_that_calls_its_own_function_is_a_caller(tree):
    assert tree(runtime__a_h="class A {\n  virtual int size() = 0;\n  int twice() { return size() * 2; }\n};\nclass B : public A {\n  int size() override;\n};\n") == []


def test_what_is_called_by_now_leaves_the_list(tree, monkeypatch):
    monkeypatch.setitem(check_floors.UNCALLED, "Store::revoke", "nobody needs it yet")
    store = "class Store {\n  virtual void revoke() = 0;\n};\nclass File : public Store {};\n"
    assert tree(store__store_h=store) == []
    assert tree(agent__a_cc="store->revoke();\n") == ["src/store/store.h: somebody calls Store::revoke by now: take it off the list UNCALLED"]


def test_no_file_is_longer_than_five_hundred_lines(tree):
    assert tree(judge__a_cc="\n" * 500) == []
    assert tree(judge__a_cc="\n" * 501) == ["src/judge/a.cc: 501 lines; at most 500"]
