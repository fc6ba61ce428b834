from __future__ import annotations

import pytest

from rag.sources.plain.latex import read_latex
from rag.types import Mark, SourceDocument

PAPER = r"""\documentclass[11pt]{article}
\usepackage{amsmath} % maths
\newcommand{\ours}{\textsc{MyNet}}
\title{A \emph{Fast} Method\thanks{Funded.} for
  B\"acker}
\author{Jos\'e Mu\~noz \and Fran\c{c}ois Dupont\\ Universit\'e}
\begin{document}
\maketitle
\begin{abstract}
We present \ours, a method. % hidden
It is 50\% faster---really.
\end{abstract}

\section{Intro\-duction}\label{sec:intro}
As shown by~\cite[p.~3]{knuth84}, ``quotes'' and \verb|x_y| and
\textbf{bold} text\footnote{A note with $x^2$.}
% a comment line
goes on.
\begin{equation}
 E = mc^2 % kept
\end{equation}
\subsection*{Setup}
\begin{itemize}
  \item One
\end{itemize}
\input{tables/results}
\begin{tabular}{l|r}
Name & Value \\[2pt]
\end{tabular}
\begin{verbatim}
 % no comment \emph{raw}
\end{verbatim}
See \href{http://x.org}{the site}.
\end{document}
left out
"""


def paper() -> SourceDocument:
    return read_latex(PAPER.encode(), "name")


def words(text: str) -> str:
    return read_latex(text.encode(), "name").text


def test_title_authors_and_sections():
    found = paper()
    assert found.title == "A Fast Method for Bäcker"
    assert found.authors == ("José Muñoz", "François Dupont")
    assert [(section.heading_path, section.whole) for section in found.sections] == [
        (("Abstract",), True),
        (("Introduction",), False),
        (("Introduction", "Setup"), False),
    ]
    abstract = found.sections[0].span
    assert found.text[abstract.start : abstract.end].strip() == "We present MyNet, a method.\nIt is 50% faster—really."


def test_words_stay_and_commands_go():
    text = paper().text
    assert "As shown by [knuth84], “quotes” and `x_y` and\nbold text (A note with $x^2$.)\ngoes on." in text
    assert "\\begin{equation}\n E = mc^2 % kept\n\\end{equation}" in text
    assert "- One" in text
    assert "Name | Value" in text
    assert "```\n % no comment \\emph{raw}\n```" in text
    assert "See the site." in text
    for noise in ("hidden", "a comment line", "left out", "usepackage", "sec:intro", "itemize"):
        assert noise not in text


def test_lines_are_those_of_the_file():
    found = paper()
    for needle in ("We present", "As shown", "goes on", "E = mc", "- One", "See the site"):
        at = found.text.index(needle)
        mark = [mark for mark in found.marks if mark.start <= at][-1]
        line = PAPER.split("\n")[mark.number + found.text.count("\n", mark.start, at) - 1]
        assert needle.split()[-1].strip("-") in line, needle


def test_included_files_are_named():
    assert paper().notes == ("includes tables/results, which is read where it is a file of its own",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"Gro\ss{}e Stra\ss e, \'{E}cole, na\"{\i}ve, \v{S}koda, \c c", "Große Straße, École, naïve, Škoda, ç"),
        (r"5\,\% \& \$3 \_ \#", "5 % & $3 _ #"),
        (r"\(a_1\) and \[b\] and $$c$$", r"\(a_1\) and \[b\] and $$c$$"),
        ("open $ sign\n\nnext", "open  sign\n\nnext"),
        (r"\textbf{never closed", "never closed"),
        ("\\begin{verbatim}\nnever closed", "\nnever closed"),
    ],
)
def test_details(source: str, expected: str):
    assert words(source).strip() == expected.strip()


def test_a_percent_sign_in_an_address_begins_no_comment():
    assert words("\\url{http://x.org/a%20b} and \\href{http://x.org/%7Eme}{mine} stay % gone\nnext") == (
        "http://x.org/a%20b and mine stay\nnext"
    )


def test_code_in_one_line_stays_and_shifts_nothing():
    found = read_latex(
        b"a\n\\begin{verbatim}x % y\\end{verbatim}\nb\n\\begin{lstlisting}[language=C]\nz\n\\end{lstlisting}", "n"
    )
    assert found.text == "a\n`x % y`\nb\n```\nz\n```"
    assert found.marks == (Mark(0, "line", 1),)
