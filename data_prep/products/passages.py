"""Passages of plain English, of references, and of outputs whose pronouns are those of a reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from data_prep.coreference.antecedents import openings
from data_prep.documents import EnglishDocument
from data_prep.english import English
from data_prep.passages import estimate, passages
from data_prep.products.work import Product, Unique, Work
from data_prep.splits import DEVELOPMENT, TRAIN
from data_prep.survey import reference_documents
from pronmetric.data import arrow
from pronmetric.schema import Passage


@dataclass(frozen=True, slots=True)
class Passages(Product):
    """The splits of passages. openings: of each split, by which annotated documents are known to be in it."""

    openings: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def write(work: Work, plain: English) -> Passages:
    """Write the passages of development, then those of training, without copies across splits."""
    done, new = Passages(), Unique()
    rows = {}
    for split in (DEVELOPMENT, TRAIN):
        name = f"passages_{split}"
        of_wmt = list(reference_documents(work.survey, split))
        documents = chain(plain.of(split), of_wmt)
        shown = work.reporter.progress(documents, name, plain.sizes[split] + len(of_wmt), "documents")
        rows[name] = work.write(name, _passages(work, split, shown, done, new), arrow.passage_features())
    done.rows.update(sorted(rows.items(), reverse=True))
    return done


def _passages(
    work: Work, split: str, documents: Iterable[EnglishDocument], done: Passages, new: Unique
) -> Iterator[Passage]:
    counts, held_out, settings = done.counts[f"passages_{split}"], work.survey.held_out[split], work.settings
    forms = settings.forms
    for document in documents:
        counts["documents", document.source] += 1
        for passage in passages(
            document.lines,
            source=document.source,
            doc=document.doc,
            pieces=settings.passages.pieces,
            forms=forms,
            language=settings.language,
        ):
            if not passage.spans:
                counts["dropped", "no pronoun"] += 1
            elif held_out.near(passage.text):
                counts["dropped", "copy on another side"] += 1
            elif not new(passage.text):
                counts["dropped", "repeated"] += 1
            else:
                counts["kept", document.source] += 1
                counts[("pronouns",)] += len(passage.spans)
                counts["pieces", document.source] += estimate(passage.text, settings.language.writing)
                if settings.data.coreference:
                    done.openings[split] |= openings([passage.text])
                yield passage
