"""The one-token changes of a C++ file that ./dev mutate tries. Reads no file and runs nothing."""

import re
from dataclasses import dataclass

# What a token is, first match wins. Numbers before characters: 10'000 has no character in it.
TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<preprocessor>(?<![^\n])[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>(?:u8|[uUL])?R"(?P<fence>[^(\s]*)\(.*?\)(?P=fence)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
  | (?P<number>\.?\d(?:[eE][+-](?=\d)|'(?=\w)|[\w.])*)
  | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S)
""", re.VERBOSE | re.DOTALL)

# With a space on both sides, or at the end of a line, as the format has it: `a < b` is a comparison, `vector<int>` is none.
BINARY = {"==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "&&": ["||"],
          "||": ["&&"], "+": ["-"], "-": ["+"], "+=": ["-="], "-=": ["+="]}
ANYWHERE = {"++": ["--"], "--": ["++"]}
WORDS = {"true": ["false"], "false": ["true"], "continue": ["break"], "break": ["continue"], "min": ["max"], "max": ["min"],
         "any_of": ["all_of"], "all_of": ["any_of"], "none_of": ["any_of"]}
# `return {};` in place of these says the same.
EMPTY = {"{}", "std::nullopt", "nullptr", "0", "false", "true", '""', ""}
# No expression that is a statement begins so.
NO_STATEMENT = set("""return co_return co_yield if else for while do switch case default break continue goto using namespace class
    struct enum union template typedef static constexpr const consteval constinit auto inline extern friend public private protected
    try catch explicit virtual operator typename static_assert thread_local mutable noexcept requires""".split())
STARTERS = {"++", "--", "*"}
UNSEEN = {"reserve", "shrink_to_fit"}    # calls that nobody can observe
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Site:
    """A place that can be changed, and into what."""
    kind: str
    start: int
    end: int
    variants: tuple


@dataclass(frozen=True)
class Mutant:
    file: str    # from the root of the tree
    line: int
    kind: str
    start: int
    end: int
    new: str
    before: str  # the lines that it touches, with single spaces
    after: str

    def apply(self, text: str) -> str:
        return text[:self.start] + self.new + text[self.end:]


def tokens(text: str) -> list[Token]:
    """Without comments and preprocessor lines."""
    return [Token(match.lastgroup if match.lastgroup != "fence" else "string", match.group(), match.start(), match.end())
            for match in TOKEN.finditer(text) if match.lastgroup not in ("comment", "preprocessor")]


def sites(text: str) -> list[Site]:
    """In the order in which they stand."""
    all_tokens = tokens(text)
    found = []
    for index, token in enumerate(all_tokens):
        variants = _variants(text, all_tokens, index)
        if variants:
            found.append(Site(_kind(token), token.start, token.end, tuple(variants)))
    found += _returns(text, all_tokens) + _statements(all_tokens)
    return sorted(found, key=lambda site: (site.start, site.end))


def mutant(file: str, text: str, site: Site, new: str) -> Mutant:
    line = text.count("\n", 0, site.start) + 1
    begin = text.rfind("\n", 0, site.start) + 1
    end = text.find("\n", site.end)
    end = len(text) if end < 0 else end
    before, after = text[begin:end], text[begin:site.start] + new + text[site.end:end]
    return Mutant(file, line, site.kind, site.start, site.end, new, " ".join(before.split()), " ".join(after.split()))


def mutants(file: str, text: str) -> list[Mutant]:
    return [mutant(file, text, site, new) for site in sites(text) for new in site.variants]


def _variants(text: str, all_tokens: list[Token], index: int) -> list[str]:
    token = all_tokens[index]
    if token.kind == "number":
        return _numbers(token.text)
    if token.kind == "word":
        return WORDS.get(token.text, [])
    if token.kind != "mark" or (index > 0 and all_tokens[index - 1].text == "operator"):
        return []
    if token.text == "!":
        return [""]
    if token.text in ANYWHERE:
        return ANYWHERE[token.text]
    spaced = text[token.start - 1:token.start].isspace() and text[token.end:token.end + 1].isspace()
    return BINARY.get(token.text, []) if spaced else []


def _numbers(text: str) -> list[str]:
    whole = re.fullmatch(r"(0[xX])?([\da-fA-F']+?)((?:[uUlLzZ]|ms|us|ns|h|min|s)*)", text)
    if not whole:
        point = re.fullmatch(r"(\d+)(\.\d+.*)", text)
        return [str(int(point.group(1)) + 1) + point.group(2)] if point else []
    prefix, digits, suffix = whole.group(1) or "", whole.group(2).replace("'", ""), whole.group(3)
    try:
        value = int(digits, 16 if prefix else 10)
    except ValueError:
        return []
    spell = (lambda number: f"{prefix}{number:x}{suffix}") if prefix else (lambda number: f"{number}{suffix}")
    return [spell(value + 1)] + ([spell(value - 1)] if value > 0 else [])


def _kind(token: Token) -> str:
    if token.kind == "number":
        return "constant"
    return "removed !" if token.text == "!" else token.text


def _returns(text: str, all_tokens: list[Token]) -> list[Site]:
    found = []
    for index, token in enumerate(all_tokens):
        if token.text not in ("return", "co_return"):
            continue
        end = _end_of_statement(all_tokens, index + 1)
        if end is None or end == index + 1:
            continue
        start, stop = all_tokens[index + 1].start, all_tokens[end].start
        if "".join(text[start:stop].split()) not in EMPTY:
            found.append(Site("return value", start, stop, ("{}",)))
    return found


def _statements(all_tokens: list[Token]) -> list[Site]:
    found, brackets, conditions = [], [], set()
    for index, token in enumerate(all_tokens):
        before = all_tokens[index - 1] if index else None
        begins = before is not None and (before.text in (";", "{", "}", "else") or index - 1 in conditions)
        if begins and (not brackets or brackets[-1][0] == "{") and _may_be_statement(all_tokens, index):
            end = _end_of_statement(all_tokens, index)
            if end is not None and end > index:
                found.append(Site("removed statement", token.start, all_tokens[end].start, ("",)))
        if token.kind != "mark":
            continue
        if token.text in OPEN:
            brackets.append((token.text, index))
        elif token.text in CLOSE and brackets:
            _, opened = brackets.pop()
            head = all_tokens[opened - 1].text if opened else ""
            if token.text == ")" and head in ("if", "for", "while"):
                conditions.add(index)
    return found


def _end_of_statement(all_tokens: list[Token], index: int) -> int | None:
    """Of its semicolon; none if the block ends before."""
    depth = 0
    for at in range(index, len(all_tokens)):
        token = all_tokens[at]
        if token.kind != "mark":
            continue
        if token.text in OPEN:
            depth += 1
        elif token.text in CLOSE:
            depth -= 1
            if depth < 0:
                return None
        elif token.text == ";" and depth == 0:
            return at
    return None


def _may_be_statement(all_tokens: list[Token], index: int) -> bool:
    """An expression and no declaration, whose name follows its type."""
    first = all_tokens[index]
    if first.text in NO_STATEMENT or (first.kind != "word" and first.text not in STARTERS):
        return False
    for at in range(index, len(all_tokens) - 1):
        here, following = all_tokens[at], all_tokens[at + 1]
        if here.text in ("=", "(", ";", "{", "[", "+=", "-="):
            return all_tokens[at - 1].text not in UNSEEN
        if following.kind == "word" and here.text != "co_await" and (here.kind == "word" or (at > index and here.text in (">", "&", "*", "&&"))):
            return False
    return False
