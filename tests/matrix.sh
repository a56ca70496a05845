#!/usr/bin/env bash
# Runs the tests in shuffled order for each instruction set of torch and each number of threads; one line for each.
#
#   tests/matrix.sh [-b] [-c CAPABILITIES] [-t THREADS] [-s SEED] [-l FOLDER] [PYTEST ARGUMENTS]
#
#   -b  busy: meanwhile other processes keep all cores busy
#   -c  values of ATEN_CPU_CAPABILITY, "unset" for none (default: "default avx2 unset")
#   -t  values of OMP_NUM_THREADS (default: "1 2")
#   -s  seed of the order of the tests (default: drawn, another for each run)
#   -l  folder of the logs (default: a new one below /tmp)
#
# Exit code 1 where a run is red. PYTHON names the interpreter (default: .venv/bin/python).
set -uo pipefail
cd "$(dirname "$0")/.."

busy=no capabilities="default avx2 unset" threads="1 2" seed="" logs=""
while getopts "bc:t:s:l:" flag; do
    case $flag in
        b) busy=yes ;;
        c) capabilities=$OPTARG ;;
        t) threads=$OPTARG ;;
        s) seed=$OPTARG ;;
        l) logs=$OPTARG ;;
        *) sed -n 's/^#   //p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
python=${PYTHON:-.venv/bin/python}
logs=${logs:-$(mktemp -d -t pronmetric-matrix.XXXXXX)}
mkdir -p "$logs"

spinners=()
stop() { ((${#spinners[@]})) && kill "${spinners[@]}" 2> /dev/null; }
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ $busy = yes ]; then
    for _ in $(seq "$(nproc)"); do
        (while :; do :; done) &
        spinners+=($!)
    done
fi

code=0
for capability in $capabilities; do
    for count in $threads; do
        order=${seed:-$RANDOM}
        log=$logs/$capability-$count-$order.log
        environment=(OMP_NUM_THREADS="$count" ATEN_CPU_CAPABILITY="$capability")
        [ "$capability" = unset ] && environment=(-u ATEN_CPU_CAPABILITY OMP_NUM_THREADS="$count")
        env "${environment[@]}" "$python" -m pytest -q -p randomly --randomly-seed="$order" "$@" > "$log" 2>&1
        result=$?
        word=green
        ((result)) && word=RED code=1
        printf '%s\tcapability=%s threads=%s busy=%s seed=%s\t%s\t%s\n' \
            $word "$capability" "$count" $busy "$order" "$(grep -v "^ *$" "$log" | tail -n 1)" "$log"
    done
done
exit $code
