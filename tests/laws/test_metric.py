"""Laws of scoring: what must not change a score, and what each text costs."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from pronmetric.data.collate import Collator, Example
from pronmetric.errors import InputError, PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.finder import find
from pronmetric.scoring import inference as module
from pronmetric.scoring import replicas
from pronmetric.scoring.score import Counts
from pronmetric.text.context import Text, in_context, previous
from pronmetric.text.words import words

Checkpoints = Callable[..., Path]


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)  # in the default precision


@pytest.fixture(scope="module")
def records(sample: Path) -> list[dict[str, Any]]:
    """The three systems of the sample in the reference's context, one after the other."""
    lines = {name: (sample / name).read_text(encoding="utf-8").splitlines() for name in ("ref.txt", "docids.txt")}
    systems = [(sample / f"system-{x}.txt").read_text(encoding="utf-8").splitlines() for x in "abc"]
    return [r for system in systems for r in in_context(system, reference=lines["ref.txt"], docs=lines["docids.txt"])]


def close(first: Sequence[float | None], second: Sequence[float | None]) -> None:
    assert [s is None for s in first] == [s is None for s in second]
    numbers = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    assert numbers
    assert max(abs(a - b) for a, b in numbers) <= 1e-5


def test_scores_are_probabilities_and_differ(metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    found = metric.predict(records)
    numbers = [score for score in found.scores if score is not None]
    assert len(numbers) > 90 and None in found.scores
    assert all(0 < score < 1 for score in numbers)
    assert max(numbers) - min(numbers) > 0.1  # else the laws below would say nothing


def test_the_word_attended_to_most_is_that_of_the_attention(
    metric: PronounMetric, records: list[dict[str, Any]]
) -> None:
    texts = [Text(" ".join(r["context"]), r["text"]) for r in records] + [
        Text("The ship sank. " * 8, "She was old. " * 8 + "He cried."),  # longer than the encoder: several windows
        Text("", "It, it!"),
        Text("", "They"),
        Text("", "..."),
    ]
    plain, found = list(metric.stream(texts)), list(metric.stream(texts, attended=True))
    close([segment.score for segment in plain], [segment.score for segment in found])
    assert all(segment.attended is None for segment in plain)
    for (context, text, *_), segment, looks in zip(texts, found, metric.attention(texts), strict=True):
        starts = [word.start - len(context) for word in words(context)] + [word.start for word in words(text)]
        names = [word.text for word in (*words(context), *words(text))]
        for look, attended in zip(looks, segment.attended or (), strict=True):
            assert look.weights is not None
            places = zip(starts, look.weights, names, strict=True)
            free = {at: weight for at, weight, name in places if at != look.start and any(map(str.isalnum, name))}
            assert (attended is None) == (not free)
            assert attended is None or free[attended] >= max(free.values()) - 1e-5
    assert [segment.attended for segment in found[-3:]] == [(4, 0), (None,), None]


def test_order_changes_nothing(metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    order = random.Random(0).sample(range(len(records)), len(records))
    shuffled = metric.predict([records[i] for i in order]).scores
    back = dict(zip(order, shuffled, strict=True))
    close(metric.predict(records).scores, [back[i] for i in range(len(records))])


@pytest.mark.parametrize("batch_size", [1, 2, 7, 1000])
def test_batch_size_and_padding_change_nothing(
    metric: PronounMetric, records: list[dict[str, Any]], batch_size: int
) -> None:
    close(metric.predict(records).scores, metric.predict(records, batch_size=batch_size).scores)


def test_other_texts_change_nothing(metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    alone = metric.predict(records[:37]).scores
    close(metric.predict(records).scores[:37], alone)
    one_by_one = [metric.predict([record]).scores[0] for record in records[:37]]
    close(alone, one_by_one)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_nothing_moves_the_scores_of_a_trained_checkpoint(records: list[dict[str, Any]], batch_size: int) -> None:
    trained = PronounMetric.from_pretrained("small", gpus=0)
    alone = trained.predict(records[:37]).pronouns
    order = random.Random(batch_size).sample(range(len(records)), len(records))
    found = trained.predict([records[i] for i in order], batch_size=batch_size).pronouns
    back = dict(zip(order, found, strict=True))
    close([p.score for each in alone for p in each], [p.score for i in range(37) for p in back[i]])


@pytest.mark.parametrize(("window", "remembered"), [(1, 0), (2, 3), (10, 10)])
def test_windows_of_the_stream_change_nothing(
    metric: PronounMetric,
    records: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    window: int,
    remembered: int,
) -> None:
    whole = metric.predict(records).scores
    monkeypatch.setattr(module, "_WINDOW", window)
    monkeypatch.setattr(module, "_REMEMBERED", remembered)
    close(whole, metric.predict(records).scores)


def test_several_devices_change_nothing(
    tiny_checkpoint: Checkpoints, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, metric: PronounMetric
) -> None:
    monkeypatch.setattr(replicas, "devices", lambda gpus: ["cpu"] * 3)
    spread = PronounMetric.from_pretrained(tiny_checkpoint(), precision="32")
    close(metric.predict(records).scores, spread.predict(records, batch_size=2).scores)


@pytest.mark.parametrize(
    ("gpus", "cuda", "mps", "found"),
    [
        (None, 0, False, ["cpu"]),
        (None, 2, False, ["cuda:0"]),
        (2, 2, True, ["cuda:0", "cuda:1"]),
        (0, 2, True, ["cpu"]),
        (None, 0, True, ["cpu"]),  # Apple's GPU is used where it is asked for
        (1, 0, True, ["mps"]),
        (1, 1, True, ["cuda:0"]),
        (2, 0, True, "2 GPUs were requested, but 0 are available"),
        (1, 0, False, "1 GPUs were requested, but 0 are available"),
    ],
)
def test_devices(
    gpus: int | None, cuda: int, mps: bool, found: list[str] | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    if isinstance(found, str):
        with pytest.raises(PronmetricError, match=found):
            replicas.devices(gpus)
    else:
        assert replicas.devices(gpus) == found
        assert all(torch.device(name).type in replicas.BATCH_SIZE for name in found)


@pytest.mark.parametrize(
    ("device", "bf16", "found"),
    [("cpu", True, "32"), ("cuda:0", True, "bf16"), ("cuda:1", False, "32"), ("mps", True, "32")],
)
def test_the_precision_where_none_is_asked_for(
    device: str, bf16: bool, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16 and not including_emulation)
    assert replicas.default_precision(device) == found


def test_the_signature_names_the_precision_of_the_device(
    tiny_checkpoint: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "default_precision", lambda device: {"cpu": "bf16"}[device])
    metric = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)
    assert metric.signature()["precision"] == metric.precision == "bf16"
    assert PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0, precision="32").precision == "32"


def test_each_distinct_text_is_encoded_once(
    metric: PronounMetric, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[Example] = []
    whole = Collator.encode

    def counting(self: Collator, examples: Sequence[Example]) -> list[Any]:
        encoded.extend(examples)
        return whole(self, examples)

    monkeypatch.setattr(Collator, "encode", counting)
    rows = {"count": 0}
    inner = module._scores
    monkeypatch.setattr(
        module,
        "_scores",
        lambda *of, **asked: rows.update(count=rows["count"] + len(of[-1])) or inner(*of, **asked),
    )
    monkeypatch.setattr(module, "_WINDOW", 8)  # repeats far apart count as well
    distinct = {(tuple(r["context"]), r["text"]) for r in records if find(r["text"])}
    assert len(distinct) < sum(bool(find(r["text"])) for r in records)  # some systems agree
    found = metric.predict([*records, *records])
    assert len(encoded) == len({(e.context, e.text) for e in encoded}) == len(distinct) == found.counts.encoded
    assert rows["count"] == len(distinct)
    assert found.scores[: len(records)] == found.scores[len(records) :]


def test_the_cuts_of_the_context_into_sentences_change_nothing(metric: PronounMetric) -> None:
    texts = [["Anna left. She took it."], ["Anna left.", "She took it."], ["Anna left.", "", "  She took it. "]]
    scores = metric.predict([{"text": "They miss her.", "context": context} for context in texts]).scores
    assert scores[0] == scores[1] == scores[2]
    assert scores[0] != metric.predict([{"text": "They miss her.", "context": []}]).scores[0]


def test_no_context_is_no_context(metric: PronounMetric) -> None:
    records = [
        {"text": "They miss her."},
        {"text": "They miss her.", "context": []},
        {"text": "They miss her.", "context": None},
    ]
    scores = metric.predict(records).scores
    assert scores[0] == scores[1] == scores[2]


def test_other_fields_change_nothing(metric: PronounMetric) -> None:
    plain = {"text": "They miss her.", "context": ["Anna left."]}
    more = {**plain, "reference": "You miss him.", "id": 3, "score": 0.1}
    assert metric.predict([plain]).scores == metric.predict([more]).scores


def test_a_text_without_a_pronoun_has_no_score_and_costs_nothing(metric: PronounMetric) -> None:
    found = metric.predict([{"text": "Yes.", "context": ["He said so."]}, {"text": ""}, {"text": "The US agreed."}])
    assert found.scores == [None, None, None]
    assert found.pronouns == [(), (), ()]
    assert (found.system_score, found.system.interval, found.counts.encoded) == (None, None, 0)
    assert metric.predict([]).scores == []


def test_only_the_pronouns_of_the_checkpoint_are_scored(metric: PronounMetric, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"text": "It was hers, not theirs.", "context": []}
    assert [p.text for p in metric.predict([record]).pronouns[0]] == ["It", "hers", "theirs"]
    monkeypatch.setattr(metric.inference, "forms", metric.inference.forms - {"theirs"})
    assert [p.text for p in metric.predict([record]).pronouns[0]] == ["It", "hers"]


def test_spans_are_code_points_of_the_text(metric: PronounMetric) -> None:
    text = "\U0001f600 \u201cShe\u201d sees that it\u2019s his."
    (pronouns,) = metric.predict([{"text": text, "context": ["\U0001f600\U0001f600 A."]}]).pronouns
    assert [text[p.start : p.end] for p in pronouns] == [p.text for p in pronouns]
    assert [(p.start, p.end) for p in pronouns] == [(o.start, o.end) for o in find(text)]
    assert pronouns[0].text == "She"


def test_system_score_is_the_mean_over_all_pronouns(metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    found = metric.predict(records, docs=[i // 10 for i in range(len(records))])
    numbers = [p.probability for pronouns in found.pronouns for p in pronouns]
    assert found.system_score == pytest.approx(100 * sum(numbers) / len(numbers))
    assert (found.system.pronouns, found.system.segments) == (len(numbers), len(records))
    assert found.system.with_pronoun == sum(score is not None for score in found.scores)
    assert found.system.resampled == "documents" and found.system.interval is not None
    assert found.system.interval[0] < found.system_score < found.system.interval[1]
    for score, pronouns in zip(found.scores, found.pronouns, strict=True):
        if score is not None:
            assert score == pytest.approx(sum(p.score for p in pronouns) / len(pronouns), abs=1e-6)


@pytest.mark.parametrize("head", ["logit", "paper", "average"])
def test_scores_are_those_of_the_model(tiny_checkpoint: Checkpoints, records: list[dict[str, Any]], head: str) -> None:
    """Training judges pairs by `HeadOutput.segment`; the metric must give that number."""
    metric = PronounMetric.from_pretrained(tiny_checkpoint(head=head), precision="32", gpus=0)
    found = metric.predict(records[:37])
    for record, segment in zip(records[:37], found.segments, strict=True):
        if segment.score is None:
            continue
        spans = [(p.start, p.end) for p in segment.pronouns]
        rows = metric.inference.collator.encode([Example(" ".join(record["context"]), record["text"], spans)])
        with torch.inference_mode():
            out = metric.inference.replicas[0](metric.inference.collator.pad(rows))
        assert segment.score == pytest.approx(out.segment.item(), abs=1e-5)
        raw = out.scores[0, : len(spans)]
        expected = (raw.sigmoid() if head == "logit" else raw).tolist()
        assert [p.score for p in segment.pronouns] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("head", ["paper", "average"])
def test_unbounded_heads_have_no_probability(
    tiny_checkpoint: Checkpoints, records: list[dict[str, Any]], head: str
) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(head=head), precision="32", gpus=0)
    found = metric.predict(records)
    assert not metric.probability
    assert found.signature["head"] == f"{head}-unbounded"
    assert all(p.probability is None for pronouns in found.pronouns for p in pronouns)
    numbers = [p.score for pronouns in found.pronouns for p in pronouns]
    assert found.system_score == pytest.approx(sum(numbers) / len(numbers))


def test_context_over_the_encoders_length_is_cut_on_the_left(tiny_checkpoint: Checkpoints) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(max_pieces=64), precision="32", gpus=0)
    near = " ".join(random.Random(3).choices(string.ascii_lowercase, k=80))
    far = [{"text": "They miss her.", "context": [string.ascii_letters, near]}]
    other = [{"text": "They miss her.", "context": ["Nothing of this is read. " * 9, near]}]
    found = metric.predict([*far, *other])
    assert found.scores[0] == pytest.approx(found.scores[1], abs=1e-5)
    assert (found.counts.cut, found.counts.windowed) == (2, 0)
    nearer = metric.predict([{"text": "They miss her.", "context": [near, "On Friday she locked its doors. " * 4]}])
    assert nearer.scores[0] != pytest.approx(found.scores[0], abs=1e-4)


def test_pronouns_beyond_the_slots_of_the_papers_head_are_scored_and_counted(tiny_checkpoint: Checkpoints) -> None:
    five, four = (
        {"text": text} for text in ("He told her that she saw them and us.", "He told her that she saw them.")
    )
    metric = PronounMetric.from_pretrained(tiny_checkpoint(head="paper"), precision="32", gpus=0)  # four slots
    found = metric.predict([five, four])
    assert [len(pronouns) for pronouns in found.pronouns] == [5, 4] and found.counts.surplus == 1
    w = metric.inference.replicas[0].head.w.tolist()
    assert found.scores[0] == pytest.approx(sum(a * p.score for a, p in zip(w, found.pronouns[0][:4], strict=True)))
    ours = PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)
    assert ours.predict([five]).counts.surplus == 0


@pytest.mark.parametrize("sentences", [9, 10, 17, 40])
def test_a_text_over_the_encoders_length_has_each_pronoun_scored(tiny_checkpoint: Checkpoints, sentences: int) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(max_pieces=64), precision="32", gpus=0)
    text = " ".join(f"He told {word} that she saw them {i}." for i, word in enumerate(["Anna", "us", "me"] * 20, 1))
    text = ".".join(text.split(".")[:sentences]) + "."
    found = metric.predict([{"text": text, "context": ["Anna left."]}])
    assert [(p.start, p.end) for p in found.pronouns[0]] == [(o.start, o.end) for o in find(text)]
    assert all(0 < p.score < 1 for p in found.pronouns[0])
    assert (found.counts.cut, found.counts.windowed) == (0, 1)
    assert found.scores[0] == pytest.approx(sum(p.score for p in found.pronouns[0]) / len(found.pronouns[0]), abs=1e-6)


def test_half_precision_stays_near(
    tiny_checkpoint: Checkpoints, metric: PronounMetric, records: list[dict[str, Any]]
) -> None:
    exact = metric.predict(records)
    for precision in ("bf16", "16"):
        half = PronounMetric.from_pretrained(tiny_checkpoint(), precision=precision, gpus=0)
        found = half.predict(records)
        gaps = [abs(a - b) for a, b in zip(exact.scores, found.scores, strict=True) if a is not None and b is not None]
        assert 0 < sum(gaps) / len(gaps) < 0.02
        assert found.signature.differences(exact.signature) == {"precision": (precision, "32")}


@pytest.mark.parametrize("head", ["paper", "average"])
def test_every_head_runs_in_half_precision(
    tiny_checkpoint: Checkpoints, records: list[dict[str, Any]], head: str
) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(head=head), precision="bf16", gpus=0)
    assert metric.predict(records[:37]).system_score is not None


def test_save_and_load_give_the_same(metric: PronounMetric, records: list[dict[str, Any]], tmp_path: Path) -> None:
    metric.save_pretrained(tmp_path / "copy")
    again = PronounMetric.from_pretrained(tmp_path / "copy", precision="32", gpus=0)
    first, second = metric.predict(records), again.predict(records)
    assert first.scores == second.scores
    assert set(second.signature.differences(first.signature)) == {"model"}  # the name; the hashes stay
    again.save_pretrained(tmp_path / "copy")  # onto itself: nothing happens
    assert PronounMetric.from_pretrained(tmp_path / "copy", precision="32", gpus=0).hash == metric.hash


def test_the_signature_names_what_the_score_depends_on(metric: PronounMetric) -> None:
    signature = metric.signature(context="common", seed=0)
    fields = dict(signature.fields)
    assert (fields.pop("weights"), fields.pop("settings")) == (metric.hash, metric.settings)
    assert len(metric.hash) == len(metric.settings) == 8
    assert fields == {
        "model": "tiny-logit-64",
        "head": "logit",
        "context": "common",
        "pronouns": "43",
        "segment": "mean",
        "word": "mean",
        "precision": "32",
        "version": "1.0.0",
        "seed": "0",
    }


def test_stream_keeps_the_order_and_counts(metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    counts = Counts()
    texts = [Text("".join(r["context"]), r["text"]) for r in records]
    streamed = [segment.score for segment in metric.stream(iter(texts), counts=counts)]
    assert streamed == metric.predict(records).scores
    assert counts.encoded == len({t for t in texts if find(t.text)})


def test_of_a_given_context_as_many_sentences_are_read_as_in_training(metric: PronounMetric) -> None:
    sentences = ["The ship sank.", "Ann wept.", "It rained.", "", "Bo left."]
    long = [{"text": "She saw him.", "context": sentences}, {"text": "She saw him.", "context": ["Bo left."]}]
    with pytest.warns(UserWarning, match="1 of 2 texts have more sentences of context than the 2"):
        found = metric.predict(long)
    short = metric.predict([{**long[0], "context": ["It rained.", "Bo left."]}, long[1]])
    assert found.scores == short.scores and (found.counts.shortened, short.counts.shortened) == (1, 0)
    assert "1 of 2 distinct texts" in next(found.counts.notes())
    with pytest.warns(UserWarning, match="2 of 4 texts"):
        assert metric.compare(long, long).counts.shortened == 1


def test_a_refusal_is_a_warning_in_python(metric: PronounMetric, tmp_path: Path) -> None:
    lines = ["She left.", "I'm sorry, but I can't assist with that.", "He slept."]
    said = "1 of 3 (records|lines) look like .*the first is (record|line) 2"
    with pytest.warns(UserWarning, match=said):
        found = metric.predict([{"text": line} for line in lines])
    assert found.system.no_translations == 1 and found.segments[1].no_translation == "refusal"
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=said):
        assert metric.score_files(tmp_path / "a.txt").segments[1].no_translation == "refusal"
    with pytest.warns(UserWarning, match=said):
        metric.corpus_score(lines, [["Sie ging.", "Sorry, I was late.", "Er schlief."]])


def test_bad_records_and_settings_are_refused(metric: PronounMetric, tiny_checkpoint: Checkpoints) -> None:
    with pytest.raises(InputError, match=r'record:2: the key "text" is missing'):
        metric.predict([{"text": "She."}, {"context": ["x"]}])
    with pytest.raises(InputError, match='"context" must be a list of strings, got a string'):
        metric.predict([{"text": "She.", "context": "One sentence."}])
    with pytest.raises(InputError, match="expected an object"):
        metric.predict(["She."])  # type: ignore[list-item]
    with pytest.raises(PronmetricError, match="expected a whole number from 1 as batch_size, got 0"):
        metric.predict([{"text": "She."}], batch_size=0)
    with pytest.raises(PronmetricError, match="expected precision 32, bf16, 16"):
        PronounMetric.from_pretrained(tiny_checkpoint(), precision="8")
    with pytest.raises(PronmetricError, match="99 GPUs were requested"):
        PronounMetric.from_pretrained(tiny_checkpoint(), gpus=99)


def test_context_never_crosses_documents() -> None:
    lines, docs = ["A.", "B.", "C.", "D.", "E."], ["x", "x", "x", "y", "y"]
    assert list(previous(lines, docs)) == ["", "A.", "A. B.", "", "D."]
    assert list(previous(lines)) == ["", "A.", "A. B.", "B. C.", "C. D."]
    assert list(previous(["A.", "B.", " ", "C."])) == ["", "A.", "A. B.", "A. B."]  # a blank line is no sentence
    assert [r["context"] for r in in_context(["1", "2"], reference=["A.", "B."])] == [[], ["A."]]
