"""C++ as text: tokens, statements, functions. Heuristics that are good enough to hold rules of this tree, no parser."""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r'(?P<noise>//(?:\\\n|[^\n])*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)'
    r'|(?P<text>(?:u8|[uUL])?R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.']*)|(?P<mark>->|::|\[\[|\]\]|\S)", re.S | re.M)
CONTROL = {"if", "for", "while", "switch", "catch", "do", "else", "try", "return"}
SCOPE = {"namespace", "struct", "class", "union", "enum", "extern"}
BEFORE_BODY = {")", "const", "noexcept", "override", "final", "mutable", "try", "else", "do", ";", "{", "}", "]", ":"}


@dataclass
class Token:
    text: str
    line: int


@dataclass
class Statement:
    """Tokens up to `;` or a body. A lambda's body is replaced by the token `{}`; its statements are listed on their own."""
    tokens: list[Token] = field(default_factory=list)

    @property
    def line(self) -> int:
        return self.tokens[0].line

    def words(self) -> list[str]:
        return [token.text for token in self.tokens]


@dataclass
class Function:
    name: str
    first_line: int
    last_line: int

    @property
    def lines(self) -> int:
        return self.last_line - self.first_line + 1


def tokens_of(source: str) -> list[Token]:
    found, line, at = [], 1, 0
    for match in TOKEN.finditer(source):
        line += source.count("\n", at, match.start())
        at = match.start()
        if match.lastgroup != "noise" and not match.group("noise"):
            found.append(Token('""' if match.group("text") else match.group(), line))
    return found


def opens_body(before: list[Token], in_parentheses: bool) -> bool:
    """Whether `{` after these tokens of its statement opens a body (and not a braced initialiser)."""
    if not before:
        return True
    words = [token.text for token in before]
    if words[-1] in BEFORE_BODY:
        return words[-1] != ":" or words[0] in {"case", "default"}
    if "requires" in words and ")" in words[:words.index("requires")]:
        return True
    if not in_parentheses and words[0] in SCOPE | {"template", "export", "inline"} and any(word in SCOPE for word in words):
        return "=" not in words and "(" not in words
    for at in range(len(words) - 1, 0, -1):  # `) -> type {`
        if words[at] == "->":
            return words[at - 1] in {")", "noexcept", "mutable", "const"}
        if words[at] in {"(", ",", "=", "return", ";", "{"}:
            break
    return False


class Reader:
    """One pass over the tokens: collects statements and functions."""

    def __init__(self, source: str):
        self.tokens = tokens_of(source)
        self.at = 0
        self.statements: list[Statement] = []
        self.functions: list[Function] = []
        self.read_block()

    def read_block(self) -> int:
        """Statements up to the closing brace of this block; the line of that brace."""
        current = Statement()
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.text == "}":
                self.end(current)
                return token.line
            if token.text == ";":
                self.end(current)
                current = Statement()
            elif token.text == "{" and opens_body(current.tokens, False):
                self.read_body(current, token)
                self.end(current)
                current = Statement()
            else:
                self.take(current, token)
        self.end(current)
        return self.tokens[-1].line if self.tokens else 0

    def take(self, current: Statement, token: Token) -> None:
        current.tokens.append(token)
        if token.text in ("(", "{", "["):
            self.read_group(current, {"(": ")", "{": "}", "[": "]"}[token.text])

    def read_group(self, current: Statement, closing: str) -> None:
        """Everything up to the bracket that closes, initialisers inline, lambda bodies apart."""
        begun = len(current.tokens)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.text == closing:
                current.tokens.append(token)
                return
            inside = current.tokens[begun:]
            if token.text == "{" and inside and inside[-1].text not in ("}", "{", ";") and opens_body(inside, True):
                self.read_block()
                current.tokens.append(Token("{}", token.line))
            else:
                self.take(current, token)

    def read_body(self, head: Statement, brace: Token) -> None:
        words = head.words()
        last_line = self.read_block()
        if words and "(" in words and words[0] not in CONTROL | SCOPE and words[-1] != "=":
            self.functions.append(Function(words[words.index("(") - 1] if words.index("(") else "lambda", head.line, last_line))

    def end(self, statement: Statement) -> None:
        if statement.tokens:
            self.statements.append(statement)


def capturing_lambda_at(words: list[str]) -> bool:
    """Whether a lambda introducer that captures something stands among the words of one expression."""
    for at, word in enumerate(words[:-1]):
        before = words[at - 1] if at else ""
        is_subscript = bool(re.match(r"^[\w\]\)\"]", before)) and before not in {"return", "co_return", "co_await", "co_yield"}
        if word == "[" and not is_subscript and words[at + 1] != "]":
            return True
    return False
