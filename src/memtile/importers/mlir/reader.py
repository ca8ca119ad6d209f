"""From tokens to the tree: where an operation begins and ends, whatever operation it is.

An operation ends where the next one begins, as MLIR has no separator: at a value with ``=`` behind it, at a
name with a dialect, at a string with a parenthesis (generic form), at a label, or at a closing brace. What is
in brackets is not looked at, so names in there begin nothing. A brace holds attributes if a name with ``=``,
``,`` or ``}`` follows, else a region; a lone operation without operands is told apart by its dialect.
"""

from __future__ import annotations

from memtile.importers.mlir.known_operations import operations
from memtile.importers.mlir.token_packets import NAME, Text, Tokens
from memtile.importers.mlir.tree import Operation, OperationBlock, Region, TokenSpan
from memtile.limits import limit

_BARE = frozenset({"module", "func", "return", "call", "br", "cond_br"})  # dialects that text may leave out
_DIALECTS = ("aie.", "aiex.", "affine.", "cf.", "func.", "linalg.", "llvm.", "scf.", "ub.", "return")
_INDUCTION = ("for", "parallel", "forall")  # operations that begin with a value and ``=``
_BRACKETS = ("[", "(", "<")
_STREAMS = ("stream.", "hal.", "flow.")  # dialects of IREE that have a syntax of their own


def read(text: Text) -> Region:
    """The tree of a text: a region with the operations at its top.

    Raises:
        InputFileError: it is no MLIR; says where, and shows the line.
    """
    return _TextReader(Tokens(text)).read()


class _TextReader:
    """Reads a text once.

    Args:
        tokens: of the text.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens, self.words, self.close = tokens, tokens.words, tokens.close

    def read(self) -> Region:
        top = Region(None)
        end = self._operations(top, 0, len(self.words) - 1, 0)
        assert end == len(self.words) - 1
        return top

    def _operations(self, region: Region, at: int, end: int, depth: int) -> int:
        """Fill a region with the operations of the tokens from ``at`` to ``end``."""
        if depth > limit("regions"):
            raise self.tokens.text.beyond("regions", self.tokens.offset(at))
        words, block = self.words, region.blocks[0]
        while at < end:
            first = words[at][0]
            if first == "^":
                at, block = self._label(region, at)
            elif first in "#!" and words[at + 1] == "=":
                at = self._value_end(at + 2)
            else:
                at = self._operation(block, at, end, depth)
        return at

    def _label(self, region: Region, at: int) -> tuple[int, OperationBlock]:
        words, label = self.words, self.words[at]
        arguments: list[tuple[str, str]] = []
        after = at + 1
        if words[after] == "(":
            after = self.close[after] + 1
            arguments = self._typed(at + 2, after - 1)
        if words[after] != ":":
            raise self._error(after, f"label {label} has no colon behind it", ":")
        if region.blocks[-1].operations or region.blocks[-1].label:
            region.blocks.append(OperationBlock("", [], region))
        block = region.blocks[-1]
        block.label, block.arguments = label, arguments
        region.values.update((name, block) for name, _ in arguments)
        return after + 1, block

    def _operation(self, block: OperationBlock, at: int, end: int, depth: int) -> int:
        """Read one operation; returns where the next one begins."""
        words = self.words
        results, name_at = self._results(at)
        name = words[name_at]
        if name[0] == '"' and len(name) > 2:
            name = name[1:-1]
        elif not NAME.fullmatch(name) or not ("." in name or name in _BARE):
            raise self._no_operation(name_at)
        operation = Operation(self.tokens, name, name_at, results, block)
        block.operations.append(operation)
        values = block.region.values
        for result in results:
            values[result] = operation
        return self._body(operation, name_at + 1, end, depth)

    def _no_operation(self, at: int) -> Exception:
        """The error of a word that stands where an operation should."""
        text, offset = self.tokens.text, self.tokens.offset(at)
        dialect = next((name for name in _STREAMS if name in text.content[:offset]), "")
        if not dialect:
            says = f"{self.words[at] or 'the end'} is no operation"
            return self._error(at, says, "the name of an operation")
        says = f"operations of IREE's dialect {dialect.strip('.')} are around the device"
        step = "Take a later dump: the one of the pass that leaves aie.device alone in its module."
        return text.error(offset, says, reason="mlir_dialect", allowed="a module with aie.device", step=step)

    def _body(self, operation: Operation, at: int, end: int, depth: int) -> int:
        """Read what follows the name of an operation; returns where the next one begins."""
        words, close = self.words, self.close
        first = begin = at
        induction = operation.name.rpartition(".")[2] in _INDUCTION
        while at < end:
            word = words[at]
            lead = word[0]
            if lead in "([<{" and at in close:
                regions = self._holds_regions(operation, at)
                if not regions and (self._has_values(at) if lead == "{" else words[at + 1] != "{"):
                    at = close[at] + 1
                    continue
                self._span(operation, first, at)
                if regions:
                    self._regions(operation, at, depth)
                elif lead == "{":
                    operation.dicts.append(TokenSpan(at + 1, close[at]))
                elif lead == "<":  # properties of the generic form
                    operation.dicts.append(TokenSpan(at + 2, close[at + 1]))
                else:
                    operation.spans.append(TokenSpan(at, close[at] + 1))
                at = first = close[at] + 1
            elif (lead == "%" and not (induction and at == begin) and self._is_result(at)) or (
                lead != "%" and self._begins(word, lead, at)
            ):
                break
            else:
                at += 1
        self._span(operation, first, at)
        return at

    def _begins(self, word: str, lead: str, at: int) -> bool:
        """Whether a word that is no value begins an operation, a block, or an alias."""
        if lead == "^":
            return self._is_label(at)
        if lead == '"':
            return self.words[at + 1] == "("
        if lead in "#!":
            return self.words[at + 1] == "=" and self.words[at - 1] not in (":", ",", "=", "->")
        if not (lead.isalpha() or lead == "_"):
            return False
        return "." in word or (word in _BARE and self.words[at - 1] not in (",", "=", ":"))

    def _holds_regions(self, operation: Operation, at: int) -> bool:
        """Whether a bracket holds regions: a brace, or braces in another bracket."""
        words = self.words
        brace = at if words[at] == "{" else at + 1
        if words[brace] != "{" or words[at] == "<" or words[at - 1] == ":":  # a type of 2023: ({!t}, {!t})
            return False
        name, after = words[brace + 1], words[brace + 2]
        if not (name[0:1].isalpha() or name[0:1] in tuple('_"%^#!}[(<')):
            raise self._error(brace + 1, f"{name or 'the end'} begins nothing", "attributes or operations")
        if name in _BRACKETS or self._has_values(brace):
            return False  # of operations that no array has: lists of lists, and of values
        if name == "}":
            known = operations().get(operation.name)
            return words[at] != "{" or (
                not (operation.dicts or operation.regions or operation.spans)
                and (known is None or bool(known.holds))
            )
        named = NAME.fullmatch(name) or (name[0] == '"' and after != "(")
        return not (named and (after in ("=", ",") or (after == "}" and not name.startswith(_DIALECTS))))

    def _has_values(self, brace: int) -> bool:
        """Whether braces hold nothing but values, ``{%a, %b}``."""
        inside = self.words[brace + 1 : self.close[brace]] if self.words[brace + 1][:1] == "%" else []
        return bool(inside) and all(word[0] == "%" for word in inside[::2]) and set(inside[1::2]) <= {","}

    def _regions(self, operation: Operation, at: int, depth: int) -> None:
        end = self.close[at]
        braces = [at]
        if self.words[at] != "{":
            braces, brace = [], at + 1
            while brace < end:
                if self.words[brace] != "{":
                    raise self._error(brace, f"{self.words[brace]} is no region", "a region in braces")
                braces.append(brace)
                brace = self.close[brace] + 1
                brace += self.words[brace] == ","
        for brace in braces:
            region = Region(operation)
            operation.regions.append(region)
            if len(operation.regions) == 1:  # values in front of it, as of a function, are its arguments
                for name, kind in self._arguments(operation):
                    region.blocks[0].arguments.append((name, kind))
                    region.values[name] = region.blocks[0]
            self._operations(region, brace + 1, self.close[brace], depth + 1)

    def _arguments(self, operation: Operation) -> list[tuple[str, str]]:
        """Values that an operation defines for its region: those with types, or before ``=`` or ``in``."""
        words, found = self.words, list[tuple[str, str]]()
        for first, end in operation.spans:
            for at in range(first, end):
                if words[at][0] == "%" and words[at + 1] == "=":
                    found.append((words[at], ""))
                elif words[at] == "(" and words[self.close[at] + 1] in ("=", "in"):  # (%i, %j) in (4, 8)
                    found += [(word, "") for word in words[at + 1 : self.close[at]] if word[0] == "%"]
                elif words[at - 1] in ("ins", "outs"):  # operands of linalg, with their types
                    continue
                elif words[at] == "(" and words[at + 1][0:1] == "%" and words[at + 2] == ":":
                    found += self._typed(at + 1, self.close[at])
        return found

    def _typed(self, at: int, end: int) -> list[tuple[str, str]]:
        """Values with their types, ``%a: i32, %b: memref<4xi32>``; attributes behind them are left out."""
        found, words = list[tuple[str, str]](), self.words
        while at < end:
            name, first = words[at], at + 2
            if name[0] != "%" or words[at + 1] != ":":
                raise self._error(at, f"{name} is no argument", "a value, a colon and a type")
            at = self._value_end(first)
            found.append((name, self.tokens.join(first, at)))
            while at < end and words[at] != ",":
                at = self.close.get(at, at) + 1
            at += 1
        return found

    def _results(self, at: int) -> tuple[list[str], int]:
        """The results before an operation, and where its name stands."""
        words, results = self.words, list[str]()
        while words[at][0:1] == "%":
            name, many = words[at], 1
            if words[at + 1] == ":" and words[at + 2].isdecimal():
                many, at = int(words[at + 2][:4]), at + 2
            results += [name] if many == 1 else [name, *(f"{name}#{n}" for n in range(many))]
            at += 1
            if words[at] not in (",", "="):
                raise self._error(at, f"{words[at] or 'the end'} stands behind a result", "= or a comma")
            at += 1
        return results, at

    def _is_result(self, at: int) -> bool:
        """Whether a value is a result, of an operation that begins here."""
        words = self.words
        if words[at - 1] in (",", "="):
            return False
        while words[at][0:1] == "%":
            at += 1
            if words[at] == ":" and words[at + 1].isdigit():
                at += 2
            if words[at] == "=":
                return words[at + 1][0:1] not in ("%", "") and not words[at + 1][0].isdigit()
            if words[at] != ",":
                return False
            at += 1
        return False

    def _is_label(self, at: int) -> bool:
        """Whether a block begins here; else the block is where a branch goes."""
        after = at + 1
        if self.words[after] == "(":
            after = self.close[after] + 1
        return self.words[after] == ":"

    def _value_end(self, at: int) -> int:
        """End of an attribute or a type that begins at ``at``."""
        words, close, last = self.words, self.close, len(self.words) - 1
        while True:
            at = close[at] + 1 if at in close else min(at + 1, last)
            while at in close and words[at] in "<([" and words[at - 1] not in (",", ":"):
                at = close[at] + 1
            if words[at] not in (":", "->"):
                return at
            at += 1

    def _span(self, operation: Operation, first: int, end: int) -> None:
        if first < end:
            operation.spans.append(TokenSpan(first, end))

    def _error(self, at: int, says: str, allowed: str) -> Exception:
        return self.tokens.text.error(self.tokens.offset(at), says, allowed=allowed)
