# The figures of a checkpoint into English that has a pair head and a reader of sources, its pages and its card.
#
#   make -f benchmarks/figures.mk card DATA=PREPARED [MODEL=checkpoints/base] [FIGURES=runs/figures] [MACHINE="two cores"]
#
# A run that was stopped goes on: a script runs again only where FIGURES lacks its JSON or the weights are newer.
# PAGES=--page also writes the pages in benchmarks/published. Test sets that are read a few times only have targets of
# their own, `study` and `people_test`; `card` takes their figures if they are there.

MODEL ?= checkpoints/base
FIGURES ?= runs/figures
MACHINE ?= $(shell nproc) cores
PAGES ?=
PYTHON ?= .venv/bin/python
DATA ?= $(error DATA=FOLDER is missing: what `pronmetric prepare` wrote)

WEIGHTS := $(wildcard $(MODEL)/*.safetensors $(MODEL)/source/*.safetensors)
SCRIPT = $(PYTHON) -m benchmarks.checkpoint
GIVEN = --model $(MODEL) --precision bf16 --out $@
CARD := $(patsubst %,$(FIGURES)/%.json,antecedents bias calibration calibration_without context_gain fidelity gap pair_accuracy)
JSON := $(CARD) $(patsubst %,$(FIGURES)/%.json,deciding gender source_reader talk)

.PHONY: figures pages card study people_test
.DELETE_ON_ERROR:

figures: $(JSON)
study: $(FIGURES)/study.json
people_test: $(FIGURES)/people_test.json

$(JSON) $(FIGURES)/study.json $(FIGURES)/people_test.json $(FIGURES)/people.json: $(WEIGHTS) | $(FIGURES)

$(FIGURES):
	mkdir -p $@

$(FIGURES)/antecedents.json:
	$(SCRIPT).antecedents $(GIVEN) --data $(DATA) $(PAGES)
$(FIGURES)/bias.json:
	$(SCRIPT).bias $(GIVEN) --by preference $(PAGES)
$(FIGURES)/calibration.json:
	$(SCRIPT).calibration $(GIVEN) --data $(DATA)
$(FIGURES)/calibration_without.json:
	$(SCRIPT).calibration $(GIVEN) --data $(DATA) --no-source
$(FIGURES)/context_gain.json:
	$(SCRIPT).context_gain $(GIVEN) --by preference --data $(DATA)
$(FIGURES)/deciding.json:
	$(SCRIPT).deciding $(GIVEN) --data $(DATA) --number 32 --limit 200 $(PAGES)
$(FIGURES)/fidelity.json:
	$(SCRIPT).fidelity $(GIVEN) --by preference --data $(DATA) $(PAGES)
$(FIGURES)/gap.json:
	$(SCRIPT).gap $(GIVEN) --by preference
$(FIGURES)/gender.json:
	$(SCRIPT).gender $(GIVEN) --by preference --data $(DATA)
$(FIGURES)/pair_accuracy.json:
	$(SCRIPT).pair_accuracy $(GIVEN) --by preference --data $(DATA)
$(FIGURES)/source_reader.json:
	$(SCRIPT).source_reader --model $(MODEL) --data $(DATA) --out $@
$(FIGURES)/talk.json:
	$(SCRIPT).talk $(GIVEN)

$(FIGURES)/study.json:
	$(SCRIPT).study $(GIVEN) --by preference --log
$(FIGURES)/people_test.json:
	$(PYTHON) -m pronmetric evaluate $(DATA) --split people_test --model $(MODEL) --also_no_source --precision bf16 \
		--to_json $@ --plot $(FIGURES)/people_test.svg > $(FIGURES)/people_test.txt
$(FIGURES)/people.json: $(FIGURES)/study.json
	$(SCRIPT).people $(GIVEN) --by preference --study $< --sources $(PAGES)

pages: figures $(FIGURES)/people.json
	$(SCRIPT).reference_free --model $(MODEL) --out $(FIGURES)/reference-free $(PAGES)
	$(SCRIPT).short_sources --model $(MODEL) $(PAGES)

card: figures
	$(SCRIPT).card --model $(MODEL) --data $(DATA) --machine "$(MACHINE)" --reports $(CARD) \
		$(wildcard $(FIGURES)/study.json $(FIGURES)/people_test.json)
