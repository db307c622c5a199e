"""What ./dev mutate changes in a file, and what it leaves alone. Nothing is built here."""

import random
import threading

from tools import mutate
from tools.mutants import mutants, sites
from tools.mutation_tree import Cost, Ran

CODE = '''#include <vector>  // a < b
#define WIDE(a, b) ((a) == \\
                    (b))
std::vector<std::vector<int>> pairs(const Thing& it, int limit);
bool Thing::operator==(const Thing& other) const { return size_ == other.size_ && !empty(); }
int count(const std::vector<int>& all, std::string_view text) {
  std::string name = "x == y && !z";  // true
  const auto raw = R"(a < b; true)";
  int found = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (all[i] == 'a') continue;
    if (text.empty() ||
        limit <= 250ms)
      found += 1;
  }
  names.reserve(4);
  this->tell(found,
             [](int a) { return a + 0x1f; });
  return found;
}
'''


def changes(line: int) -> set[str]:
    return {each.after for each in mutants("x.cc", CODE) if each.line == line}


def test_operators_constants_and_words_change_one_at_a_time():
    assert changes(5) == {
        "bool Thing::operator==(const Thing& other) const { return size_ != other.size_ && !empty(); }",
        "bool Thing::operator==(const Thing& other) const { return size_ == other.size_ || !empty(); }",
        "bool Thing::operator==(const Thing& other) const { return size_ == other.size_ && empty(); }",
        "bool Thing::operator==(const Thing& other) const { return {}; }",
    }
    assert changes(10) == {f"for (int i = {a}; i {b} {c}; {d}i) {{" for a, b, c, d in
                           [("1", "<", "10'000", "++"), ("0", "<=", "10'000", "++"), ("0", ">=", "10'000", "++"),
                            ("0", "<", "10001", "++"), ("0", "<", "9999", "++"), ("0", "<", "10'000", "--")]}
    assert changes(11) == {"if (all[i] != 'a') continue;", "if (all[i] == 'a') break;"}
    assert "limit <= 251ms)" in changes(13)
    # An operator at the end of its line has spaces on both sides too.
    assert changes(12) == {"if (text.empty() &&"}


def test_comments_texts_preprocessor_and_templates_are_left_alone():
    for line in (1, 2, 3, 4, 7, 8):
        assert changes(line) == set(), line


def test_statements_are_removed_and_declarations_are_not():
    removed = [each.before for each in mutants("x.cc", CODE) if each.kind == "removed statement"]
    assert removed == ["found += 1;", "this->tell(found, [](int a) { return a + 0x1f; });"]
    assert "if (x) ;" in {each.after for each in mutants("x.cc", "void f() { g();\nif (x) co_await h();\n}")}
    # What only makes room cannot be noticed.
    assert not [each for each in mutants("x.cc", CODE) if each.line == 16 and each.kind == "removed statement"]


def test_a_change_is_made_where_it_was_found_and_nowhere_else():
    for each in mutants("x.cc", CODE):
        changed = each.apply(CODE)
        assert changed != CODE
        assert changed[:each.start] == CODE[:each.start] and changed.endswith(CODE[each.end:])
        assert CODE.count("\n", 0, each.start) + 1 == each.line


def test_the_same_seed_draws_the_same_and_leaves_out_what_was_judged_equivalent(tmp_path):
    (tmp_path / "x.cc").write_text(CODE)
    drawn = [list(mutate.draw(tmp_path, [tmp_path / "x.cc"], random.Random(seed), set())) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == len(sites(CODE))
    known = {(each.file, each.before, each.after) for each in drawn[0][:5]}
    rest = list(mutate.draw(tmp_path, [tmp_path / "x.cc"], random.Random(1), known))
    assert not known & {(each.file, each.before, each.after) for each in rest}


def test_an_entry_without_a_reason_or_without_its_line_is_a_fault(tmp_path):
    (tmp_path / "x.cc").write_text("bool f(int a) { return a < 3; }\n")
    listed = tmp_path / "list.yaml"
    fits = '- {file: x.cc, before: "bool f(int a) { return a < 3; }", after: "bool f(int a) { return a <= 3; }"'
    listed.write_text(fits + ", reason: a is even}\n")
    assert mutate.equivalents(listed, tmp_path) == ({("x.cc", "bool f(int a) { return a < 3; }", "bool f(int a) { return a <= 3; }")}, [])
    listed.write_text(fits + "}\n")
    assert "no reason" in mutate.equivalents(listed, tmp_path)[1][0]
    listed.write_text(fits.replace("< 3", "< 4", 1) + ", reason: a is even}\n")
    assert "stale" in mutate.equivalents(listed, tmp_path)[1][0]


def test_the_list_of_this_tree_fits_its_code():
    assert mutate.equivalents(mutate.EQUIVALENT, mutate.ROOT)[1] == []


CODE_OF_FAKE = "int f(int a) {\n  return a < 3;\n}\n"


class FakeTree:
    """Decides by the text of the change."""

    def __init__(self, folder):
        self.source, self.now = folder, ""

    def unchanged_code(self, file):
        return "code of the file"

    def code(self, file):
        return "code of the file" if "< 2" in self.now else "other"

    def prepare(self, program):
        assert self.now in ("", CODE_OF_FAKE), "measured on the unchanged tree"

    def write(self, file, text):
        self.now = text
        (self.source / file).write_text(text)

    def builds(self, program, changed):
        return "{}" not in self.now

    def run(self, program, limit, seeds):
        cost = Cost(1, 1)
        if limit is mutate.NO_LIMIT:
            return Ran(True, False, cost, "")
        return Ran(not (program == "second" and ">=" in self.now), False, cost, "")


def test_only_changes_that_compile_to_other_code_are_counted(tmp_path):
    code = CODE_OF_FAKE
    file = tmp_path / "x.cc"
    file.write_text(code)
    tree = FakeTree(tmp_path)
    run = mutate.Run(["first", "second"], iter(mutants("x.cc", code)), 100, 1)
    run.measure(tree, "first")
    worker = threading.Thread(target=run.work, args=(tree,))
    worker.start()
    worker.join(10)
    assert (run.tally.killed, run.tally.not_compiled, run.tally.same_code) == (1, 1, 1)
    assert [each.after for each in run.tally.survivors] == ["return a <= 3;", "return a < 4;"]
    assert file.read_text() == code  # as it was
    assert "+  return a <= 3;" in mutate.diff(run.tally.survivors[0], code)
