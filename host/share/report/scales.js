// SPDX-License-Identifier: Apache-2.0
// Ends and ticks of axes, and the rows that have something to draw.
function answered(contestant, rows, field) {
  const values = detailView().table.contestants[contestant.index][field];
  return rows.filter(i => isNumber(values[i]));
}

function span(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

// At most `most` round values between the ends of a logarithmic axis.
function logTicks([low, high], most) {
  const inside = factors => {
    const values = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
      values.push(...factors.map(f => f * Math.pow(10, e)));
    return values.filter(v => v >= low * 0.999 && v <= high * 1.001);
  };
  const decades = inside([1]), step = Math.ceil(decades.length / most);
  const finer =
      [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3]].map(inside).find(values => values.length <= most);
  const values = decades.length < 3 && finer ?
      finer :
      decades.filter((_, i) => (decades.length - 1 - i) % step === 0);
  return {
    tickvals: values,
    ticktext: values.map(
        v => v >= 1e6 || v < 1e-4 ? '10<sup>' + Math.round(Math.log10(v)) + '</sup>' :
                                    String(Number(v.toPrecision(2))))
  };
}

// Ends that leave one answer in two hundred outside on either side.
function robustSpan(values) {
  const sorted = values.slice().sort((a, b) => a - b);
  return sorted.length ? [quantile(sorted, 0.005), quantile(sorted, 0.995)] : [];
}
