"""A teacher's numbers reach the student's pronouns, whatever the pieces of both; a student learns them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pronmetric.checkpoint import files
from pronmetric.data.collate import Collator, Example
from pronmetric.errors import InputError
from pronmetric.nn.head import PairHead
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.finder import FORMS, find
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.training import teacher as module
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.settings import Train
from pronmetric.training.teacher import Teacher

TEXTS = [
    ("It rained.", "She left her there."),
    ("It rained.", "It left her there."),
    ("", "They saw " + "that he gave me the book and " * 20 + "left us."),  # read in windows
    ("We met. They came.", "He and his sister gave it to them."),
]


def scorer(model: PronounScorer, seed: int) -> PronounScorer:
    """The model with a pair head of random weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model.pair_head = PairHead(model.encoder.width, heads=1, dropout=0.0)
        torch.nn.init.normal_(model.pair_head.z.weight)
    return model


@pytest.fixture
def teacher(tiny_checkpoint: Callable[..., Path]) -> Teacher:
    """A BiLSTM over words."""
    loaded = files.load(tiny_checkpoint(encoder="glove"))
    return Teacher(scorer(loaded.model, 5), loaded.collator, loaded.hash)


@pytest.fixture
def student(tiny_checkpoint: Callable[..., Path]) -> Collator:
    return files.load(tiny_checkpoint()).collator


def items() -> list[LabelledExample]:
    found = []
    for context, text in TEXTS:
        spans = tuple((o.start, o.end) for o in find(text))
        found.append(LabelledExample(Example(context, text, spans), tuple(1.0 for _ in spans), False, kind="system"))
    return found


def alone(teacher: Teacher, item: LabelledExample) -> tuple[dict[int, float], dict[int, float]]:
    """The teacher's logit and preference of each pronoun of a text."""
    logits, preferences = {}, {}
    for row in teacher.collator.encode([item.example]):
        with torch.no_grad():
            out = teacher._scorer(teacher.collator.pad([row]))
        for slot, k in enumerate(row.pronouns.tolist()):
            logits[k], preferences[k] = out.scores[0, slot].item(), out.preferences[0, slot].item()
    return logits, preferences


@pytest.mark.parametrize("pieces", [60, 10_000])
def test_each_pronoun_gets_the_teachers_numbers(teacher: Teacher, student: Collator, pieces: int) -> None:
    given, labeller = items(), Labeller(student, teacher=teacher.collator)
    expected = [alone(teacher, item) for item in given]
    parts = labeller.micro_batches(given, pairs=True, name="train", pieces=pieces)
    rows = {tuple(row.ids.tolist()): row for row in student.encode([item.example for item in given])}
    assert len(rows) > len(given) and (len(parts) > 1) == (pieces == 60)
    seen = 0
    for part in parts:
        assert part.lesson is not None
        answer = teacher.answer(part.lesson.to("cpu"))
        assert answer.preferences is not None and answer.logits.shape == part.right.shape
        for r, (ids, mask) in enumerate(zip(part.batch.ids, part.batch.piece_mask, strict=True)):
            row = rows[tuple(ids[mask].tolist())]
            for slot, k in enumerate(row.pronouns.tolist()):
                logits, preferences = expected[row.example]
                assert answer.logits[r, slot].item() == pytest.approx(logits[k], abs=1e-4)
                assert answer.preferences[r, slot].item() == pytest.approx(preferences[k], abs=1e-4)
                seen += 1
    assert seen == sum(len(item.example.spans) for item in given)


def test_batches_without_a_teacher_have_no_lesson(student: Collator) -> None:
    assert Labeller(student).batch(items(), pairs=False, name="train").lesson is None


def test_only_batches_that_learn_from_the_teacher_are_read_by_it(teacher: Teacher, student: Collator) -> None:
    labeller = Labeller(student, teacher=teacher.collator, taught=["pairs"])
    assert labeller.batch(items(), pairs=False, name="passages").lesson is None
    assert labeller.batch(items(), pairs=False, name="pairs").lesson is not None


def settled(train_settings: Callable[..., Train]) -> Any:
    """An objective of soft labels alone."""
    hard = ("detection", "antecedent", "pair", "preference")
    return train_settings({f"objective.{name}": 0.0 for name in hard}).objective


def test_a_student_learns_its_teacher_by_heart(
    teacher: Teacher,
    student: Collator,
    tiny_checkpoint: Callable[..., Path],
    train_settings: Callable[..., Train],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a label: its probabilities and its probabilities that a text is the better one come near."""
    taught = ScorerModule(
        scorer(files.load(tiny_checkpoint()).model, 6),
        loss=train_settings().loss,
        objective=settled(train_settings),
        optim=train_settings().optim,
        length=Length(200, 200.0),
        seed=1,
        teacher=teacher,
    )
    monkeypatch.setattr(taught, "log", lambda *_, **__: None)
    monkeypatch.setattr(taught, "log_dict", lambda *_, **__: None)
    given = [item for number, item in enumerate(items()) if number != 2]
    given.append(given[0])
    batch = Labeller(student, teacher=teacher.collator).batch(given, pairs=True, name="train")
    before = distances(taught, batch)
    names = [name for name, _ in taught.named_parameters()]
    assert names and all(name.startswith("scorer.") for name in names) and "teacher" not in str(taught.state_dict())
    taught.scorer.eval()  # no dropout
    optimizer = torch.optim.Adam(taught.parameters(), lr=3e-3)
    weights = [p.clone() for p in teacher._scorer.parameters()]
    for _ in range(150):
        optimizer.zero_grad()
        taught.training_step([[batch]], 0).backward()
        optimizer.step()
    after = distances(taught, batch)
    assert max(after) < 0.05 < 0.1 < max(before)
    assert all(map(torch.equal, weights, teacher._scorer.parameters()))


def distances(taught: ScorerModule, batch: Labelled) -> tuple[float, float]:
    """The greatest distance from the teacher's probabilities, of pronouns and of pairs."""
    assert taught.teacher is not None and batch.lesson is not None
    answer, real = taught.teacher.answer(batch.lesson), batch.batch.pronoun_mask
    with torch.no_grad():
        out = taught.scorer.eval()(batch.batch)
    gaps = []
    for values in (out.preferences, answer.preferences):
        means = values.masked_fill(~real, 0).sum(1) / real.sum(1)
        gaps.append((means[batch.better] - means[batch.worse]).sigmoid())
    pronouns = (out.scores.sigmoid() - answer.logits.sigmoid()).abs()[real]
    return pronouns.max().item(), (gaps[0] - gaps[1]).abs().max().item()


def test_a_teacher_of_other_forms_or_of_another_language_is_refused(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tiny_checkpoint()
    assert module.load(folder, forms=FORMS, language=ENGLISH).hash == files.load(folder).hash
    said = f"teacher: .* the same {len(FORMS) - 1} pronoun forms .* they differ in {FORMS[0]}: prepare the data"
    with pytest.raises(InputError, match=said):
        module.load(folder, forms=FORMS[1:], language=ENGLISH)
    german = language("de")
    with pytest.raises(InputError, match=r"teacher: expected a checkpoint for de, .* got one for en"):
        module.load(folder, forms=german.forms, language=german)
    with pytest.raises(InputError, match="teacher: expected a checkpoint with probabilities"):
        module.load(tiny_checkpoint(head="paper"), forms=FORMS, language=ENGLISH)
