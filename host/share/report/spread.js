// SPDX-License-Identifier: Apache-2.0
// How the errors of the selected workloads are spread: shares of workloads, and groups.
const CDF_POINTS = 300;
// A long tail gets a logarithmic axis; otherwise most of the curve would be a cliff at the left.
function cdfAxis(sortedLosses) {
  const of = share =>
      Math.max(0, ...sortedLosses.map(sorted => quantile(sorted, share)).filter(isNumber));
  const end = of(0.92) * 1.1 || 1;
  if (end < 8 * of(0.5) || !of(0.5)) return {type: 'linear', range: [0, end]};
  const low = Math.min(
            ...sortedLosses.map(sorted => quantile(sorted, 0.05)).filter(v => v > 0),
            of(0.5) / 100),
        high = of(0.98);
  return {type: 'log', range: [Math.log10(low), Math.log10(high)], ...logTicks([low, high], 6)};
}

function cdfFigure() {
  const view = detailView(), table = view.table;
  const curves = shownContestants()
                     .map(contestant => {
                       const loss = table.contestants[contestant.index].loss;
                       return {
                         contestant,
                         sorted: answered(contestant, selectedRows(), 'loss')
                                     .map(i => loss[i])
                                     .sort((a, b) => a - b)
                       };
                     })
                     .filter(curve => curve.sorted.length);
  if (!curves.length) return 'No selected workload has an answer.';
  const entrants = curves.filter(c => !c.contestant.reference);
  const data = curves.map(({contestant, sorted}) => {
    const count = Math.min(CDF_POINTS, sorted.length),
          shares = Array.from({length: count}, (_, i) => (i + 1) / count);
    return {
      type: 'scatter',
      mode: 'lines',
      name: plain(contestant.label),
      x: shares.map(s => quantile(sorted, s)),
      y: shares.map(s => s * 100),
      line: {
        color: contestant.colour,
        width: contestant.reference ? 1.6 : 2.4,
        dash: contestant.reference ? 'dot' : 'solid'
      },
      hovertemplate: '%{y:.0f} % of workloads at or below %{x:.3g}<extra>' +
          plain(contestant.label) + '</extra>'
    };
  });
  return {
    data,
    height: spreadHeight(),
    layout: layoutStyle({
      xaxis: axisStyle({
        title: withUnit(lossName(view.target), view.target.loss_unit),
        ...cdfAxis((entrants.length ? entrants : curves).map(c => c.sorted))
      }),
      yaxis: axisStyle({range: [0, 101], ticksuffix: ' %', title: 'share of workloads'})
    })
  };
}

// Signed where the kind of target allows it, so that bias shows as well as spread; as a ratio on a
// logarithmic scale where answers are off by multiples.
function residual(view, rows, shown) {
  const table = view.table, predicted = c => table.contestants[c].predicted;
  if (view.target.kind === 'class' || isDecision(view.target))
    return {
      label: withUnit(lossName(view.target), view.target.loss_unit),
      of: (c, i) => table.contestants[c].loss[i]
    };
  if (view.target.loss !== 'absolute-percent')
    return {
      label: withUnit('predicted minus truth', view.target.unit),
      of: (c, i) => predicted(c)[i] - table.truth[i]
    };
  const ratios =
      shown.flatMap(c => answered(c, rows, 'loss').map(i => predicted(c.index)[i] / table.truth[i]))
          .sort((a, b) => a - b);
  if (ratios[0] > 0 && quantile(ratios, 0.95) > 4)
    return {
      label: 'predicted / truth',
      of: (c, i) => Math.log10(predicted(c)[i] / table.truth[i]),
      log: true
    };
  return {
    label: 'predicted against truth (%)',
    of: (c, i) => (predicted(c)[i] / table.truth[i] - 1) * 100
  };
}

// Values are logarithms already, because precomputed boxes want a linear axis.
function ratioAxis(data) {
  const ends = span(data.flatMap(t => [...t.lowerfence, ...t.upperfence])),
        ticks = logTicks(ends.map(v => Math.pow(10, v)), 7);
  return {tickvals: ticks.tickvals.map(Math.log10), ticktext: ticks.ticktext};
}

const MOST_GROUPS = 12;
// The groups in which the shown contestants err most, by the mean of their losses.
function worstGroups(table, rows, shown) {
  const sums = new Map();
  for (const i of rows) {
    const entry = sums.get(table.group[i]) || {sum: 0, count: 0};
    for (const c of shown) {
      const loss = table.contestants[c.index].loss[i];
      if (isNumber(loss)) {
        entry.sum += loss;
        entry.count++;
      }
    }
    sums.set(table.group[i], entry);
  }
  const order = [...sums]
                    .filter(([, e]) => e.count)
                    .sort((a, b) => b[1].sum / b[1].count - a[1].sum / a[1].count)
                    .map(([g]) => g);
  return {chosen: order.slice(0, MOST_GROUPS), all: order.length};
}

// Both charts of the spread stand side by side and are equally high.
function spreadHeight() {
  const groups = new Set(selectedRows().map(i => detailView().table.group[i])).size;
  const entrants = shownContestants().filter(c => !c.reference).length || shownContestants().length;
  if (window.innerWidth <= 1020) return 340;
  return Math.max(360, 70 + Math.min(groups, MOST_GROUPS) * (10 + 13 * entrants));
}

function meanBars(base, byGroup) {
  return Object.assign(base, {
    type: 'bar',
    y: byGroup.map((_, i) => i),
    x: byGroup.map(v => v.length ? v.reduce((a, b) => a + b, 0) / v.length : null),
    hovertemplate: '%{x:.3g}<extra>' + base.name + '</extra>'
  });
}

// Whiskers end at 5 and 95 %, so that one wild answer does not set the scale.
function boxes(base, byGroup) {
  const at = byGroup.map((_, i) => i).filter(i => byGroup[i].length),
        sorted = at.map(i => byGroup[i].sort((a, b) => a - b));
  const of = share => sorted.map(v => quantile(v, share));
  return Object.assign(base, {
    type: 'box',
    line: {width: 1.4},
    whiskerwidth: .5,
    y: at,
    lowerfence: of(.05),
    q1: of(.25),
    median: of(.5),
    q3: of(.75),
    upperfence: of(.95),
    hoverinfo: 'name'
  });
}

function residualFigure(width, part) {
  const view = detailView(), table = view.table, rows = selectedRows();
  const entrants = shownContestants().filter(c => !c.reference),
        shown = entrants.length ? entrants : shownContestants();
  const {chosen, all} = worstGroups(table, rows, shown);
  if (!chosen.length) return 'No selected workload has an answer.';
  const place = new Map(chosen.map((g, i) => [g, i])), measure = residual(view, rows, shown);
  const names = chosen.map(g => plain(clipText(table.groups[g], width < 520 ? 100 : 170)));
  const positions = rows.filter(i => place.has(table.group[i]));
  const classes = view.target.kind === 'class';
  const data = shown.map(c => {
    const byGroup = chosen.map(() => []);
    for (const i of answered(c, positions, 'loss'))
      byGroup[place.get(table.group[i])].push(measure.of(c.index, i));
    const base = {name: plain(c.label), orientation: 'h', marker: {color: c.colour}};
    return classes ? meanBars(base, byGroup) : boxes(base, byGroup);
  });
  part.note.textContent = (classes                     ? 'Share of wrong classes' :
                               isDecision(view.target) ? 'Regret' :
                                                         'Signed errors') +
      ' in ' +
      (all > chosen.length ?
           'the ' + chosen.length + ' of ' + all + ' groups with the largest losses' :
           'every group, largest losses first') +
      (classes ? '' : '; boxes hold the middle half, whiskers 90\u00a0%') +
      '. References are left out.';
  return {
    data,
    height: Math.max(spreadHeight(), 70 + chosen.length * (10 + 13 * shown.length)),
    layout: layoutStyle({
      boxmode: 'group',
      barmode: 'group',
      boxgap: .3,
      boxgroupgap: .15,
      xaxis: axisStyle({
        title: measure.label,
        zeroline: true,
        zerolinecolor: colour('faint'),
        ...(measure.log ? ratioAxis(data) : {})
      }),
      yaxis: axisStyle({
        tickvals: chosen.map((_, i) => i),
        ticktext: names,
        range: [chosen.length - .5, -.5],
        showgrid: false
      })
    })
  };
}

function setUpSpread(parent) {
  const cdf = section(
      'cdf', 'Error distribution',
      'Share of workloads whose error is at most this large; higher and ' +
          'further left is better. References are dotted.');
  const residuals = section('residuals', 'Residuals by group', ' ');
  parent.append(el('div', {class: 'pair-grid'}, cdf.node, residuals.node));
  onChange(() => {
    const view = detailView();
    cdf.tag.textContent = residuals.tag.textContent = title(view);
    // Of a loss that is 0 or 1 the mean says everything.
    cdf.node.hidden = view.target.loss === 'zero-one';
    cdf.node.querySelector('h2').textContent =
        isDecision(view.target) ? 'Regret' : 'Error distribution';
  });
  addChart(cdf, cdfFigure);
  addChart(residuals, width => residualFigure(width, residuals));
}
