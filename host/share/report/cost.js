// SPDX-License-Identifier: Apache-2.0
// What answers cost: time and memory.
function barCell(value, most, text, tint) {
  const share = isNumber(value) && most > 0 ? Math.max(1, value / most * 100) : 0;
  return el(
      'td', {class: 'num'}, text,
      el('span', {class: 'bar', 'aria-hidden': 'true'},
         el('i', {style: {width: share + '%', background: tint}})));
}

function setUpCost(parent) {
  const part = section(
      'timing', 'Time and memory',
      'Loading and fitting as the median over folds, predicting per workload; ' +
          'bars compare within a column.');
  parent.append(part.node);
  const columns = [
    ['load_s', 'load', duration], ['fit_s', 'fit', duration],
    ['predict_p50_ms', 'predict p50', v => quantity(v, 'ms')],
    ['predict_p95_ms', 'predict p95', v => quantity(v, 'ms')], ['peak_memory', 'peak memory', bytes]
  ];
  onChange(() => {
    const task = detailView().task;
    part.tag.textContent = task.task;
    const costs = task.costs.filter(c => state.on.has(byLabel.get(c.contestant).index));
    part.node.hidden = !task.costs.length;
    const most = columns.map(([key]) => Math.max(...costs.map(c => c[key] || 0), 0));
    fill(
        part.body,
        tableOf([{text: ''}, ...columns.map(([, name]) => ({text: name}))], costs.map(cost => {
          const contestant = byLabel.get(cost.contestant);
          return el(
              'tr', {class: contestant.reference ? 'reference' : null},
              el('td', {}, who(contestant)),
              columns.map(
                  ([key, , words], i) =>
                      barCell(cost[key], most[i], words(cost[key]), contestant.colour)));
        })));
  });
}
