# SPDX-License-Identifier: Apache-2.0
# Test stages, their totals, and the table of acceptance figures.

# run_ctest PRESET CTEST_ARGUMENT...: runs tests and adds their outcome to the totals.
run_ctest() {
  local dir="$OMEN_ROOT/build/$1" report status=0
  shift
  report="$dir/Testing/report-$$.xml"
  rm -rf "$dir/Testing/cases"
  mkdir -p "$dir/Testing/cases"
  ctest --test-dir "$dir" --output-on-failure --no-tests=error -j "$(nproc)" \
    --output-junit "$report" "$@" || status=$?
  outcomes "$report" "$dir/Testing/cases" >"$report.outcomes"
  count_results "$report.outcomes"
  check_skips "$report.outcomes" || status=1
  rm -f "$report" "$report.outcomes"
  return $status
}

# outcomes REPORT CASES: "passed|failed|skipped NAME" for each test of a report by ctest. A test that left a
# report of its own in CASES counts as the cases named there, unless it failed in none of them.
outcomes() {
  awk -v RS='<' -v cases="$2" '
    function value(record, key) {
      return match(record, " " key "=\"[^\"]*\"") ? substr(record, RSTART + length(key) + 3, RLENGTH - length(key) - 4) : ""
    }
    function read_cases(test,   file, record, count, i, name, outcome) {
      file = cases "/" test ".xml"
      count = failures = 0
      while ((getline record < file) > 0)
        if (record ~ /^testcase /) {
          name[++count] = test "." value(record, "classname") "." value(record, "name")
          outcome[count] = value(record, "result") == "skipped" ? "skipped" : "passed"
        } else if (record ~ /^failure/ && outcome[count] != "failed") {
          outcome[count] = "failed"
          failures++
        }
      close(file)
      for (i = 1; i <= count; i++) print outcome[i], name[i]
      return count
    }
    /^testcase / {
      name = value($0, "name")
      status = value($0, "status")
      outcome = status == "run" ? "passed" : status == "fail" ? "failed" : "skipped"
      if (!read_cases(name) || (outcome == "failed" && !failures)) print outcome, name
    }' "$1"
}

count_results() {
  [ -n "${OMEN_TOTALS:-}" ] || return 0
  awk '{ count[$1]++ } END { print count["passed"] + 0, count["failed"] + 0, count["skipped"] + 0 }' \
    "$1" >>"$OMEN_TOTALS"
}

# Every skip must match a line of tests/expected_skips.txt: "<name regex>  # <reason>".
check_skips() {
  local name allowed unexpected=0
  allowed=$(sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$OMEN_ROOT/tests/expected_skips.txt" |
    if [ -n "${OMEN_DATA:-}" ]; then grep -v '^without data:'; else sed 's/^without data: *//'; fi)
  while read -r name; do
    [ -z "$allowed" ] || ! grep -Eqx -e "$allowed" <<<"$name" || continue
    printf 'unexpected skip: %s (expected ones are in tests/expected_skips.txt)\n' "$name"
    [ -z "${OMEN_TOTALS:-}" ] || echo "0 1 0" >>"$OMEN_TOTALS"
    unexpected=1
  done < <(sed -n 's/^skipped //p' "$1")
  [ $unexpected -eq 0 ]
}

stage_suite() {
  configure release -DOMEN_BUILD_TESTS=ON -DOMEN_UNIT_TESTS=ON -DOMEN_TESTS_BY_FILE=ON
  build release all
  run_ctest release -LE '^(slow|show-slow.*)$'
}

stage_format() {
  local version
  version=$(clang-format-14 --version | grep -o 'version 14') || die "clang-format 14 is missing"
  cd "$OMEN_ROOT"
  git ls-files '*.cpp' '*.hpp' | xargs -r clang-format-14 --dry-run -Werror
  printf 'formatting agrees with .clang-format (%s)\n' "$version"
  local file bare=0
  while read -r file; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' && continue
    printf 'no SPDX line: %s\n' "$file"
    bare=1
  done < <(git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.sh' '*.cmake' '*CMakeLists.txt')
  [ $bare -eq 0 ] || die "files without a licence line" "start them with an SPDX comment"
}

# Units of the last commits within a bound of CPU time; with OMEN_TIDY=all every unit.
stage_tidy() {
  configure tidy
  if [ "${OMEN_TIDY:-changed}" = all ]; then
    "$OMEN_ROOT/tools/tidy.sh" "$OMEN_ROOT/build/tidy"
  else
    "$OMEN_ROOT/tools/tidy.sh" "$OMEN_ROOT/build/tidy" --changed 20 --seconds 200
  fi
}

# Cases of the tracks take minutes under the sanitizers and run in the release stage; their units and contracts
# are tested here. With OMEN_SANITIZE_CASES=all they are, too.
stage_asan() {
  local left_out='slow|show.*|consume|track-case'
  [ "${OMEN_SANITIZE_CASES:-}" != all ] || left_out=${left_out%|track-case}
  configure asan -DOMEN_BUILD_TESTS=ON -DOMEN_TESTS_BY_FILE=ON
  build asan all
  run_ctest asan -LE "^($left_out)\$"
}

# Unit tests already ran under the sanitizers; here the product is tested from outside.
stage_release() {
  configure release -DOMEN_BUILD_TESTS=ON -DOMEN_UNIT_TESTS=OFF
  build release all
  run_ctest release -LE '^(slow|show-slow.*|unit)$'
}

# The product without its heavy parts, and the tests of everything that has threads: workers, calls, comparisons,
# ranks, samplers.
stage_tsan() {
  local tests="worker_test loader_test registry_test models_test pipeline_test progress_test components_test
    checking_proxy_test compare_jobs_test compare_runs_test mpi_jobs_test mpi_link_test
    stats_bootstrap_test ticker_test recording_test nvml_test nvml_failures_test"
  configure tsan -DOMEN_BUILD_TESTS=ON
  build tsan omen_product probe exerciser frozen newerminor othermajor initfails emptyslot contender \
    host_tests stats_tests sampling_tests nvml_failures_test
  "$OMEN_ROOT/build/tsan/bin/omen" list --plain
  # One test reads all memory of a process, which under TSan is terabytes of shadow.
  # shellcheck disable=SC2086
  run_ctest tsan -R "^($(printf '%s|' $tests)none)\\." -E FindsNoTargetAnywhere
}

stage_fuzz() {
  configure fuzz -DOMEN_BUILD_TESTS=ON
  build fuzz omen_fuzzers
  "$OMEN_ROOT/tests/fuzz/run.sh" "$OMEN_ROOT/build/fuzz" "${OMEN_FUZZ_SECONDS:-60}"
}

stage_slow() {
  build release all omen_slow_programs
  run_ctest release -L '^(slow|show-slow.*)$'
}

# run_stages NAME...: each in its own process, so that one failure does not hide the others.
run_stages() {
  local stage start cpu status failures=0 begin=$SECONDS
  OMEN_TOTALS=$(mktemp)
  export OMEN_TOTALS
  for stage in "$@"; do
    printf '\n== %s ==\n' "$stage"
    start=$SECONDS cpu=$(child_seconds) status=0
    before=$(wc -l <"$OMEN_TOTALS")
    "$OMEN_ROOT/test.sh" --stage "$stage" || status=$?
    # A stage that runs no tests of its own counts as one.
    if [ "$(wc -l <"$OMEN_TOTALS")" -eq "$before" ]; then
      [ $status -eq 0 ] && echo "1 0 0" >>"$OMEN_TOTALS" || echo "0 1 0" >>"$OMEN_TOTALS"
    fi
    [ $status -eq 0 ] || failures=$((failures + 1))
    printf -- '-- %s: %s, %d s, %d CPU seconds\n' "$stage" \
      "$([ $status -eq 0 ] && echo ok || echo FAILED)" $((SECONDS - start)) \
      $(($(child_seconds) - cpu))
  done
  printf '\n%d stages, %d failed, %d s, %d CPU minutes\n' $# $failures $((SECONDS - begin)) \
    $(($(child_seconds) / 60))
  awk '{ p += $1; f += $2; s += $3 } END {
    if (s) printf "%d skipped\n", s
    printf "%d passed, %d failed\n", p, f }' "$OMEN_TOTALS"
  rm -f "$OMEN_TOTALS"
  [ $failures -eq 0 ]
}

# run_show NAME SLOW: runs the checks behind acceptance figures and ends with their table.
run_show() {
  local labels='^show$' status=0 dir="$OMEN_ROOT/build/release"
  [ "$2" -eq 0 ] || labels='^show(-slow)?$'
  local filter=(-L "$labels")
  if [ -n "$1" ]; then
    ctest --test-dir "$dir" -N -L "$labels" -L "^$1$" | grep -q 'Total Tests: [1-9]' || {
      say "known names: $(ctest --test-dir "$dir" -N -L '^show' | grep -o 'show\.[^.]*' | sort -u |
        sed 's/show\.//' | paste -sd' ')"
      die "no acceptance check is named '$1'"
    }
    filter+=(-L "^$1$")
  fi
  rm -rf "$dir/show"
  ctest --test-dir "$dir" --output-on-failure --no-tests=error "${filter[@]}" || status=$?
  printf '\n%-40s %14s %-10s %-14s %s\n' figure value unit goal result
  cat "$dir"/show/*.txt 2>/dev/null | awk '
    { goal = $7 == "none" ? "none" : $7 " " $8
      printf "%-40s %14s %-10s %-14s %s\n", $3, $4, $5, goal, $1
      total++; if ($1 == "missed") missed++ }
    END { printf "%d figures, %d missed\n", total, missed }'
  # Figures that were broken on purpose are no figures.
  [ "${OMEN_SHOW_BREAK:-0}" != 0 ] || "$OMEN_ROOT/tools/figures.sh" "$dir/show" \
    "$OMEN_ROOT/docs/figures.json" "./test.sh --show${1:+ $1}$([ "$2" -eq 0 ] || echo ' --slow')"
  return $status
}
