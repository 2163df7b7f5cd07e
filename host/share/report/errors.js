// SPDX-License-Identifier: Apache-2.0
// How the errors of the selected workloads are spread: truth against prediction, shares, groups.
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

// One panel a contestant on the same axes: overlaid clouds would hide each other.
function parityFigure(width) {
  const view = detailView(), table = view.table, rows = selectedRows();
  const panels =
      shownContestants()
          .map(
              c =>
                  ({c, rows: answered(c, rows, 'predicted').filter(i => isNumber(table.truth[i]))}))
          .filter(p => p.rows.length);
  if (!panels.length) return 'No selected workload has an answer.';
  const across = Math.max(1, Math.min(panels.length, width < 520 ? 2 : width < 900 ? 3 : 5));
  const down = Math.ceil(panels.length / across);
  const truths = span(panels.flatMap(p => span(p.rows.map(i => table.truth[i]))));
  const all = span([
    ...truths,
    ...panels.filter(p => !p.c.reference)
        .flatMap(p => robustSpan(p.rows.map(i => table.contestants[p.c.index].predicted[i])))
  ]);
  const log = all[0] > 0 && all[1] / all[0] > 30;
  const pad = log ? Math.pow(all[1] / all[0], 0.04) : (all[1] - all[0]) * 0.04 || 1;
  const ends = log ? [all[0] / pad, all[1] * pad] : [all[0] - pad, all[1] + pad];
  const gap = width < 520 ? 0.07 : 0.03, wide = (1 - gap * (across - 1)) / across;
  const side = (width - 58) * wide, tall = side + 46, area = down * tall - 46;
  const layout = layoutStyle({margin: {l: 50, r: 8, t: 24, b: 46}, annotations: []});
  const most = hasWebGl ? 20000 : 1500, gl = hasWebGl && panels.some(p => p.rows.length > 1500);
  const data = [], ticks = log ? logTicks(ends, 4) : {nticks: 4};
  panels.forEach((panel, i) => {
    const column = i % across, row = Math.floor(i / across), name = i ? String(i + 1) : '';
    const left = column * (wide + gap), top = 1 - row * tall / area,
          bottom = Math.max(0, top - side / area);
    const range = log ? ends.map(Math.log10) : ends, type = log ? 'log' : 'linear';
    const lowest = row === down - 1 || i + across >= panels.length;
    layout['xaxis' + name] = axisStyle({
      domain: [left, left + wide],
      anchor: 'y' + name,
      range,
      type,
      ...ticks,
      title: lowest && column === 0 ?
          withUnit(isDecision(view.target) ? 'cost of the best' : 'truth', view.target.unit) :
          ''
    });
    layout['yaxis' + name] = axisStyle({
      domain: [bottom, top],
      anchor: 'x' + name,
      range,
      type,
      ...ticks,
      showticklabels: column === 0,
      title: column === 0 && row === 0 ?
          withUnit(isDecision(view.target) ? 'cost of the pick' : 'predicted', view.target.unit) :
          ''
    });
    layout.annotations.push({
      text: plain(clipText(panel.c.label, side)),
      x: left,
      y: top,
      xref: 'paper',
      yref: 'paper',
      xanchor: 'left',
      yanchor: 'bottom',
      showarrow: false,
      font: {size: 12.5, color: colour('ink')}
    });
    data.push({
      type: 'scatter',
      mode: 'lines',
      x: ends,
      y: ends,
      xaxis: 'x' + name,
      yaxis: 'y' + name,
      hoverinfo: 'skip',
      line: {color: colour('faint'), width: 1, dash: 'dot'}
    });
    const shown = thinned(panel.rows, most), own = table.contestants[panel.c.index];
    data.push({
      type: gl ? 'scattergl' : 'scatter',
      mode: 'markers',
      xaxis: 'x' + name,
      yaxis: 'y' + name,
      name: plain(panel.c.label),
      x: shown.map(i => table.truth[i]),
      y: shown.map(i => own.predicted[i]),
      text: shown.map(i => rowLabel(table, i)),
      hovertemplate: '%{text}<br>truth %{x:.4g}, predicted %{y:.4g}<extra></extra>',
      marker: {
        color: panel.c.colour,
        size: shown.length > 5000 ? 3 :
            shown.length > 800    ? 4 :
                                    6,
        opacity: shown.length > 5000 ? .35 : .6,
        line: {width: 0}
      }
    });
  });
  return {data, layout, height: area + 70};
}

function setUpParity(parent) {
  const part =
      section('parity', 'Truth and prediction', 'Points on the dotted diagonal are exact.');
  parent.append(part.node);
  onChange(() => {
    const view = detailView();
    part.node.hidden = view.target.kind === 'class';
    part.tag.textContent = title(view);
    part.node.querySelector('h2').textContent =
        isDecision(view.target) ? 'Picks against the best' : 'Truth and prediction';
    part.note.textContent = isDecision(view.target) ?
        'True cost of the candidate each contestant picks against that of the ' +
            'best one; picks on the diagonal are perfect.' :
        'Points on the dotted diagonal are exact.';
  });
  addChart(part, parityFigure);
}

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

function matrixOf(view, contestant) {
  const classes = view.table.classes, own = view.table.contestants[contestant.index].predicted;
  const counts = classes.map(() => classes.map(() => 0));
  for (const i of answered(contestant, selectedRows(), 'predicted'))
    counts[view.table.truth[i]][own[i]]++;
  return counts;
}

function matrixTable(view, contestant) {
  const classes = view.table.classes, counts = matrixOf(view, contestant);
  const right = counts.reduce((sum, row, i) => sum + row[i], 0),
        all = counts.flat().reduce((a, b) => a + b, 0);
  return el(
      'div', {class: 'matrix'},
      el('h3', {}, dot(contestant), contestant.label,
         el('span', {class: 'faint num'},
            all ? (right / all * 100).toFixed(1) + ' %' : 'no answers')),
      el('div', {class: 'scroll', style: {margin: '0', padding: '0'}},
         el('table', {},
            el('thead', {},
               el('tr', {}, el('td', {}), classes.map(c => el('th', {scope: 'col', title: c}, c)))),
            el('tbody', {}, counts.map((row, i) => {
              const sum = row.reduce((a, b) => a + b, 0);
              return el(
                  'tr', {}, el('th', {scope: 'row', title: classes[i]}, classes[i]),
                  row.map(
                      (count, j) =>
                          el('td', {},
                             el('span', {
                               style: {
                                 '--share': String(sum ? count / sum : 0),
                                 '--tint': i === j ? contestant.colour : 'var(--bad)'
                               },
                               title: count + ' of ' + sum
                             },
                                String(count)))));
            })))));
}

function setUpConfusion(parent) {
  const part = section(
      'confusion', 'Confusion',
      'Rows are true classes, columns predicted ones, with the share of right ' +
          'answers beside each name.');
  parent.append(part.node);
  onChange(() => {
    const view = detailView();
    part.node.hidden = view.target.kind !== 'class';
    part.tag.textContent = title(view);
    if (!part.node.hidden)
      fill(
          part.body,
          el('div', {class: 'matrices'}, shownContestants().map(c => matrixTable(view, c))));
  });
}
