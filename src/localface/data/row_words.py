"""What a row of the table is called: a person unless said otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localface.errors import SchemaError

_VOWELS = "aeiou"
_HISSING = ("s", "x", "z", "ch", "sh")
_IRREGULAR = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "mouse": "mice",
    "wolf": "wolves",
}


@dataclass(frozen=True, slots=True)
class RowWords:
    """The words for one row and for many, as in "house" and "houses"."""

    one: str = "person"
    many: str = "people"

    @property
    def are_people(self) -> bool:
        """Whether nothing else was said."""
        return self == PEOPLE

    @property
    def of_many(self) -> str:
        """What many have.

        >>> RowWords().of_many, RowWords("house", "houses").of_many
        ("people's", "houses'")
        """
        return f"{self.many}'" if self.many.endswith("s") else f"{self.many}'s"

    @property
    def of_one(self) -> str:
        """What one has."""
        return f"{self.one}'s"

    @property
    def nobody(self) -> str:
        """None of them: nobody, no house."""
        return "nobody" if self.are_people else f"no {self.one}"

    @property
    def anybody(self) -> str:
        """Any of them: anybody, any house."""
        return "anybody" if self.are_people else f"any {self.one}"

    @property
    def everybody(self) -> str:
        """All of them: everybody, every house."""
        return "everybody" if self.are_people else f"every {self.one}"

    def count(self, n: int) -> str:
        """Say how many there are.

        >>> RowWords().count(1), RowWords("house", "houses").count(1200)
        ('1 person', '1,200 houses')
        """
        return f"{n:,} {self.one if n == 1 else self.many}"


PEOPLE = RowWords()
"""What rows are unless somebody says otherwise."""


def read_row_words(given: object) -> RowWords:
    """Read what a row is: a word, or that for one and that for many where no rule makes it.

    >>> read_row_words("house").many, read_row_words("company").many, read_row_words("batch").many
    ('houses', 'companies', 'batches')
    >>> read_row_words(("datum", "data"))
    RowWords(one='datum', many='data')
    """
    if given is None:
        return PEOPLE
    if isinstance(given, RowWords):
        return given
    if isinstance(given, str) and given.strip():
        one = given.strip()
        return RowWords(one, _plural(one))
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        one, many = given
        if isinstance(one, str) and isinstance(many, str) and one.strip() and many.strip():
            return RowWords(one.strip(), many.strip())
    raise SchemaError(
        f"each_row={given!r}: say what one row is, as in each_row='house', or what one and many "
        "are, as in each_row=('mouse', 'mice')"
    )


def _plural(word: str) -> str:
    """The plural of a word by the usual rules; of several words, of the last one."""
    *before, last = word.split(" ")
    if last.lower() in _IRREGULAR:
        last = _IRREGULAR[last.lower()]
    elif last.endswith("y") and last[-2:-1] not in _VOWELS:
        last = f"{last[:-1]}ies"
    elif last.endswith(_HISSING):
        last = f"{last}es"
    else:
        last = f"{last}s"
    return " ".join([*before, last])
