// SPDX-License-Identifier: Apache-2.0
// What answers cost: time and memory, and how training went.
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

function setUpCurves(parent) {
  const all = comparison.tasks.flatMap(t => t.curves);
  if (!all.length) return;
  const part = section(
      'curves', 'Learning curves',
      'What each contestant reported while it was fitted, one line a fold.');
  const picker =
      el('select', {'aria-label': 'Metric of the learning curves', onchange: () => chart.draw()});
  part.tools.append(picker);
  parent.append(part.node);
  const curvesOf = metric => detailView().task.curves.filter(
      c => state.on.has(byLabel.get(c.contestant).index) && (!metric || c.metric === metric));
  onChange(() => {
    part.tag.textContent = detailView().task.task;
    const longest =
        detailView().task.curves.slice().sort((a, b) => b.steps.length - a.steps.length);
    const names = [...new Set(longest.map(c => c.metric))], kept = picker.value;
    fill(picker, names.map(n => option(n, n, n === kept)));
    picker.hidden = names.length < 2;
    part.node.hidden = !names.length;
  });
  const chart = addChart(part, () => {
    const curves = curvesOf(picker.value);
    if (!curves.length) return 'No learning curve is selected.';
    const [low, high] = span(curves.flatMap(c => c.values).filter(isNumber)),
                log = low > 0 && high / low > 50;
    // A single value a fold is no curve: those stand side by side instead.
    const single = curves.every(c => c.steps.length < 2);
    const data = curves.map(curve => {
      const tint = byLabel.get(curve.contestant).colour,
            name = plain(curve.contestant + ', fold ' + curve.fold);
      return {
        type: 'scatter',
        mode: single ? 'markers' : 'lines',
        name,
        x: single ? [plain(curve.contestant)] : curve.steps,
        y: curve.values,
        opacity: .7,
        line: {color: tint, width: 1.5},
        marker: {color: tint, size: 9},
        hovertemplate: (single ? '' : 'step %{x}: ') + '%{y:.4g}<extra>' + name + '</extra>'
      };
    });
    return {
      height: 340,
      data,
      layout: layoutStyle({
        xaxis: axisStyle(single ? {type: 'category'} : {title: 'step'}),
        yaxis: axisStyle({title: plain(picker.value), type: log ? 'log' : 'linear'})
      })
    };
  });
}
