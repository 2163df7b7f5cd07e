// SPDX-License-Identifier: Apache-2.0
// Learning curves: what contestants reported while they were fitted.
function curveTrace(curve, single) {
  const tint = byLabel.get(curve.contestant).colour;
  const name = plain(curve.contestant + ', fold ' + curve.fold);
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
}

function curvesFigure(metric) {
  const curves = detailView().task.curves.filter(
      c => c.metric === metric && state.on.has(byLabel.get(c.contestant).index));
  if (!curves.length) return 'No learning curve is selected.';
  const [low, high] = span(curves.flatMap(c => c.values).filter(isNumber));
  const type = low > 0 && high / low > 50 ? 'log' : 'linear';
  // A single value a fold is no curve: those stand side by side instead.
  const single = curves.every(c => c.steps.length < 2);
  return {
    height: 340,
    data: curves.map(c => curveTrace(c, single)),
    layout: layoutStyle({
      xaxis: axisStyle(single ? {type: 'category'} : {title: 'step'}),
      yaxis: axisStyle({title: plain(metric), type})
    })
  };
}

function setUpCurves(parent) {
  if (!comparison.tasks.some(t => t.curves.length)) return;
  const part = section(
      'curves', 'Learning curves',
      'What each contestant reported while it was fitted, one line or point a fold.');
  const picker =
      el('select', {'aria-label': 'Metric of the learning curves', onchange: () => chart.draw()});
  part.tools.append(picker);
  parent.append(part.node);
  onChange(() => {
    const task = detailView().task, kept = picker.value;
    const longest = task.curves.slice().sort((a, b) => b.steps.length - a.steps.length);
    const names = [...new Set(longest.map(c => c.metric))];
    part.tag.textContent = task.task;
    fill(picker, names.map(n => option(n, n, n === kept)));
    picker.hidden = names.length < 2;
    part.node.hidden = !names.length;
  });
  const chart = addChart(part, () => curvesFigure(picker.value));
}
