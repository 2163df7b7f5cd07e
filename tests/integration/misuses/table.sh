#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Misuses of a plugin, its files and its models, each with and without --json, as one table:
#   table.sh OMEN FIXTURES
# Who is to blame is named, a next step is given, the exit code is right, and stdout holds nothing
# but answers: none without --json, at most one document with it.
set -u
omen=$1
fixtures=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME="$work" XDG_CACHE_HOME="$work/cache"
unset OMEN_PLUGIN_PATH
# Sanitizers would turn the signals that are wanted here into exits of their own.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:detect_leaks=0"
failed=0
rows=0
report=err # the stream on which a command says what is wrong

# check NAME EXIT WHO WHAT STEP COMMAND...: three extended expressions for what must be said.
# An expression "-" asks for nothing, because the answer stands and nobody is to blame.
check() {
  local name=$1 exit=$2 who=$3 what=$4 step=$5 form found
  shift 5
  for form in plain json; do
    found=$(judge "$form" "$exit" "$who" "$what" "$step" "$@") || failed=$((failed + 1))
    rows=$((rows + 1))
    printf '| %-42s | %-5s | %4s | %s |\n' "$name" "$form" "$exit" "$found"
  done
}

# What the command said and whether that is what it must say.
judge() {
  local form=$1 exit=$2 who=$3 what=$4 step=$5 status said faults=""
  shift 5
  [ "$form" = plain ] || set -- "$@" --json
  timeout 60 "$omen" "$@" >out 2>err </dev/null
  status=$?
  [ "$status" -eq "$exit" ] || faults+=" exit $status;"
  said=$(tr '\n' ' ' <$report)
  for expression in "$who" "$what" "$step"; do
    [ "$expression" = - ] || grep -Eq -- "$expression" <<<"$said" ||
      faults+=" $report lacks '$expression';"
  done
  if [ $report = out ]; then
    [ -s err ] && faults+=" stderr is not empty;"
  elif [ "$exit" -eq 0 ]; then
    grep -q 'a stray line' out && faults+=" stdout is spoiled;"
  elif [ "$form" = plain ]; then
    grep -v -e '^workload ' -e 'no finite answer$' -e 'lower end above upper end$' out |
      grep -q . && faults+=" stdout is not empty;"
  elif [ -s out ]; then
    [ "$(head -c 1 out)" = '{' ] || faults+=" stdout is no document;"
    grep -q '"results": \[\]' out && ! grep -Eq -- "\"hint\": \".*$step" out &&
      faults+=" the document lacks '$step';"
  fi
  if [ -n "$faults" ]; then
    printf 'WRONG:%s said: %s' "$faults" "$said"
    return 1
  fi
  [ -s err ] && sed -n '/^error/{s/|/\\|/g;p;q}' err | tr -d '\n'
  return 0
}

printf 'x,cost\n1,2\n2,3\n3,4\n' >train.csv
printf 'x\n1\n2\n' >rows.csv
printf 'y\n1\n2\n' >renamed.csv
mkdir mine
cp -r "$fixtures/probe" mine/
"$omen" train probe.predictor --plugin-path mine --data train.csv --target cost:ms:lower -q \
  -o model.omen >log || exit 1
probe='probe\.predictor'
verify='omen verify --plugin-path mine probe'
debugger='under a debugger'

printf '| %-42s | %-5s | %4s | %s |\n' misuse form exit 'what is said'
echo '|---|---|---|---|'

asked() { # asked NAME EXIT WHAT STEP OPTION...: the probe with these options
  local name=$1 exit=$2 what=$3 step=$4
  shift 4
  check "$name" "$exit" "$probe" "$what" "$step" predict -m model.omen rows.csv --plugin-path mine "$@"
}

asked 'constructor throws' 1 'the table of prices is empty' "$verify" -O mode=throw -O during=create
asked 'constructor throws what is no exception' 1 'unknown exception' "$verify" \
  -O mode=foreign -O during=create
asked 'constructor aborts' 5 'crashed in create \(SIGABRT\)' "$debugger" -O mode=abort -O during=create
asked 'predict throws' 1 'the table of prices is empty' "$verify" -O mode=throw
asked 'predict throws what is no exception' 1 'unknown exception' "$verify" -O mode=foreign
check 'fit throws' 1 "$probe" 'the table of prices is empty' "$verify" train probe.predictor \
  --plugin-path mine --data train.csv --target cost:ms:lower -o never.omen -O mode=throw -O during=fit
asked 'a row is missing' 1 'gave no row for workload 1' "$verify" -O mode=missing
asked 'a row too many' 1 'predicted 1 workloads that it was not given' "$verify" -O mode=extra
asked 'a row twice' 1 'predicted workload 0 twice' "$verify" -O mode=twice
asked 'ids of others' 1 'predicted 2 workloads that it was not given' "$verify" -O mode=strange_ids
asked 'not a number' 1 'calls 2 rows an answer: no finite answer' "$verify" -O mode=nan
asked 'infinite' 1 'calls 2 rows an answer: no finite answer' "$verify" -O mode=infinite
asked 'text for numbers' 1 'predicted cost as text, but it is a number' "$verify" -O mode=text
asked 'lo above hi' 1 'calls 2 rows an answer: lower end above upper end' "$verify" -O mode=crossed
asked 'prints' 0 'wrote to stdout: a stray line' 'omen verify probe' -O mode=talk
asked 'hangs' 5 'did not finish predict within 3 s' 'longer with --timeout' -O mode=stubborn --timeout 3s
asked 'segmentation fault' 5 'crashed in predict \(SIGSEGV\)' "$debugger" -O mode=crash
asked 'abort' 5 'crashed in predict \(SIGABRT\)' "$debugger" -O mode=abort
asked 'exit(0)' 5 'ended its process in predict \(exit 0\)' "$debugger" -O mode=exit
asked 'ends its process with _exit' 5 'ended its process in predict \(exit 3\)' "$debugger" -O mode=leave
asked 'stops itself' 5 'did not finish predict within 3 s' 'longer with --timeout' -O mode=stop --timeout 3s
asked 'leaves an orphan' 5 'ended its process in predict \(exit 0\)' "$debugger" -O mode=orphan
asked 'closes every descriptor' 5 'ended its process in predict \(exit 1\)' "$debugger" -O mode=close
asked 'a line that is no message' 5 'broke its channel to omen' 'Descriptor 3 of a worker belongs to omen' \
  -O mode=garble
asked 'a stream without end' 1 'was asked for 2 rows, gave .* and did not end' "$verify" -O mode=endless
asked 'a stream that waits for ever' 5 'did not finish predict within 2 s' 'longer with --timeout' \
  -O mode=idle --timeout 2s
asked 'eats memory' 5 'used more than 190 MB in predict' '--memory' -O mode=eat --memory 200M
for harmless in fork chdir; do
  check "does no harm: $harmless" 0 - - - predict -m model.omen rows.csv --plugin-path mine -O mode=$harmless
done
asked 'exit(0) in the process of omen' 5 'ended the process of omen with exit' '--isolate' \
  -O mode=exit --in-process
asked 'option of the wrong type' 2 "option 'scale' of $probe is abc; expected a number" \
  'may end in k, M, G' -O scale=abc
asked 'option out of its range' 2 "option 'scale' of $probe is 50; allowed 0..10" \
  "omen info --plugin-path mine $probe" -O scale=50
asked 'option that is none' 2 'option --scall is not known' 'did you mean --scale' -O scall=1
check 'column renamed' 4 'model\.omen' 'missing: workloads\.x:int64' \
  "omen train --plugin-path mine $probe" predict -m model.omen renamed.csv --plugin-path mine

# A thread that outlives its call is seen where calls are watched; the report is the answer.
if [ -f "$fixtures/zoo/bad_late_thread/plugin.json" ]; then
  report=out
  check 'thread outlives its call' 1 'lifecycle\.threads/bad_late_thread\.mean' \
    'used progress of fit after the call was over' - verify "$fixtures/zoo/bad_late_thread" \
    --include lifecycle.threads
  report=err
fi

spoil() { # spoil DIRECTORY: a fresh copy of the plugin to damage
  rm -rf "$1"
  mkdir "$1"
  cp -r mine/probe "$1/"
}
damaged() { # damaged NAME WHAT STEP: what the spoilt copy in `other` leads to
  check "$1" 3 "plugin 'probe'" "$2" "$3" predict -m model.omen rows.csv --plugin-path other
}
spoil other
mv other/probe/libprobe.so other/probe/libelsewhere.so
damaged 'library moved' 'cannot find .*libprobe\.so' 'Build or install the plugin again'
spoil other
printf x >>other/probe/libprobe.so
damaged 'library edited' 'libprobe\.so has sha256 .* its manifest pins' 'Build or install the plugin again'
spoil other
sed -i 's/cost:ms:lower/cost:s:lower/' other/probe/plugin.json
damaged 'manifest edited' 'plugin\.json differs from the library in probe\.predictor\.writes' \
  'again with omen-manifest'
spoil other
old=$(sha256sum <other/probe/libprobe.so | cut -d' ' -f1)
sed -i 's/libstdc++\.so\.6/libstdq++.so.6/' other/probe/libprobe.so
new=$(sha256sum <other/probe/libprobe.so | cut -d' ' -f1)
sed -i "s/$old/$new/" other/probe/plugin.json
damaged 'dependency missing' 'libstdq\+\+\.so\.6: cannot open shared object' \
  'omen doctor --plugin-path other'

damaged_model() { # damaged_model NAME WHAT STEP [EXIT]
  check "model: $1" "${4:-4}" 'damaged\.omen' "$2" "$3" predict -m damaged.omen rows.csv --plugin-path mine
}
again='copy or make it again'
: >damaged.omen
damaged_model 'empty' '0 bytes are too few' "$again"
echo 'x,cost' >damaged.omen
damaged_model 'another kind of file' 'not a valid container' "$again"
head -c 400 model.omen >damaged.omen
damaged_model 'cut in the header' 'truncated: header of' "$again"
head -c -4 model.omen >damaged.omen
damaged_model 'cut in the numbers' 'not a valid container' "$again"
{ printf '\377\377\377\377\377\377\377\177'; tail -c +9 model.omen; } >damaged.omen
damaged_model 'length of the header' 'exceeds the limit' "$again"
{ head -c -1 model.omen; printf Z; } >damaged.omen
damaged_model 'one number changed' 'was changed: its data has sha256' "$again"
sed 's/probe\.predictor/probe.predicter/' model.omen >damaged.omen
damaged_model 'of a component that is not there' "'probe\.predicter' not found" "did you mean '$probe'"
sed 's/"note":"none"/"nota":"none"/' model.omen >damaged.omen
damaged_model 'an entry gone' "$probe cannot load damaged\.omen: model has no metadata 'note'" \
  'Train it again'

# Containers of a debugging standard library stay on their side of the boundary.
if [ -f "$fixtures/zoo/bad_debug_mode/plugin.json" ]; then
  printf 'x,cost\n1,2\n,3\n3,4\n' >holes.csv
  "$omen" train bad_debug_mode.mean --plugin-path "$fixtures/zoo" --data train.csv \
    --target cost:ms:lower -q -o debug.omen >log || failed=$((failed + 1))
  check 'library of debug mode' 0 - - - predict -m debug.omen rows.csv --plugin-path "$fixtures/zoo"
  check 'library of debug mode, past its rows' 5 'bad_debug_mode\.mean' \
    'crashed in predict \(SIGABRT\)' "$debugger" predict -m debug.omen holes.csv \
    --plugin-path "$fixtures/zoo"
fi

echo "$rows rows, $failed wrong"
[ "$failed" -eq 0 ] && [ "$rows" -ge 92 ]
