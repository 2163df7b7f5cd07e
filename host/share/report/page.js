// SPDX-License-Identifier: Apache-2.0
// Puts the sections in order and starts them.
function setUpLinks() {
  const names = {
    'forest': 'Differences',
    'results-table': 'Results',
    'parity': 'Errors',
    'timing': 'Cost',
    'workloads': 'Workloads',
    'provenance': 'Provenance'
  };
  fill(
      document.getElementById('sections'),
      Object.entries(names).map(
          ([id, name]) => document.getElementById(id) ? el('a', {href: '#' + id}, name) : null));
}

function start() {
  const results = document.getElementById('results');
  setUpTheme();
  if (!views.length) {
    fill(
        document.getElementById('summary'),
        el('div', {class: 'hero'}, el('h1', {}, 'Nothing was compared'),
           comparison.warnings.map(w => callout(w))));
    setUpProvenance(results);
    return;
  }
  drawSummary();
  setUpFilters();
  [setUpForest, setUpResults, setUpRanking, setUpDuplicates, setUpParity, setUpConfusion,
   setUpSpread, setUpMetrics, setUpCost, setUpCurves, setUpWorkloads, setUpProvenance]
      .forEach(setUp => setUp(results));
  setUpLinks();
  fill(
      document.getElementById('footer'),
      'Made by omen compare, run ' + comparison.id +
          '. This file is complete: it opens without a network.');
  onChange(() => charts.forEach(chart => chart.draw()));
  state.sort.contestant = (contestants.find(c => !c.baseline && !c.reference) || baseline).index;
  update({});
  redrawOnResize.forEach(draw => draw());
  let waiting = 0, width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawCharts, 120);
  });
}
start();
document.documentElement.dataset.ready = 'yes';
