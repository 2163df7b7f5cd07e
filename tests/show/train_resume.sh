#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kills a training of a LibTorch predictor at ten random moments, lets the same command go on each
# time, and compares its weights with those of an undisturbed training.
#   train_resume.sh OMEN FIXTURES
# With OMEN_SHOW_BREAK=1 the undisturbed training has another seed.
set -u
omen=$1
export OMEN_PLUGIN_PATH=$2 OMP_NUM_THREADS=1
broken=${OMEN_SHOW_BREAK:-0}
[ -e "$2/torch_curve/plugin.json" ] || { echo "there is no LibTorch here"; exit 77; }
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export XDG_CACHE_HOME=$PWD/cache

awk 'BEGIN { print "x,cost"
  for (i = 0; i < 300; i++) printf "%g,%.6f\n", i / 3, 50 + 30 * sin(i / 40) }' > t.csv
train=("$omen" train torch_curve.fit --data t.csv --target cost --threads 1 --epochs 2000 -v --json)
digest() { grep -o '"digest": "[0-9a-f]*"' "$1" | cut -d'"' -f4; }

seed=1
[ "$broken" = 1 ] && seed=2
begin=$(date +%s)
"${train[@]}" --seed $seed -o whole.omen > whole.json 2> /dev/null || exit 1
seconds=$(($(date +%s) - begin))

# A leg that comes to its end before it is killed does not count.
kills=0 number=0
while [ $kills -lt 10 ] && [ $number -lt 40 ]; do
  number=$((number + 1))
  "${train[@]}" -o cut.omen > cut.json 2> "leg$number.log" &
  leg=$!
  sleep "$(awk -v r=$RANDOM -v s="$seconds" 'BEGIN { print 0.2 + r / 32768 * (1 + s / 4) }')"
  kill -9 $leg 2> /dev/null && kills=$((kills + 1))
  wait $leg 2> /dev/null
done
"${train[@]}" -o cut.omen > cut.json 2> last.log || { cat last.log; exit 1; }
again=$(grep -l 'goes on with the training in' leg*.log last.log | wc -l)
differ=1
[ -n "$(digest whole.json)" ] && [ "$(digest whole.json)" = "$(digest cut.json)" ] && differ=0
left=$(ls -d cut.omen.state 2> /dev/null | wc -l)

echo "SHOW resume_training $seconds s goal none"
echo "SHOW resume_kills $kills kills goal >= 10"
echo "SHOW resume_legs_that_went_on $again legs goal >= 2"
echo "SHOW resume_models_that_differ $differ models goal == 0"
echo "SHOW resume_states_left $left directories goal == 0"
[ "$kills" -ge 10 ] && [ "$again" -ge 2 ] && [ "$differ" = 0 ] && [ "$left" = 0 ]
